"""Breadth-first branch and bound against brute force, tables and the other engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from gpu_bridge.verify.verify import verify
from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack import Knapsack, solve_knapsack
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.items import normal_form
from solvers.papers.knapsack_branch_and_bound.engine import (
    TreeSettings,
    branch_and_bound,
    solve,
    solve_by_tree,
)
from tests.cases import through
from tests.knapsack.brute import CLASSES, best_profit, dense_profit, instance
from tests.knapsack.dp.test_core import knapsacks

SMALL = 2**40


@settings(max_examples=150)
@given(knapsacks())
def test_every_small_problem_is_solved(problem: Knapsack) -> None:
    largest = np.abs(problem.profit).max(initial=0), np.abs(problem.weight).max(initial=0)
    if max(largest) > SMALL:
        return
    best = best_profit(problem)
    answer = solve_by_tree(problem)
    if best is None:
        assert answer.x is None
        return
    assert answer.profit == answer.bound == best
    assert answer.x is not None
    assert problem.value_of(answer.x)[1] <= problem.capacity


@through("kind", CLASSES)
@through("merged", [False, True])
def test_classes_agree_with_a_dense_table(kind: str, merged: bool) -> None:
    problem = instance(kind, 30, 100 if kind != "similar" else 10, 2)
    answer = solve_by_tree(problem, settings=TreeSettings(merged=merged))
    assert answer.profit == answer.bound == dense_profit(problem)


def test_merging_shortens_lists_and_changes_nothing_else() -> None:
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 101, 50)  # the class of the paper
    problem = Knapsack.binary(weight + 10, weight, int(weight.sum()) // 2)
    items = by_efficiency(normal_form(problem).knapsack)
    plain = branch_and_bound(items, cpu(), lambda: False, TreeSettings(merged=False))
    merged = branch_and_bound(items, cpu(), lambda: False)
    assert plain.complete
    assert merged.complete
    assert merged.longest < plain.longest / 5
    assert merged.profit == plain.profit == plain.bound
    for found in (plain, merged):
        assert items.profit[found.flags].sum() == found.profit
        assert items.weight[found.flags].sum() <= items.capacity


def test_a_list_without_room_ends_with_a_packing_and_a_valid_bound() -> None:
    problem = instance("strongly", 200, 10**6, 0)
    answer = solve_by_tree(problem, settings=TreeSettings(most_nodes=10_000))
    best = solve_knapsack(problem)
    assert answer.profit <= best.profit <= answer.bound
    assert not answer.is_optimal
    assert answer.x is not None


def test_a_stopped_search_has_a_packing_and_a_valid_bound() -> None:
    problem = instance("circle", 100, 10**5, 0)
    answer = solve_by_tree(problem, progress=Progress(0.0))
    assert answer.x is not None
    assert answer.profit <= solve_knapsack(problem).profit <= answer.bound


def test_the_same_twice() -> None:
    problem = instance("almost", 60, 1000, 1)
    one, other = solve_by_tree(problem), solve_by_tree(problem, threads=2)
    assert one.x is not None
    assert other.x is not None
    assert (one.x == other.x).all()
    assert one.work == other.work


def test_products_that_leave_64_bits_are_refused() -> None:
    with pytest.raises(EngineError, match="method='knapsack'"):
        solve_by_tree(Knapsack.binary([2**40, 2**40 - 1], [2**35, 2**35 - 1], 2**35))


def test_a_model_by_the_method_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    hard = instance("strongly", 120, 10**5, 0)
    problem = Problem.from_arrays(
        hard.profit,
        hard.weight[None, :].astype(float),
        row_upper=[hard.capacity],
        upper=1.0,
        integrality=np.ones(120, dtype=bool),
        maximize=True,
    )
    monkeypatch.setattr("solvers.papers.knapsack_branch_and_bound.engine.MOST_NODES_CPU", 5_000)
    found = solve(problem, EngineOptions(device="cpu"))
    assert found.stop_reason is StopReason.OUT_OF_MEMORY
    outcome = verify(problem, found, EngineOptions())
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert -outcome.objective <= solve_knapsack(hard).profit <= -outcome.bound
