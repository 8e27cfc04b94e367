from __future__ import annotations

import numpy as np

from solvers import mip
from solvers.options import EngineOptions
from solvers.progress import Progress
from tests.mip.lattice.models import model_of, random_system


def test_a_solve_has_its_first_point_from_a_lattice_where_nothing_else_finds_one():
    A, b, _ = random_system(3, 8, 60, largest=30)
    options = EngineOptions(
        heuristics_only=True, deterministic=True, work_limit=0.3, device="cpu", seed=1
    )
    outcome = mip.solve(model_of(A, b).problem, options, Progress())
    assert outcome.pool[0].source == "lattice walk"
    np.testing.assert_array_equal(A @ outcome.x, b)
