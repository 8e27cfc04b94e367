"""Tables over capacities against plain dynamic programming, from poor and from best packings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solvers.knapsack.dp.tables import dense
from solvers.knapsack.dp.tables.dense import (
    fill_sums,
    fill_table,
    profit_type,
    segments,
    unit_profit,
)
from solvers.knapsack.dp.tables.plan import find_changes, find_types, make_plan
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.items import Knapsack, normal_form
from tests.cases import through
from tests.knapsack.brute import CLASSES, instance
from tests.knapsack.dp.tables.cases import check, knapsacks, never, ordered, planned, reference


@settings(max_examples=250, deadline=None)
@given(knapsacks(), st.booleans(), st.booleans(), st.integers(0, 12))
def test_every_small_problem(problem: Knapsack, single: bool, repeats: bool, worse: int) -> None:
    items, profit = ordered(problem, single=single and int(problem.copies.sum()) < 2000)
    assume(items.break_item < items.num_items)
    profit = max(profit - worse, 0)
    assume(profit < items.dantzig_bound)
    best = reference(normal_form(problem).knapsack)
    plan = planned(items, profit, repeats=repeats)
    bound = items.dantzig_bound
    check(items, plan, profit, best, fill_table(plan, profit, bound, never))
    if not repeats and plan.num_stages and unit_profit(plan):
        check(items, plan, profit, best, fill_sums(plan, profit, bound, never))


@pytest.mark.parametrize("seed", range(6))
def test_profits_that_32_bits_just_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = Knapsack.binary(rng.integers(2**30, 2**30 + 2**29, 2), rng.integers(7, 11, 2), 11)
    items, _ = ordered(problem)
    plan, bound = planned(items, 0), items.dantzig_bound
    assert profit_type(plan, bound) is np.int32
    best = reference(normal_form(problem).knapsack)
    check(items, plan, 0, best, fill_table(plan, 0, bound, never))


@through("kind", CLASSES)
def test_classes(kind: str) -> None:
    problem = instance(kind, 80, 300 if kind != "similar" else 20, 5)
    items, _ = ordered(problem)
    best = reference(normal_form(problem).knapsack)
    for profit in (best - 30, best - 1, best):
        plan = planned(items, profit)
        check(items, plan, profit, best, fill_table(plan, profit, items.dantzig_bound, never))


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("shift", [0, 10**10])
def test_long_tables_in_segments(
    repeats: bool, shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More columns than a block, stages that follow each other, and bits of few stages at once."""
    rng = np.random.default_rng(3)
    weight = rng.integers(300, 2000, 120)
    profit = weight * 50 + rng.integers(0, 40, 120) + shift * (weight // 300)
    copies = np.where(np.arange(120) % 3 == 0, 10**4, rng.integers(1, 5, 120))
    problem = Knapsack(profit, weight, copies, 150_001)
    items, _ = ordered(problem)
    best = reference(normal_form(problem).knapsack)
    start = best - best // 4
    plan = planned(items, start, repeats=repeats)
    assert plan.width > 3 * dense.BLOCK
    assert plan.repeated.any() == repeats
    bound = items.dantzig_bound
    assert profit_type(plan, bound) is (np.int64 if shift else np.int32)
    check(items, plan, start, best, fill_table(plan, start, bound, never))
    bits = 8 * int(((plan.high >> 6) - (plan.low >> 6) + 1).sum())
    size = plan.width * np.dtype(profit_type(plan, bound)).itemsize
    tight = 2 * max(bits * 3 // 5, 2 * size)
    parts = segments(plan, bound, tight)
    assert parts is not None
    assert len(parts) == 2
    check(items, plan, start, best, fill_table(plan, start, bound, never, tight))
    monkeypatch.setattr(dense, "MOST_FOLLOWING", 1)
    check(items, plan, start, best, fill_table(plan, start, bound, never))


def test_sums_that_cannot_be_reached() -> None:
    """Even weights but for two items that leave most remainders out."""
    rng = np.random.default_rng(1)
    weight = np.append(6 * rng.integers(500, 3000, 60), [6001, 9002])
    problem = Knapsack(weight, weight, np.full(62, 3), int(weight.sum()) + 5)
    items, _ = ordered(problem)
    best = reference(normal_form(problem).knapsack)
    profit = best - 40
    plan = planned(items, profit)
    assert unit_profit(plan)
    check(items, plan, profit, best, fill_sums(plan, profit, items.dantzig_bound, never))
    check(items, plan, best, best, fill_sums(plan, best, items.dantzig_bound, never))


def test_sums_stop_where_the_bound_is_reached() -> None:
    weight = np.arange(1, 200)
    items, _ = ordered(Knapsack.binary(weight, weight, 5000))
    plan = planned(items, 4000)
    words = np.zeros((plan.width >> 6) + 1, dtype=np.uint64)
    words[0] = 1
    stage = np.full(plan.width, -1, dtype=np.int32)
    wanted = 5000 - plan.base
    end = dense.mark(words, stage, plan.weight, plan.low, plan.high, 0, plan.num_stages, wanted)
    assert 0 < end < plan.num_stages
    assert dense.highest(words, wanted) == wanted
    check(items, plan, 4000, 5000, fill_sums(plan, 4000, 5000, never))


def test_nothing_may_change() -> None:
    items, profit = ordered(Knapsack.binary([60, 50, 3], [10, 10, 10], 25))
    assert profit == 110
    plan = planned(items, profit)
    check(items, plan, profit, 110, fill_table(plan, profit, items.dantzig_bound, never))
    plan = planned(items, 109)
    check(items, plan, 109, 110, fill_table(plan, 109, items.dantzig_bound, never))


def test_huge_capacities_are_refused() -> None:
    rng = np.random.default_rng(0)
    weight = rng.integers(2**39, 2**40, 60)
    items = by_efficiency(Knapsack.binary(weight + 5, weight, int(weight.sum()) // 2))
    profit = int(items.profit_before[items.break_item]) - 2**39
    assert make_plan(items, find_changes(items, find_types(items), profit)) is None
    weight = rng.integers(2**29, 2**30, 60)
    items = by_efficiency(Knapsack.binary(weight + 5, weight, int(weight.sum()) // 2))
    plan = planned(items, int(items.profit_before[items.break_item]) - 2**29)
    assert segments(plan, items.dantzig_bound) is None
    assert not dense.fits(plan)
    assert not fill_table(plan, 0, items.dantzig_bound, never).is_complete


def test_common_divisors_and_many_copies_make_tables_small() -> None:
    """A million copies of each: no best packing differs from the break solution in many of them."""
    weight = np.array([30, 50, 70, 110])
    problem = Knapsack(np.array([31, 52, 73, 114]), weight, np.full(4, 10**6), 10**8 + 7)
    items, profit = ordered(problem)
    assert items.capacity == 10**7
    plan = planned(items, max(profit, items.dantzig_bound - 1))
    assert plan.cells < 10**4


@pytest.mark.parametrize("after", [0, 1, 2])
def test_time_is_up(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a table had made: no packing is claimed, and only true bounds."""
    monkeypatch.setattr(dense, "MOST_FOLLOWING", 1)
    monkeypatch.setattr(dense, "CALL_WORDS", 1)
    problem = instance("subset sum", 40, 300, 0)
    items, _ = ordered(problem)
    best = reference(normal_form(problem).knapsack)
    plan = planned(items, best - 50)
    asked = iter(range(10**6))
    made = fill_table(plan, best - 50, best, lambda: next(asked) >= after)
    assert not made.is_complete
    asked = iter(range(10**6))
    assert not fill_sums(plan, best - 50, best, lambda: next(asked) >= after).is_complete
    asked = iter(range(10**6))
    made = fill_table(plan, best - 50, best, lambda: next(asked) >= plan.num_stages + after)
    assert made.is_complete
    assert made.taken is None
    assert made.profit == best
