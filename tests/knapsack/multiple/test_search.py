"""Multiple knapsack problems against brute force, HiGHS and themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import highs
from solvers.core.errors import ProblemError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.knapsack.items import Packing
from solvers.knapsack.multiple import engine as searches
from solvers.knapsack.multiple.engine import solve_multiple
from solvers.knapsack.multiple.items import MultipleKnapsack
from tests.cases import through
from tests.knapsack.multiple.instances import as_model, best_profit, drawn


def check(problem: MultipleKnapsack, packing: Packing) -> None:
    """Check that a packing fits and is worth what it says."""
    assert packing.x is not None
    assert packing.x.shape == (problem.num_items,)
    assert problem.fits(packing.x)
    assert packing.profit == problem.profit[packing.x >= 0].sum() <= packing.bound


@st.composite
def problems(draw: st.DrawFn) -> MultipleKnapsack:
    n, m = draw(st.integers(0, 7)), draw(st.integers(0, 3))
    largest = draw(st.sampled_from([2, 6, 30, 1000]))
    weight = st.lists(st.integers(0, largest), min_size=n, max_size=n)
    profit = st.lists(st.integers(-1, largest), min_size=n, max_size=n)
    capacity = st.lists(st.integers(0, 3 * largest), min_size=m, max_size=m)
    return MultipleKnapsack(
        np.array(draw(profit), dtype=np.int64),
        np.array(draw(weight), dtype=np.int64),
        np.array(draw(capacity), dtype=np.int64),
    )


@given(problems())
@settings(max_examples=200, deadline=None)
def test_every_answer_is_the_best_of_all_packings(problem):
    packing = solve_multiple(problem)
    check(problem, packing)
    assert packing.is_optimal
    assert packing.profit == best_profit(problem)


KINDS = ["uncorrelated", "weakly", "strongly", "subset-sum"]


@given(st.sampled_from(KINDS), st.integers(0, 10**6), st.integers(2, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_drawn_problems_are_solved_like_by_brute_force(kind, seed, knapsacks, similar):
    problem = drawn(kind, 7, knapsacks, seed, similar=similar)
    packing = solve_multiple(problem)
    check(problem, packing)
    assert packing.is_optimal
    assert packing.profit == best_profit(problem)


@given(problems(), st.sampled_from(["small ones first", "patterns", "items"]))
@settings(max_examples=200, deadline=None)
def test_each_search_finds_the_best_without_the_others(problem, which):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searches, "STARTS", 0)
        patch.setattr(searches, "SPLITS", 0)
        if which != "small ones first":
            patch.setattr(searches.completion, "MOST_NODES", 0)
        if which != "patterns":
            patch.setattr(searches, "MOST_PRICED", 0)
        packing = solve_multiple(problem)
    check(problem, packing)
    assert packing.is_optimal
    assert packing.profit == best_profit(problem)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("items", "knapsacks", "similar"), [(12, 4, True), (13, 3, False)])
def test_larger_problems_are_solved_like_by_highs(kind, items, knapsacks, similar):
    problem = drawn(kind, items, knapsacks, seed=items, similar=similar)
    peer = highs.solve(as_model(problem), EngineOptions(rel_gap=0.0, abs_gap=0.999), Progress())
    assert peer.solution_status is SolutionStatus.OPTIMAL
    packing = solve_multiple(problem)
    check(problem, packing)
    assert packing.is_optimal
    assert packing.profit == round(-peer.objective)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("similar", [True, False])
def test_many_items_to_a_knapsack_are_split_without_a_search(kind, similar):
    problem = drawn(kind, 2000, 10, seed=1, similar=similar)
    packing = solve_multiple(problem)
    check(problem, packing)
    assert packing.is_optimal
    assert packing.path == "bound by a surrogate"
    assert packing.work == 0


def plain(profit, weight, capacity) -> MultipleKnapsack:
    return MultipleKnapsack(
        np.array(profit, dtype=np.int64),
        np.array(weight, dtype=np.int64),
        np.array(capacity, dtype=np.int64),
    )


@through(
    ("problem", "best"),
    [
        (plain([], [], [3, 4]), 0),
        (plain([5, 6], [1, 1], []), 0),
        (plain([5, 6], [9, 9], [3, 4]), 0),
        (plain([5, 6], [1, 1], [0, 0]), 0),
        (plain([5, 6, 7], [0, 0, 3], [0, 2]), 11),
        (plain([5, 6, 7], [1, 2, 3], [3, 3]), 18),
        (plain([5] * 12, [4] * 12, [9, 9, 9]), 30),
        (plain([7] * 9, [5] * 9, [5, 5, 14, 4]), 28),
        (plain([3, 3, 3], [2, 2, 2], [1, 1, 3]), 3),
        (plain([3, 4, 5], [3, 3, 3], [3] * 8), 12),
        (plain([-1, 0, 4], [1, 1, 2], [2, 2]), 4),
        (plain([10**17, 10**17 + 1, 9], [2, 2, 1], [3, 1]), 10**17 + 10),
        (plain([9, 10**6, 7, 5, 4], [1, 2, 2**60, 2**59, 2], [2, 2**60, 3]), 10**6 + 20),
        (plain([6, 5, 5, 4], [2**58, 2**57, 2**57, 2**56], [2**58, 2**57]), 14),
    ],
)
def test_awkward_problems(problem, best):
    packing = solve_multiple(problem)
    check(problem, packing)
    assert packing.is_optimal
    assert packing.profit == best


def test_a_negative_capacity_is_infeasible():
    packing = solve_multiple(plain([5], [1], [2, -1]))
    assert packing.x is None
    assert not packing.is_optimal


def test_an_interrupted_search_has_a_packing_and_a_valid_bound():
    problem = drawn("weakly", 16, 4, seed=16)
    progress = Progress()
    progress.interrupt()
    cut = solve_multiple(problem, progress)
    check(problem, cut)
    assert not cut.is_optimal
    assert cut.profit <= solve_multiple(problem).profit < cut.bound


def test_what_is_told_ends_with_the_answer_and_never_gets_worse():
    told: list[tuple[int, int]] = []
    packing = solve_multiple(
        drawn("weakly", 16, 4, seed=16), tell=lambda profit, bound: told.append((profit, bound))
    )
    assert told[-1] == (packing.profit, packing.bound)
    assert told == sorted(told, key=lambda pair: (pair[0], -pair[1]))


def test_the_same_problem_has_the_same_answer():
    one, other = (solve_multiple(drawn("weakly", 16, 4, seed=16)) for _ in range(2))
    assert np.array_equal(one.x, other.x)
    assert one.work == other.work > 0


@pytest.mark.parametrize(
    ("profit", "weight", "capacity", "words"),
    [
        ([1, 1], [1, -1], [3], "Item 1 has weight -1"),
        ([1, 1], [1], [3], "'weight' has shape"),
        ([2**61, 2**61], [1, 1], [1], "'profit' is not below 2\\^62"),
        ([1, 1], [1, 1], [2**61, 2**61], "'capacity' is not below 2\\^62"),
    ],
)
def test_what_cannot_be_treated_is_refused(profit, weight, capacity, words):
    with pytest.raises(ProblemError, match=words):
        plain(profit, weight, capacity)
