from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.problem import Problem
from solvers.mip.heuristics.lattice.equations import find_equations
from solvers.mip.heuristics.lattice.nearest import Lattice
from solvers.mip.heuristics.lattice.reformulate import reformulate
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.lattice.models import random_system


def mixed_model(seed: int) -> tuple[MipModel, np.ndarray]:
    """Return equations of general integers, rows with other columns too, and a feasible point."""
    rng = np.random.default_rng(seed)
    A, b, hidden = random_system(seed, 2, 6)
    more = rng.integers(-3, 4, (3, 9)).astype(float)
    point = np.concatenate([hidden, rng.integers(0, 2, 2), rng.uniform(0, 4, 1)])
    activity = more @ point
    problem = Problem.from_arrays(
        rng.integers(-5, 6, 9),
        np.vstack([np.hstack([A, np.zeros((2, 3))]), more]),
        np.concatenate([b, activity - 2, [-np.inf]])[:5],
        np.concatenate([b, [np.inf], activity[1:] + 1]),
        upper=[9, 9, 9, 9, np.inf, np.inf, 1, 1, 4],
        integrality=[True] * 8 + [False],
        offset=1.5,
    )
    return MipModel.of(problem), point


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6))
def test_points_in_the_lattice_are_points_of_the_model(seed):
    model, point = mixed_model(seed)
    equations = find_equations(model, model.lower, model.upper)
    columns = np.arange(6, dtype=np.int32)
    matrix, right = equations.within(columns, np.zeros(9))
    lattice = Lattice(matrix, right)
    lattice.reduce(Budget())
    base = np.zeros(9)
    base[:6] = lattice.nearest(point[:6] + 0.3)[0]
    kept = np.array([2, 3, 4], np.int32)
    rest = np.array([6, 7, 8], np.int32)
    there = reformulate(model, model.lower, model.upper, base, columns, lattice.kernel, kept, rest)
    rng = np.random.default_rng(seed)
    k = lattice.kernel.shape[0]
    own = np.round(np.linalg.lstsq(lattice.kernel.T, point[:6] - base[:6], rcond=None)[0])
    seen = []
    for trial in range(20):
        step = rng.integers(-1, 2, k) * (rng.random(k) < 0.3) if trial else 0
        z = np.concatenate([own + step, point[6:]])
        x = there.back(z)
        np.testing.assert_array_equal(model.activity(x)[:2], model.row_lower[:2])
        assert there.model.objective_at(z) == pytest.approx(model.objective_at(x))
        seen.append(is_feasible(model, x))
        assert is_feasible(there.model, z) == seen[-1]
    assert seen[0]  # the point that was hidden
