"""Models that only presolve shows to be knapsack problems."""

from __future__ import annotations

import numpy as np

import gpu_bridge
from gpu_bridge.classify import ProblemKind, classify
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.knapsack import solve_knapsack
from tests.knapsack.brute import instance


def test_what_presolve_leaves_is_solved_exactly() -> None:
    hard = instance("strongly", 300, 10**6, 0)
    last = np.eye(1, 301, 300) - np.eye(1, 301, 0)  # a copy of the first column
    rows = np.vstack([np.append(hard.weight, 0), np.append(2 * hard.weight, 0), last])
    problem = Problem.from_arrays(
        np.append(hard.profit, 0.0),
        rows,
        row_lower=[-np.inf, -np.inf, 0.0],
        row_upper=[hard.capacity, 2 * hard.capacity + 5, 0.0],
        upper=1.0,
        integrality=np.ones(301, dtype=bool),
        maximize=True,
    )
    assert classify(problem).kind is ProblemKind.MIP
    outcome = gpu_bridge.solve(problem, rel_gap=0.0, abs_gap=0.0, device="cpu", time_limit=600)
    assert "Presolve leaves a 0/1 knapsack problem of 300 items" in outcome.log
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == outcome.bound == solve_knapsack(hard).profit
    assert outcome.x is not None
    assert (rows[0] @ outcome.x <= hard.capacity).all()
    assert outcome.x[300] == outcome.x[0]
