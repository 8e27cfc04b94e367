"""When tables are made, and that searches they settle are right."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.progress import Progress
from solvers.knapsack.dp.core import CoreSearch
from solvers.knapsack.dp.tables import offer
from solvers.knapsack.dp.tables.offer import STATE, Tables, find_offer
from solvers.knapsack.dp.tables.plan import find_changes, find_types
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import Knapsack, normal_form
from tests.knapsack.dp.tables.cases import ordered, reference


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make tables as soon as the search has cost as much, however little."""
    monkeypatch.setattr(offer, "FEWEST_STATES", 0)


def unbounded(kind: str, seed: int) -> Knapsack:
    """Return a problem with all copies that fit, at whose end lists are long."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(500, 1001, 100)
    profit = {"strongly": weight + 100, "ratio": weight * 17 // 10 + 1}[kind]
    return Knapsack(profit, weight, 20_007 // weight, 20_007)


@pytest.mark.parametrize("kind", ["strongly", "ratio"])
@pytest.mark.parametrize("seed", range(3))
def test_searches_end_with_the_same_profit(
    kind: str, seed: int, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = unbounded(kind, seed)
    best = reference(problem)
    for price in (offer.CELL, dict.fromkeys(offer.CELL, 1e-6)):
        monkeypatch.setattr(offer, "CELL", price)
        monkeypatch.setattr(offer, "RECORDED_CELL", price)
        answer = solve_knapsack(problem)
        assert answer.profit == answer.bound == best
        assert answer.x is not None
        assert problem.value_of(answer.x) == (best, problem.value_of(answer.x)[1])


def test_sums_say_that_no_packing_fills_the_capacity() -> None:
    """Weights are tens, but for one item of 3."""
    weight = np.append(10 * np.random.default_rng(0).integers(1, 1000, 12), 3)
    problem = Knapsack(weight, weight, np.append(1_000_009 // weight[:-1], 1), 1_000_009)
    answer = solve_knapsack(problem)
    assert answer.path.endswith("by a table of sums")
    assert answer.profit == answer.bound == problem.capacity - 6


def test_profits_are_read_off_in_the_end() -> None:
    """So few weights that lists hold every sum."""
    rng = np.random.default_rng(1000 + 10_000 + 100_007)
    weight = rng.integers(5000, 10_001, 1000)
    profit = weight + 1000 + rng.integers(-20, 21, 1000)
    problem = Knapsack(profit, weight, 100_007 // weight, 100_007)
    answer = solve_knapsack(problem)
    assert answer.path.endswith("by a table of profits")
    assert answer.profit == answer.bound == reference(normal_form(problem).knapsack)


def test_a_table_is_due_when_the_search_has_cost_as_much() -> None:
    items, profit = ordered(unbounded("ratio", 0))
    best = reference(normal_form(unbounded("ratio", 0)).knapsack)
    search = CoreSearch(items, profit - 5, items.dantzig_bound, 10**6)
    tables = Tables(items)
    assert tables.left(search) == float("inf")
    assert tables.settle(search, lambda profit, bound: False) == ""
    tables.count(offer.FEWEST_STATES)
    changes = find_changes(items, find_types(items), search.profit)
    found = find_offer(items, changes, search.target)
    assert found is not None
    tables.count(found.cost / STATE - offer.FEWEST_STATES - tables.left(search))
    tables.count(tables.left(search))
    assert tables.left(search) == 0.0
    assert tables.settle(search, lambda profit, bound: False) == ", by a table of profits"
    assert search.is_settled
    assert search.profit == search.target == best
    assert tables.left(search) == float("inf")
    flags = search.result().packed
    assert flags is not None
    assert int(items.profit[flags].sum()) == best


def test_a_table_without_time_or_memory_leaves_the_search_as_it_was(
    at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    items, profit = ordered(unbounded("ratio", 0))
    for stop in (True, False):
        search = CoreSearch(items, profit - 5, items.dantzig_bound, 10**6)
        before = search.profit, search.target
        tables = Tables(items)
        tables.count(1e9)
        if not stop:
            monkeypatch.setattr(offer, "fill_table", _without_memory)
        assert tables.settle(search, lambda profit, bound, stop=stop: stop) == ""
        assert (search.profit, search.target) == before
        assert tables.left(search) == float("inf")


def _without_memory(*_: object) -> None:
    raise MemoryError


def test_no_table_where_none_fits_in_memory() -> None:
    items, profit = ordered(unbounded("strongly", 0))
    changes = find_changes(items, find_types(items), profit - 50)
    assert find_offer(items, changes, items.dantzig_bound) is not None
    assert find_offer(items, changes, items.dantzig_bound, most_bytes=1000) is None


def test_an_interrupted_solve_has_a_packing_and_a_bound(at_once: None) -> None:
    problem = unbounded("ratio", 4)
    best = reference(problem)
    progress = Progress(0.0)
    answer = solve_knapsack(problem, progress)
    assert answer.x is not None
    assert answer.profit <= best <= answer.bound
