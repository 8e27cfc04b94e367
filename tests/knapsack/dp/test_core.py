"""The exact engine against brute force, a dense table, and published optima."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.errors import ProblemError
from solvers.core.progress import Progress
from solvers.knapsack import rounds
from solvers.knapsack.dp.core import CoreSearch, copies_to_flags, flags_to_copies
from solvers.knapsack.dp.states import FIRST_ROOM
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.heuristics import first_packing
from solvers.knapsack.items import Knapsack, normal_form
from solvers.native.knapsack_efficiency import settle
from tests.cases import through
from tests.knapsack.brute import CLASSES, best_profit, dense_profit, instance


@st.composite
def knapsacks(draw: st.DrawFn) -> Knapsack:
    n = draw(st.integers(0, 7))
    large = draw(st.sampled_from([5, 40, 10**6, 10**16]))
    numbers = st.lists(st.integers(-large, large), min_size=n, max_size=n)
    positive = st.lists(st.integers(1, large), min_size=n, max_size=n)
    weight = draw(st.one_of(numbers, positive, positive))
    profit = draw(st.one_of(numbers, positive, st.just(weight)))
    copies = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    total = sum(abs(w) for w in weight)
    capacity = draw(st.integers(-total // 2 - 1, 2 * total + 1))
    return Knapsack(np.array(profit), np.array(weight), np.array(copies), capacity)


@settings(max_examples=300, deadline=None)
@given(knapsacks())
def test_every_small_problem_is_solved(problem: Knapsack) -> None:
    best = best_profit(problem)
    answer = solve_knapsack(problem)
    if best is None:
        assert answer.x is None
        return
    assert answer.profit == answer.bound == best
    assert answer.x is not None
    assert ((answer.x >= 0) & (answer.x <= problem.copies)).all()
    assert problem.value_of(answer.x)[1] <= problem.capacity


@pytest.mark.parametrize("kind", CLASSES)
@through("seed", range(3))
def test_classes_agree_with_a_dense_table(kind: str, seed: int) -> None:
    problem = instance(kind, 60, 300 if kind != "similar" else 20, seed)
    answer = solve_knapsack(problem)
    assert answer.profit == answer.bound == dense_profit(problem)


@pytest.mark.parametrize("kind", ["strongly", "inverse", "circle", "multiple strongly"])
def test_many_equal_items_agree_with_a_dense_table(kind: str) -> None:
    problem = instance(kind, 900, 60, 4)
    answer = solve_knapsack(problem)
    assert answer.profit == answer.bound == dense_profit(problem)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9)), max_size=6))
def test_copies_become_flags_of_single_items_and_back(types: list[tuple[int, int, int]]) -> None:
    profit, weight, copies = (np.array([row[k] for row in types], dtype=int) for k in range(3))
    items = by_efficiency(Knapsack(profit, weight, copies, 20), single=True)
    assert items.num_items == copies.sum()
    flags = copies_to_flags(items, copies // 2)
    np.testing.assert_array_equal(flags_to_copies(items, flags, copies.size), copies // 2)


@pytest.mark.parametrize("kind", ["almost", "circle", "weakly"])
def test_lists_that_outgrow_their_room_are_cut_and_give_the_same(kind: str) -> None:
    problem = instance(kind, 300, 10_000, 1)
    small = normal_form(problem).knapsack
    items = by_efficiency(small)
    profit, _ = first_packing(items)
    profit -= profit // 50  # a poor start, so that lists are long
    cut = CoreSearch(items, profit, items.dantzig_bound, FIRST_ROOM)
    whole = CoreSearch(items, profit, items.dantzig_bound, 10**7)
    assert cut.run(lambda profit, bound: False)
    assert whole.run(lambda profit, bound: False)
    narrow, wide = cut.result(), whole.result()
    assert narrow.profit == wide.profit == narrow.bound == wide.bound
    for found in (narrow, wide):
        assert found.packed is not None
        assert items.profit[found.packed].sum() == found.profit
        assert items.weight[found.packed].sum() <= items.capacity


def test_a_stopped_search_has_a_packing_and_a_valid_bound() -> None:
    problem = instance("circle", 400, 10**6, 0)
    items = by_efficiency(normal_form(problem).knapsack)
    whole, brief = (
        CoreSearch(items, 0, items.dantzig_bound, 10**6),
        CoreSearch(items, 0, items.dantzig_bound, FIRST_ROOM),
    )
    assert whole.run(lambda profit, bound: False)
    assert not brief.run(lambda profit, bound: True)
    best, stopped = whole.result(), brief.result()
    assert stopped.packed is not None
    assert stopped.profit <= best.profit == best.bound <= stopped.bound <= items.dantzig_bound


def test_no_time_at_all_leaves_a_packing_and_a_bound() -> None:
    problem = instance("inverse", 2000, 10**6, 0)
    answer = solve_knapsack(problem, Progress(0.0))
    assert answer.x is not None
    assert answer.profit <= answer.bound
    assert problem.value_of(answer.x) == (answer.profit, problem.value_of(answer.x)[1])


def test_numbers_near_the_limit_are_exact() -> None:
    big = 2**59
    problem = Knapsack.binary([big, big - 1, 3], [big, big - 1, 2], 2 * big - 2)
    answer = solve_knapsack(problem)
    assert answer.profit == answer.bound == best_profit(problem) == big + 3


def test_sums_beyond_the_limit_are_refused() -> None:
    with pytest.raises(ProblemError, match=r"sum of the knapsack's weights.*item 1 alone"):
        Knapsack(np.ones(2, int), np.array([1, 2**40]), np.array([1, 2**30]), 10)
    with pytest.raises(ProblemError, match="capacity"):
        Knapsack.binary([1], [1], 2**62)
    with pytest.raises(ProblemError, match="Item 0"):
        Knapsack(np.ones(1, int), np.ones(1, int), np.array([-1]), 10)
    with pytest.raises(ProblemError, match=r"'weight' has shape \(1,\)"):
        Knapsack.binary([1, 2], [1], 10)


@settings(max_examples=200, deadline=None)
@given(
    st.tuples(st.integers(8, 2**61), st.integers(8, 2**61)),
    st.lists(st.tuples(st.integers(-7, 7), st.integers(-7, 7)), max_size=12),
)
def test_items_are_ordered_exactly(start: tuple[int, int], steps: list[tuple[int, int]]) -> None:
    """Double precision cannot tell the ratios of large neighbours apart."""
    given_items = np.array([(start[0] + p, start[1] + w) for p, w in steps], dtype=np.int64)
    profit, weight = given_items.reshape(-1, 2).T.copy()
    place = np.arange(profit.size)
    settle(profit, weight, place)
    np.testing.assert_array_equal(given_items.reshape(-1, 2)[place].T, [profit, weight])
    pairs = list(zip(profit.tolist(), weight.tolist(), strict=True))
    for (p, w), (q, v) in itertools.pairwise(pairs):
        assert p * v >= q * w


def test_the_normal_form_divides_and_merges() -> None:
    problem = Knapsack.binary([6, 6, 4, 0, 2], [4, 4, 6, 2, 80], 13)
    small = normal_form(problem).knapsack
    assert sorted(zip(small.profit, small.weight, small.copies, strict=True)) == [
        (2, 3, 1),
        (3, 2, 2),
    ]
    assert small.capacity == 6
    x = normal_form(problem).packing_back(np.array([0, 2])[np.argsort(small.profit)])
    assert x.tolist() == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("kind", CLASSES)
@through("seed", range(2))
def test_every_way_is_exact_where_the_first_search_is_short(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FIRST_WORK", 2), ("FIRST_WORK_PER_ITEM", 0), ("WORK_PER_SUM", 1)):
        monkeypatch.setattr(rounds, name, value)
    monkeypatch.setattr(rounds, "SIDES", (2, 3, 4))
    for items, largest in ((14, 40), (60, 200), (200, 30)):
        problem = instance(kind, items, largest if kind != "similar" else 15, seed)
        answer = solve_knapsack(problem)
        assert answer.profit == answer.bound == dense_profit(problem)
        assert answer.x is not None
        assert problem.value_of(answer.x)[1] <= problem.capacity
