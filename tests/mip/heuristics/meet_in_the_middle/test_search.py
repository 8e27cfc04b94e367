from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.budget import Budget
from solvers.mip.heuristics.meet_in_the_middle import lists as lists_module
from solvers.mip.heuristics.meet_in_the_middle.four_lists import (
    SOURCE,
    MeetInTheMiddle,
    MeetInTheMiddleSearch,
    Status,
)
from solvers.mip.heuristics.meet_in_the_middle.lists import make_lists
from solvers.mip.heuristics.meet_in_the_middle.sums import find_sums
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.incumbents import Found, Pool
from tests.mip.context_of import Taking, bounds_of, context_of
from tests.mip.heuristics.meet_in_the_middle.models import best_by_trying, market_split


class Book:
    """Takes points, all checked."""

    def __init__(self, model: MipModel) -> None:
        self.model = model
        self.pool = Pool(8, model.integers)

    def submit(self, x: np.ndarray, source: str) -> bool:
        assert source == SOURCE
        assert is_feasible(self.model, x)
        return self.pool.add(Found(x, self.model.objective_at(x), 0.0, source))

    def best(self):
        best = self.pool.best
        return (np.inf, None) if best is None else (best.objective, best.x)


def searched(
    model: MipModel, seed: int = 0, work: float = np.inf
) -> tuple[MeetInTheMiddleSearch, Book]:
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    book = Book(model)
    search = MeetInTheMiddleSearch(sums, book.submit, book.best, seed)
    search.run(Budget(work=work))
    return search, book


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 3),
    columns=st.integers(1, 9),
    counts=st.integers(2, 3),
    both=st.booleans(),
)
def test_the_best_point_is_found_and_proven(seed, rows, columns, counts, both):
    model = market_split(seed, rows, columns, counts=counts, both_ways=both)
    best = best_by_trying(model, columns)
    search, book = searched(model, seed)
    if best <= 8.0:  # up to there all deviations are tried
        assert search.proven == book.pool.objective == pytest.approx(best)
    assert search.proven <= best <= book.pool.objective


@pytest.mark.parametrize("seed", range(3))
def test_forty_columns_are_searched_through(seed):
    model = market_split(seed, 4, 34, both_ways=True)
    search, book = searched(model, seed)
    assert search.proven == book.pool.objective
    again, _ = searched(model, seed + 100)
    assert again.proven == search.proven


def test_several_threads_search_the_same_sums():
    model = market_split(5, 5, 36, both_ways=True)
    alone, _ = searched(model)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    book = Book(model)
    search = MeetInTheMiddleSearch(sums, book.submit, book.best, 0)

    def work() -> None:
        while search.run(Budget()) is Status.SPENT:
            pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert search.proven == alone.proven == book.pool.objective


def test_a_search_goes_on_from_run_to_run():
    model = market_split(7, 5, 36, both_ways=True)
    whole, _ = searched(model)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    book = Book(model)
    search = MeetInTheMiddleSearch(sums, book.submit, book.best, 0)
    runs = 1
    while search.run(Budget(work=1e5)) is Status.SPENT:
        runs += 1
    assert runs > 1
    assert search.proven == whole.proven


def test_where_columns_find_no_room_parts_are_searched(monkeypatch):
    monkeypatch.setattr(lists_module, "MOST_BITS", 24)
    model = market_split(1, 3, 40, both_ways=True)
    search, book = searched(model, work=3e7)
    assert book.pool.objective <= 3.0
    assert search.proven in (-np.inf, 0.0)  # nothing is below nothing


def test_columns_with_very_many_values_are_left_out_of_the_lists():
    model = market_split(1, 2, 3, counts=1_000_000)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    lists = make_lists(sums, np.array([5, 6, 7]), np.random.default_rng(0))
    assert not lists.covers_all
    np.testing.assert_array_equal(lists.fixed, [5, 6, 7])


@pytest.mark.parametrize(
    ("rows", "columns", "is_due"), [(6, 50, True), (4, 90, True), (12, 50, True), (12, 90, False)]
)
def test_sums_that_hardly_ever_meet_are_left_to_others(rows, columns, is_due):
    turns = Taking(MeetInTheMiddle, context_of(market_split(0, rows, columns, both_ways=True)))
    assert (turns.share() > 0.0) == is_due


def test_no_point_at_all_is_proven():
    # even coefficients never give an odd sum, and there is nothing to make up for it
    model = market_split(0, 1, 12)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    even = type(sums)(
        sums.columns, sums.counts, 2 * sums.matrix, np.array([801]), (), sums.base, 0.0
    )
    book = Book(model)
    search = MeetInTheMiddleSearch(even, book.submit, book.best, 0)
    assert search.run(Budget()) is Status.OVER
    assert search.proven == np.inf
    assert not len(book.pool)


def test_a_refused_point_ends_the_search():
    model = market_split(3, 2, 16, both_ways=True)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    search = MeetInTheMiddleSearch(sums, lambda x, source: False, lambda: (np.inf, None), 0)
    assert search.run(Budget()) is Status.REFUSED
    assert search.proven == -np.inf


def test_turns_tell_what_is_proven():
    model = market_split(2, 4, 30, both_ways=True)
    context = context_of(model)
    turns = Taking(MeetInTheMiddle, context)
    assert turns.share() > 0.0
    turns.run(Budget(), 0)
    assert turns.share() == 0.0
    assert bounds_of(context) == [(context.acceptance.pool.objective, SOURCE)]


def test_turns_are_due_nothing_on_other_models():
    model = market_split(2, 4, 30)
    cost = model.cost.copy()
    cost[0] = 1.0
    assert Taking(MeetInTheMiddle, context_of(replace(model, cost=cost))).share() == 0.0
