"""The search from the heaviest item against brute force, a dense table, and the other search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.knapsack.dp import heavy_first
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.dp.heavy_first import search_heavy_first, set_suffix, suffixes
from solvers.knapsack.dp.states import Found
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import Knapsack, normal_form
from tests.cases import through
from tests.knapsack.brute import CLASSES, best_profit, dense_profit, instance


def go_on(profit: int, bound: int) -> bool:
    return False


def clusters(
    items: int, capacity: int, groups: int, noise: int, excess: float, seed: int
) -> Knapsack:
    """Return items near halves, quarters, eighths, ... of the capacity, and small ones."""
    rng = np.random.default_rng(seed)
    group = rng.integers(1, groups + 1, items)
    middle = np.where(group == groups, 0, ((0.5**group + excess) * capacity).astype(np.int64))
    profit, weight = (middle + rng.integers(1, noise + 1, items) for _ in range(2))
    return Knapsack.binary(profit, weight, capacity)


@st.composite
def positive_knapsacks(draw: st.DrawFn) -> Knapsack:
    n = draw(st.integers(1, 9))
    large = draw(st.sampled_from([4, 60, 10**9, 10**17]))
    profit, weight = (
        draw(st.lists(st.integers(1, large), min_size=n, max_size=n)) for _ in range(2)
    )
    return Knapsack.binary(profit, weight, draw(st.integers(max(weight), sum(weight) + 1)))


@settings(max_examples=150, deadline=None)
@given(positive_knapsacks(), st.sampled_from([0, 1, 3]))
def test_every_small_problem_is_solved_from_the_heaviest_item(
    problem: Knapsack, below: int
) -> None:
    items = by_efficiency(problem)
    best = best_profit(problem)
    assert best is not None
    start = max(best - below, 0)
    found = search_heavy_first(items, start, items.dantzig_bound, 10**5, 10**9, go_on)
    assert found.is_settled
    assert found.profit == best
    assert (found.packed is None) == (start == best)
    if found.packed is not None:
        assert items.profit[found.packed].sum() == best
        assert items.weight[found.packed].sum() <= items.capacity


@through("kind", CLASSES)
def test_classes_agree_with_a_dense_table_from_the_heaviest_item(kind: str) -> None:
    problem = instance(kind, 130, 150 if kind != "similar" else 10, 3)  # more than one history
    items = by_efficiency(normal_form(problem).knapsack)
    form = normal_form(problem)
    found = search_heavy_first(items, 0, items.dantzig_bound, 10**5, 10**9, go_on)
    assert found.is_settled
    assert found.packed is not None
    assert form.profit_back(found.profit) == dense_profit(problem)
    assert items.profit[found.packed].sum() == found.profit
    assert items.weight[found.packed].sum() <= items.capacity


@pytest.mark.parametrize("seed", range(3))
def test_both_searches_agree_on_clusters(seed: int) -> None:
    problem = clusters(60, 2000, 4, 12, 2e-3, seed)
    items = by_efficiency(normal_form(problem).knapsack)
    found = search_heavy_first(items, 0, items.dantzig_bound, 10**6, 10**9, go_on)
    outwards = CoreSearch(items, 0, items.dantzig_bound, 10**6)
    assert found.is_settled
    assert outwards.run(go_on)
    assert found.profit == outwards.profit


def test_clusters_far_apart_are_settled_from_the_heaviest_item(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "solvers.knapsack.rounds.climb_clusters",
        lambda items, profit, bound, *_: Found(None, profit, bound, 0),
    )
    answer = solve_knapsack(clusters(200, 10**8, 6, 100, 1e-4, 0))
    assert answer.is_optimal
    assert "heaviest" in answer.path
    assert answer.work < 50_000_000


@pytest.mark.parametrize("seed", range(3))
def test_lists_that_are_cut_find_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy_first, "WAITING", 10**6)
    items = by_efficiency(normal_form(clusters(150, 4000, 5, 40, 2e-3, seed)).knapsack)
    whole = search_heavy_first(items, 0, items.dantzig_bound, 10**6, 10**9, go_on)
    cut = search_heavy_first(items, 0, items.dantzig_bound, 24, 10**9, go_on)
    assert whole.is_settled
    assert cut.is_settled
    assert (
        cut.states != whole.states
    )  # parts that wait miss dominance, and gain from better packings
    assert cut.profit == whole.profit
    assert cut.packed is not None
    assert items.profit[cut.packed].sum() == cut.profit
    assert items.weight[cut.packed].sum() <= items.capacity


def test_a_search_that_is_stopped_or_has_no_room_settles_nothing() -> None:
    items = by_efficiency(normal_form(clusters(300, 10**9, 8, 200, 1e-3, 0)).knapsack)
    for room, work, stop in ((8, 10**5, False), (10**5, 10**5, False), (10**5, 10**9, True)):
        found = search_heavy_first(
            items, 0, items.dantzig_bound, room, work, lambda profit, bound, stop=stop: stop
        )
        assert not found.is_settled
        assert (found.packed is None) == stop
        if found.packed is not None:
            assert items.profit[found.packed].sum() == found.profit
            assert items.weight[found.packed].sum() <= items.capacity


def test_suffixes_hold_what_comes_later_by_efficiency() -> None:
    profit, weight = np.array([9, 1, 8, 3]), np.array([10, 8, 4, 1])
    efficient = np.array([3, 2, 0, 1])
    known = suffixes(profit, weight, efficient, np.array([2, 4]))
    set_suffix(known, 0, 1, profit, weight, efficient)
    assert known.start.tolist() == [1, 2, 4]
    assert known.size.tolist() == [3, 2, 0]
    assert known.above.tolist()[1:] == [8, 1]
    assert known.profit_before[0, :4].tolist() == [0, 3, 11, 12]
    assert known.weight_before[1, :3].tolist() == [0, 1, 5]
