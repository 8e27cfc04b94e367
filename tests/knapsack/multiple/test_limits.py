"""What a search of several knapsacks that was stopped still knows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.knapsack.engine import solve
from solvers.knapsack.multiple import engine as searches
from solvers.knapsack.multiple.engine import solve_multiple
from solvers.knapsack.multiple.items import NOWHERE, Best
from solvers.native.knapsack_multiple_split import improve
from solvers.native.knapsack_multiple_tree import search
from tests.knapsack.looks import Looks
from tests.knapsack.multiple.instances import as_model, best_profit, drawn

KINDS = ["uncorrelated", "weakly", "strongly", "subset-sum"]


@pytest.fixture(scope="module")
def hasty():
    """Look after every few nodes, and let no improvement make that unnecessary."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searches, "FIRST_VISITS", 8)
        patch.setattr(searches, "MOST_VISITS", 8)
        patch.setattr(searches, "ROUNDS", 1)
        patch.setattr(searches, "SPLITS", 1)
        yield


@pytest.mark.usefixtures("hasty")
@given(
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.integers(0, 40),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_a_search_that_was_stopped_has_a_packing_and_a_valid_bound(
    kind, seed, knapsacks, looks, similar
):
    problem = drawn(kind, 7, knapsacks, seed, similar=similar)
    cut = solve_multiple(problem, Looks(looks))
    assert problem.fits(cut.x)
    assert cut.profit == problem.profit_of(cut.x) <= best_profit(problem) <= cut.bound


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("looks", [0, 2, 5, 10, 20, 50, 100])
def test_a_longer_search_that_was_stopped_has_them_too(looks):
    problem = drawn("weakly", 16, 4, seed=16)
    best = solve_multiple(problem).profit
    cut = solve_multiple(problem, Looks(looks))
    assert problem.fits(cut.x)
    assert cut.profit == problem.profit_of(cut.x) <= best <= cut.bound


def test_the_engine_answers_with_the_point_and_a_bound_on_the_model():
    problem = drawn("weakly", 16, 4, seed=16)
    best = solve_multiple(problem).profit
    outcome = solve(as_model(problem), EngineOptions(), Looks(3))
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound <= -best <= outcome.objective
    assert outcome.x.shape == (64,)


def test_compiled_loops_end_where_they_are_told_to():
    problem = drawn("weakly", 16, 4, seed=16)
    stop = np.ones(1, dtype=np.int8)
    place = np.full(16, NOWHERE, dtype=np.int64)
    numbers = problem.profit, problem.weight, problem.capacity
    assert improve(*numbers, place, 10**9, 100, 1, stop) == 0
    assert (place == NOWHERE).all()
    tree, choice = searches.make_tree(problem, 0), np.zeros(16, dtype=np.int64)
    assert search(tree, choice, 1000, stop) == searches.PAUSED
    assert tree.control[searches.NODES] == 0
    stop[0] = 0
    assert improve(*numbers, place, 10**9, 100, 1, stop) == problem.profit_of(place) > 0
    search(tree, choice, 1000, stop)
    assert tree.control[searches.NODES] == 1000


def test_who_was_told_to_end_is_over_for_good():
    best = Best(drawn("weakly", 16, 4, seed=16), Looks(10**9), lambda profit, bound: None)
    assert not best.over
    best.ring()
    assert best.over
