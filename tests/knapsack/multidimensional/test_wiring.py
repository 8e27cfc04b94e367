"""Multidimensional knapsack models through the front door."""

from __future__ import annotations

import numpy as np

import gpu_bridge
from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.registry import EXACT_ITEMS, choose
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem


def model(items: int, rows: int, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 1000, (rows, items))
    profit = weight.sum(axis=0) // rows + rng.integers(1, 500, items)
    return Problem.from_arrays(
        profit,
        weight.astype(float),
        row_upper=weight.sum(axis=1) // 2,
        upper=1.0,
        integrality=np.ones(items, dtype=bool),
        maximize=True,
    )


def test_small_ones_are_solved_exactly_unasked() -> None:
    problem = model(40, 4)
    assert classify(problem).kind is ProblemKind.KNAPSACK_MULTIDIMENSIONAL
    outcome = gpu_bridge.solve(problem)
    reference = gpu_bridge.solve(problem, method="highs", rel_gap=0.0, abs_gap=0.0)
    assert outcome.engine == "knapsack-multidimensional"
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == reference.objective == outcome.bound
    assert "multidimensional" in outcome.log


def test_large_ones_go_to_the_search_unless_asked_for() -> None:
    problem = model(EXACT_ITEMS + 1, 3)
    assert choose(problem, make_options()).method == "mip"
    assert choose(problem, make_options(method="knapsack")).method == "knapsack"
    assert choose(model(40, 4), make_options(heuristics_only=True)).method == "mip"


def test_what_cannot_fit_is_infeasible() -> None:
    problem = Problem.from_arrays(
        [1.0, 2.0, 3.0],
        [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]],
        row_upper=[4.0, -1.0],
        upper=1.0,
        integrality=[True] * 3,
        maximize=True,
    )
    assert gpu_bridge.solve(problem).solution_status is SolutionStatus.INFEASIBLE
