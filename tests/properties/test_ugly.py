"""Ugly little models by every engine, against their exact solution.

An answer may use the tolerance it was asked for: what is *optimal* must not be better than the
optimum of the model with its sides moved out by that much, nor worse than that of the model itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.outcome import Outcome
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.properties.exact import (
    Exact,
    TooLongError,
    Truth,
    objective_of,
    priced,
    solve_exactly,
    violation,
    widened,
)
from tests.properties.ugly import ugly_problem

LINEAR = range(40, 80)
MIXED = range(1000, 1030)
MOVED = 1.01e-6
"""By which sides are moved out: the default tolerance and a little for rounding."""

LP_WAYS: list[dict[str, Any]] = [
    {},
    {"method": "highs", "presolve": False},
    {"method": "highs", "lp_algorithm": "ipm"},
    {"method": "pdlp"},
    {"method": "pdlp", "presolve": False},
    {"method": "simplex"},
    {"method": "simplex", "presolve": False},
    {"method": "simplex", "simplex_variant": "dense", "presolve": False},
]
MIP_WAYS: list[dict[str, Any]] = [
    {},
    {"method": "highs", "presolve": False},
    {"method": "mip", "deterministic": True, "work_limit": 0.002, "presolve": False},
]


@cache
def truth(seed: int, integer: bool) -> tuple[Problem, Exact] | None:
    """Return a model and its exact solution; None where there is none to compare with."""
    problem = ugly_problem(seed, integer=integer)
    try:
        return None if problem is None else (problem, solve_exactly(problem))
    except TooLongError:
        return None


def check(problem: Problem, exact: Exact, outcome: Outcome) -> None:
    """Compare an answer with the truth."""
    sign = -1.0 if problem.maximize else 1.0
    status = outcome.solution_status
    if status.has_point:
        assert outcome.x is not None
        recomputed = objective_of(problem, outcome.x)
        assert sign * outcome.objective == pytest.approx(recomputed, rel=1e-9, abs=1e-9)
        if problem.is_mip:
            assert violation(problem, outcome.x) <= MOVED
            whole = outcome.x[problem.integrality]
            np.testing.assert_allclose(whole, np.round(whole), rtol=0.0, atol=MOVED)
    if status is SolutionStatus.INFEASIBLE:
        assert exact.truth is Truth.INFEASIBLE
    elif status is SolutionStatus.UNBOUNDED:
        assert solve_exactly(widened(problem, MOVED)).truth is Truth.UNBOUNDED
    else:
        _check_optimum(problem, exact, outcome, sign * outcome.objective)


def _check_optimum(problem: Problem, exact: Exact, outcome: Outcome, objective: float) -> None:
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    room = 2e-6 if not problem.is_mip else 1.1e-4
    if exact.objective is not None:
        most = float(exact.objective)
        assert objective <= most + room * (1.0 + abs(most) + abs(objective))
    moved = solve_exactly(widened(problem, MOVED))
    if moved.truth is Truth.UNBOUNDED:  # in a direction that costs within tolerance leave open
        assert solve_exactly(priced(problem, MOVED)).truth is not Truth.UNBOUNDED
    else:
        assert moved.objective is not None
        least = float(moved.objective)
        assert objective >= least - room * (1.0 + abs(least) + abs(objective))


@pytest.mark.parametrize("way", LP_WAYS, ids=str)
def test_linear_programs(way: dict[str, Any]) -> None:
    for seed in LINEAR:
        if (known := truth(seed, False)) is not None:
            check(*known, gb.solve(known[0], device="cpu", explain=False, **way))


@pytest.mark.parametrize("way", MIP_WAYS, ids=str)
def test_mixed_integer_programs(way: dict[str, Any]) -> None:
    for seed in MIXED:
        if (known := truth(seed, True)) is not None:
            check(*known, gb.solve(known[0], device="cpu", explain=False, **way))


@pytest.mark.parametrize("method", ["auto", "pdlp", "simplex"])
def test_batches(method: str) -> None:
    for seed in range(40, 80, 2):
        if (known := truth(seed, False)) is None:
            continue
        problem, exact = known
        costs = np.stack([problem.cost, np.zeros_like(problem.cost), -problem.cost])
        outcomes = gb.solve_many(gb.Batch(problem, cost=costs), method=method, device="cpu")
        for k, outcome in enumerate(outcomes):
            member = replace(problem, cost=costs[k])
            check(member, exact if k == 0 else solve_exactly(member), outcome)
