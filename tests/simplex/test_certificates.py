"""Proofs of infeasibility and unboundedness."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.api import read
from gpu_bridge.verify.verify import verify
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.cases import through
from tests.locations import NETLIB_MODELS
from tests.simplex.checks import INF, simplex


@pytest.mark.parametrize("name", ["itest2", "galenet", "ex72a"])
def test_infeasible_models_come_with_a_proof(name: str) -> None:
    problem = read(NETLIB_MODELS / f"{name}.mps.gz")
    outcome = simplex(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)
    assert verify(problem, outcome, EngineOptions()).solution_status is SolutionStatus.INFEASIBLE


def test_both_infeasible_and_unbounded_is_infeasible() -> None:
    """Neither the dual's nor the primal's first phase succeeds here."""
    problem = Problem.from_arrays(
        [-1, -1, 0], [[1, -1, 0], [0, 0, 1], [0, 0, 1]], [0, 3, -INF], [0, INF, 2]
    )
    outcome = simplex(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)


@through("seed", range(10))
def test_unbounded_models_come_with_a_point_and_a_ray(seed: int) -> None:
    """A bounded problem with a cone attached: columns that cancel in every row, for a gain."""
    rng = np.random.default_rng(seed)
    rows, columns = 8, 10
    matrix = rng.integers(-3, 4, (rows, columns)).astype(float)
    cone = rng.integers(-3, 4, (rows, 2)).astype(float)
    everything = np.hstack([matrix, cone, -cone.sum(axis=1, keepdims=True)])
    activity = matrix @ rng.integers(0, 3, columns)
    problem = Problem.from_arrays(
        np.concatenate([rng.random(columns), [1.0, 1.0, -3.0]]),
        everything,
        activity - rng.integers(0, 3, rows),
        activity + rng.integers(0, 3, rows),
    )
    outcome = simplex(problem)
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert outcome.primal_ray is not None
    assert proves_unbounded(problem, outcome.primal_ray)
    assert verify(problem, outcome, EngineOptions()).solution_status is SolutionStatus.UNBOUNDED


def test_infeasible_by_little_is_not_feasible() -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[1, 1], [1, 1]], [1.0, -INF], [INF, 1.0 - 1e-5])
    outcome = simplex(problem, tolerance=1e-9)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
