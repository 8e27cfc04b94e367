"""What a search with several capacities that was stopped still knows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.knapsack.engine import solve
from solvers.knapsack.multidimensional import engine as searches
from solvers.knapsack.multidimensional import tree, worker_pool
from solvers.knapsack.multidimensional.engine import solve_multidimensional
from tests.knapsack.looks import Looks
from tests.knapsack.multidimensional.instances import best_profit, drawn


@pytest.fixture(scope="module")
def hasty():
    """Look after every few nodes, of which few are cut off by what was found before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_pool, "FIRST_WORK", 1)
        patch.setattr(worker_pool, "MOST_WORK", 1)
        patch.setattr(tree, "LEAST_NODES", 1)
        patch.setattr(searches, "CORES", ())
        yield


@pytest.mark.usefixtures("hasty")
@given(
    st.integers(0, 10**6),
    st.integers(2, 6),
    st.sampled_from([0.25, 0.5, 0.75]),
    st.integers(0, 60),
)
@settings(max_examples=80, deadline=None)
def test_a_search_that_was_stopped_has_a_packing_and_a_valid_bound(seed, rows, tightness, looks):
    problem = drawn(13, rows, tightness, seed)
    cut = solve_multidimensional(problem, Looks(looks), threads=1)
    assert problem.fits(cut.x)
    assert cut.profit == problem.profit[cut.x].sum() <= best_profit(problem) <= cut.bound


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("looks", [0, 5, 20, 80, 160])
def test_a_longer_search_that_was_stopped_has_them_too(looks):
    problem = drawn(50, 5, 0.5, seed=4)
    best = solve_multidimensional(problem, Looks(10**9)).profit
    told = []
    cut = solve_multidimensional(problem, Looks(looks), tell=lambda *pair: told.append(pair))
    assert problem.fits(cut.x)
    assert cut.profit == problem.profit[cut.x].sum() <= best <= cut.bound
    assert all(profit <= best <= bound for profit, bound in told)


def test_the_engine_answers_with_the_point_and_a_bound_on_the_model():
    problem = drawn(50, 5, 0.5, seed=4)
    model = Problem.from_arrays(
        problem.profit.astype(float),
        problem.weight.astype(float),
        row_upper=problem.capacity.astype(float),
        upper=1.0,
        integrality=[True] * 50,
        maximize=True,
    )
    best = solve_multidimensional(problem, Looks(10**9)).profit
    outcome = solve(model, EngineOptions(), Looks(0))
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.bound <= -best <= outcome.objective
    assert -outcome.objective == problem.profit @ outcome.x
