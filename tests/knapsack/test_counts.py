"""Bounds for numbers of items against every packing of small problems, and what is hard by them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import LARGEST, Knapsack
from solvers.knapsack.relaxations import PIVOTS, CountBounds, Differences, Solved
from tests.knapsack.brute import instance

SUBSETS = {n: np.array(list(product((0, 1), repeat=n)), dtype=np.int64) for n in range(9)}


@st.composite
def ordered(draw: st.DrawFn, largest: int = 10**15) -> Ordered:
    n = draw(st.integers(2, 8))
    large = draw(st.sampled_from([4, 30, 10**9, largest]))
    profit, weight = (
        draw(st.lists(st.integers(1, large), min_size=n, max_size=n)) for _ in range(2)
    )
    capacity = draw(st.integers(max(weight), max(max(weight), sum(weight) - 1)))
    items = by_efficiency(Knapsack.binary(profit, weight, capacity))
    assume(items.break_item < n)
    return items


def best_of(items: Ordered) -> int:
    """Return the optimum."""
    x = SUBSETS[items.num_items]
    return int((x @ items.profit)[x @ items.weight <= items.capacity].max())


def best_of_each_count(items: Ordered) -> dict[int, int]:
    """Return the largest profit of a packing of each number of items that fits."""
    x = SUBSETS[items.num_items]
    fits = x @ items.weight <= items.capacity
    best: dict[int, int] = {}
    for count, profit in zip(x.sum(axis=1)[fits], (x @ items.profit)[fits], strict=True):
        best[int(count)] = max(best.get(int(count), 0), int(profit))
    return best


@settings(max_examples=200, deadline=None)
@given(ordered(), st.data())
def test_no_packing_exceeds_the_bound_of_its_number_of_items(
    items: Ordered, data: st.DataObject
) -> None:
    pivot = data.draw(st.integers(0, items.num_items - 1))
    assert Differences.within_limits(items, pivot)
    differences = Differences(items, pivot)
    best = best_of_each_count(items)
    for count, profit in best.items():
        assert profit <= differences.bound(count)
        problem = differences.relaxation(count)
        assert problem is not None
        relaxed = best_of(problem.items)
        assert profit <= problem.profit_back(relaxed) <= differences.bound(count)
        assert problem.profit_back(problem.floor(profit)) <= profit


@settings(max_examples=200, deadline=None)
@given(ordered(10**9), st.data())  # bounds are exact where products stay below 2^63
def test_counts_beyond_one_that_is_no_better_are_no_better_either(
    items: Ordered, data: st.DataObject
) -> None:
    pivot = data.draw(st.integers(0, items.num_items - 1))
    differences = Differences(items, pivot)
    bounds = [differences.bound(count) for count in range(items.num_items + 1)]
    first = differences.most_likely
    up, down = bounds[first + 1 :], bounds[first::-1]
    for side in (up, down):
        for profit in bounds:
            below = [bound <= profit for bound in side]
            assert below == sorted(below)


@settings(max_examples=200, deadline=None)
@given(ordered())
def test_bounds_by_counts_hold_and_packings_of_relaxations_fit(items: Ordered) -> None:
    optimum = max(best_of_each_count(items).values())
    search = CoreSearch(items, 0, items.dantzig_bound, 10**4)

    def solve(relaxation: Ordered, floor: int) -> Solved:
        x = SUBSETS[relaxation.num_items]
        profit = np.where(x @ relaxation.weight <= relaxation.capacity, x @ relaxation.profit, -1)
        best = int(np.argmax(profit))
        flags = x[best].astype(bool) if profit[best] > floor else None
        return Solved(flags, max(int(profit[best]), floor))

    counts = CountBounds(items, solve, lambda: False)
    for pivot in PIVOTS[-1]:
        assert counts.improve(search, pivot, 10**6) >= optimum
        assert search.profit <= optimum
        flags = search.result().packed
        if flags is not None:
            assert items.weight[flags].sum() <= items.capacity
            assert items.profit[flags].sum() == search.profit


def test_sums_that_could_overflow_are_left_to_others() -> None:
    items = by_efficiency(Knapsack.binary([LARGEST // 8, LARGEST // 9], [5, 5], 5))
    assert not Differences.within_limits(items, 1)


@pytest.mark.parametrize("seed", [0, 2])
def test_items_on_a_circle_are_settled_by_differences(seed: int) -> None:
    problem = instance("circle", 1000, 10**6, seed)
    answer = solve_knapsack(problem)
    assert answer.is_optimal
    assert answer.work < 2_000_000
