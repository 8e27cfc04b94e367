"""Heuristics on hard structures: what they claim is true, and with branch and bound all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.properties.exact import violation
from tests.properties.families import FAMILIES

SEEDS = range(4)
MOVED = 1.01e-6
"""By which sides are moved out: the default tolerance and a little for rounding."""

COUNTED: dict[str, Any] = {"method": "mip", "device": "cpu", "deterministic": True}


def sign(problem: Problem) -> float:
    return -1.0 if problem.maximize else 1.0


def check_pool(problem: Problem, outcome: Outcome) -> None:
    """Check that the first is the answer, and that all are distinct, feasible and in order."""
    np.testing.assert_array_equal(outcome.pool[0].x, outcome.x)
    costs = [sign(problem) * entry.objective for entry in outcome.pool]
    assert costs == sorted(costs)
    for entry in outcome.pool:
        assert violation(problem, entry.x) <= MOVED
    assert len({entry.x[problem.integrality].tobytes() for entry in outcome.pool}) == len(costs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_claims_are_true(family: Callable[[np.random.Generator], Problem], seed: int) -> None:
    problem = family(np.random.default_rng(seed))
    truth = gb.solve(problem, method="highs", device="cpu", rel_gap=1e-9)
    assert truth.solution_status in (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE)
    optimum = sign(problem) * truth.objective
    alone = gb.solve(problem, presolve=False, heuristics_only=True, work_limit=0.002, **COUNTED)
    proven = gb.solve(problem, work_limit=0.002, **COUNTED)
    assert proven.solution_status is truth.solution_status
    for outcome in (truth, alone, proven):
        status, objective = outcome.solution_status, sign(problem) * outcome.objective
        assert status is not SolutionStatus.UNBOUNDED
        if status is SolutionStatus.INFEASIBLE:
            assert truth.solution_status is SolutionStatus.INFEASIBLE
        elif status is SolutionStatus.NOTHING:
            assert outcome.candidate is not None
            assert outcome.residuals.primal > 0.0
        else:
            assert violation(problem, outcome.x) <= MOVED
            assert objective >= optimum - 1e-6 * max(1.0, abs(optimum))
            assert sign(problem) * outcome.bound <= objective
            check_pool(problem, outcome)
        if status is SolutionStatus.OPTIMAL:
            assert objective == pytest.approx(optimum, rel=1.1e-4, abs=1e-6)
