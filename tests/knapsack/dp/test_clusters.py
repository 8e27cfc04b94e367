"""Going up through clusters of weights, against brute force, a dense table and the other search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solvers.knapsack.dp import clusters as searching
from solvers.knapsack.dp.cluster_lists import NOTHING, Completions, Lists
from solvers.knapsack.dp.clusters import climb_clusters, find_clusters
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import Knapsack, normal_form
from tests.cases import through
from tests.knapsack.brute import best_profit, dense_profit

ROOM = 10**5
WORK = 10**9


def go_on(profit: int, bound: int) -> bool:
    return False


def halves(items: int, capacity: int, groups: int, noise: int, excess: float, seed: int) -> Any:
    """Return items near halves, quarters, eighths, ... of the capacity, and small ones."""
    rng = np.random.default_rng(seed)
    group = 1 + np.arange(items) % groups
    middle = np.where(group == groups, 0, ((0.5**group + excess) * capacity).astype(np.int64))
    profit, weight = (middle + rng.integers(1, noise + 1, items) for _ in range(2))
    return Knapsack.binary(profit, weight, capacity)


def ordered(problem: Knapsack) -> Ordered:
    return by_efficiency(normal_form(problem).knapsack)


def assert_holds(items: Ordered, flags: Any, profit: int) -> None:
    assert items.profit[flags].sum() == profit
    assert items.weight[flags].sum() <= items.capacity


@st.composite
def clustered(draw: st.DrawFn) -> Knapsack:
    """Draw two to four clusters of any size, with profits that have little to do with weights."""
    middles = draw(st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True))
    spread = draw(st.sampled_from([10**3, 10**6, 10**12]))
    noise = st.integers(1, 6)
    profit, weight = [], []
    for middle in [0, *middles]:
        for _ in range(draw(st.integers(1, 5))):
            weight.append(middle * spread + draw(noise))
            profit.append(draw(st.integers(0, 40)) * spread + draw(noise))
    while len(weight) < 16:  # from which clusters are looked for
        weight.append(draw(noise))
        profit.append(draw(noise))
    return Knapsack.binary(profit, weight, draw(st.integers(max(weight), sum(weight))))


@settings(max_examples=12, deadline=None)
@given(clustered(), st.sampled_from([0, 1, 5, 10**6]))
def test_small_problems(problem: Knapsack, below: int) -> None:
    assume(problem.num_items <= 17)
    items = by_efficiency(problem)
    best = best_profit(problem)
    assert best is not None
    start = max(best - below, 0)
    found = climb_clusters(items, start, items.dantzig_bound, ROOM, WORK, go_on)
    assert found.profit == found.bound == best
    assert (found.packed is None) == (start == best)
    if found.packed is not None:
        assert_holds(items, found.packed, best)


@through("seed", range(4))
@through("excess", [0.0, 3e-3])
def test_against_a_dense_table(seed: int, excess: float) -> None:
    problem = halves(150, 40_000, 4, 25, excess, seed)  # more than two histories
    form = normal_form(problem)
    items = by_efficiency(form.knapsack)
    found = climb_clusters(items, 0, items.dantzig_bound, ROOM, WORK, go_on)
    assert found.packed is not None
    assert form.profit_back(found.profit) == dense_profit(problem)
    assert found.bound == found.profit
    assert_holds(items, found.packed, found.profit)


@pytest.mark.parametrize("seed", range(3))
def test_against_the_other_search(seed: int) -> None:
    items = ordered(halves(60, 10**15, 4, 12, 2e-3, seed))
    found = climb_clusters(items, 0, items.dantzig_bound, ROOM, WORK, go_on)
    outwards = CoreSearch(items, 0, items.dantzig_bound, 10**6)
    assert outwards.run(go_on)
    assert found.profit == found.bound == outwards.profit


@pytest.mark.parametrize("room", [64, 200, 1500])
def test_bounds_are_valid_where_lists_have_no_room(room: int, monkeypatch: Any) -> None:
    monkeypatch.setattr("solvers.knapsack.dp.cluster_lists.FIRST_ROOM", 64)
    items = ordered(halves(110, 10**9, 6, 300, 1e-3, 1))
    best = climb_clusters(items, 0, items.dantzig_bound, 10**6, WORK, go_on)
    found = climb_clusters(items, 0, items.dantzig_bound, room, WORK, go_on)
    assert best.profit == best.bound
    assert found.profit <= best.profit <= found.bound <= items.dantzig_bound


def test_what_weights_put_together_complete_is_no_less(monkeypatch: Any) -> None:
    monkeypatch.setattr("solvers.knapsack.dp.cluster_lists.FIRST_ROOM", 64)
    monkeypatch.setattr("solvers.knapsack.dp.cluster_lists.LARGEST_GRAIN", 2**24)
    items = ordered(halves(120, 10**9, 6, 300, 1e-3, 2))
    order = np.argsort(items.weight)
    profit, weight = items.profit[order], items.weight[order]
    starts = find_clusters(weight)
    assert starts is not None

    def above_the_lightest(most: int) -> Completions:
        lists = Lists(profit, weight, items.capacity, most, lambda states: True)
        made: Completions | None = NOTHING
        for first, last in zip(starts[-2:0:-1].tolist(), starts[:1:-1].tolist(), strict=True):
            assert made is not None
            made = lists.extended(made, first, last, 0)
        assert made is not None
        return made

    one, other = above_the_lightest(10**6), above_the_lightest(256)
    assert other.weight.size <= 256 < one.weight.size
    at = np.searchsorted(other.weight, one.weight, side="right") - 1
    assert (other.profit[at] >= one.profit).all()


def test_a_search_that_is_stopped_proves_nothing() -> None:
    items = ordered(halves(220, 10**9, 7, 300, 1e-3, 1))
    looks = iter([False] * 50 + [True])
    stopped = climb_clusters(
        items, 0, items.dantzig_bound, ROOM, WORK, lambda profit, bound: next(looks)
    )
    brief = climb_clusters(items, 0, items.dantzig_bound, ROOM, 1000, go_on)
    for found in (stopped, brief):
        assert found.packed is None
        assert found.profit == 0
        assert found.bound == items.dantzig_bound


def test_clusters_and_none() -> None:
    rng = np.random.default_rng(0)
    near = [np.sort(rng.integers(1, 100, 30)) + middle for middle in (0, 10**5, 3 * 10**5)]
    found = find_clusters(np.concatenate(near))
    assert found is not None
    assert found.tolist() == [0, 30, 60, 90]
    assert find_clusters(np.sort(rng.integers(1, 10**6, 500))) is None
    assert find_clusters(np.full(40, 7)) is None
    assert find_clusters(2 ** np.arange(40)) is None
    assert find_clusters(np.array([1, 2, 10**9])) is None
    equal = np.repeat([5, 10**4, 10**7], 20)
    assert find_clusters(equal) is not None


def test_many_items_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    items = ordered(halves(60, 10**6, 4, 12, 2e-3, 0))
    monkeypatch.setattr(searching, "MOST_ITEMS", 10)
    assert climb_clusters(items, 0, items.dantzig_bound, ROOM, WORK, go_on).states == 0


def test_a_hard_problem_goes_this_way() -> None:
    answer = solve_knapsack(halves(200, 10**9, 7, 100, 1e-3, 0))
    assert answer.is_optimal
    assert "clusters" in answer.path
