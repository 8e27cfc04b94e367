"""Warm starts: points for MIPs, whole or partial, bases and points for LPs, and offers."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.outcome import Basis, Outcome, SolutionStatus, Start
from solvers.core.progress import Progress
from solvers.highs import solve
from solvers.highs.in_process import ProgressChannel
from solvers.highs.task import PointsOnly
from tests.cases import through
from tests.highs.models import covering, market_split, packing


@pytest.fixture(scope="module")
def good() -> Outcome:
    """Return a point that branch and bound does not find at its root."""
    return solve(market_split(), EngineOptions(node_limit=600), Progress())


@pytest.fixture(params=["in_thread", "in_child"])
def anywhere(request):
    request.getfixturevalue(request.param)


NO_NODES = EngineOptions(node_limit=0)


def test_a_full_point_is_kept(good, anywhere):
    cold = solve(market_split(), NO_NODES, Progress())
    warm = solve(market_split(), NO_NODES, Progress(), Start(x=good.x))
    assert np.isnan(cold.objective) or good.objective < cold.objective
    assert warm.objective <= good.objective + 1e-6


def test_a_partial_point_is_completed(good):
    partial = good.x.copy()
    partial[~market_split().integrality] = np.nan
    warm = solve(market_split(), NO_NODES, Progress(), Start(x=partial))
    assert warm.objective == pytest.approx(good.objective, abs=1e-6)


@pytest.mark.parametrize("filling", [np.nan, 1e9, -3.4])
def test_a_useless_point_does_no_harm(filling):
    problem = covering(40, 30, integer=True)
    start = Start(x=np.full(problem.num_columns, filling))
    expected = solve(problem, EngineOptions(rel_gap=0.0), Progress()).objective
    outcome = solve(problem, EngineOptions(rel_gap=0.0), Progress(), start)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(expected)


def test_a_basis_makes_the_second_solve_short(anywhere):
    problem = packing(40, 80)
    first = solve(problem, EngineOptions(presolve=False), Progress())
    assert first.statistics["simplex_iterations"] > 10
    again = solve(problem, EngineOptions(), Progress(), Start(basis=first.basis))
    assert again.statistics["simplex_iterations"] == 0
    assert again.objective == pytest.approx(first.objective)


def test_an_optimal_point_without_a_basis_helps_too():
    problem = packing(40, 80)
    first = solve(problem, EngineOptions(presolve=False), Progress())
    again = solve(problem, EngineOptions(presolve=False), Progress(), Start(x=first.x))
    assert again.objective == pytest.approx(first.objective)
    assert again.statistics["simplex_iterations"] < first.statistics["simplex_iterations"] / 2


def test_pdlp_starts_from_a_point_with_duals():
    problem = packing(40, 80)
    options = EngineOptions(presolve=False, lp_algorithm="pdlp", crossover="off")
    first = solve(problem, options, Progress())
    start = Start(x=first.x, row_dual=first.row_dual)
    again = solve(problem, options, Progress(), start)
    counts = [outcome.statistics.get("pdlp_iterations", 0) for outcome in (first, again)]
    assert counts[1] < counts[0] / 2


def test_a_wrong_basis_is_repaired():
    problem = packing(20, 40)
    all_basic = Basis(np.ones(40, dtype=np.int8), np.ones(20, dtype=np.int8))
    outcome = solve(problem, EngineOptions(), Progress(), Start(basis=all_basic))
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve(problem, EngineOptions(), Progress()).objective)


def test_points_offered_during_the_search_are_taken(good, anywhere):
    offers = [good.x]
    outcome = solve(
        market_split(),
        EngineOptions(node_limit=20),
        Progress(),
        offers=lambda: offers.pop() if offers else None,
    )
    assert offers == []
    assert outcome.objective <= good.objective + 1e-6


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
@through("seed", range(3))
def test_bounds_of_a_completion_are_not_those_of_the_model(part, seed, anywhere):
    problem = covering(30, 40, seed=seed, integer=True)
    best = solve(problem, EngineOptions(), Progress())
    dear = problem.upper.copy()  # feasible, and as far from the optimum as can be
    dear[np.random.default_rng(seed).random(dear.size) < part] = np.nan
    progress = Progress()
    outcome = solve(problem, EngineOptions(), progress, Start(x=dear))
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(best.objective)
    assert progress.best_bound <= best.objective + 1e-6


def test_points_of_a_completion_count():
    problem = market_split()
    partial = solve(problem, EngineOptions(node_limit=600), Progress()).x.copy()
    kept = problem.objective_at(partial)
    partial[np.flatnonzero(problem.integrality)[::3]] = np.nan
    progress = Progress()
    outcome = solve(problem, NO_NODES, progress, Start(x=partial))
    assert outcome.objective <= kept + 1e-6
    assert progress.best_objective == pytest.approx(outcome.objective)


def test_a_completion_has_a_part_of_the_time_alone():
    class Clock(ProgressChannel):
        left = 100.0

        def time_left(self) -> float:
            return self.left

    clock = Clock(Progress())
    part = PointsOnly(clock, 0.1)
    assert part.time_left() == pytest.approx(10.0)
    clock.left = 95.0
    assert part.time_left() == pytest.approx(5.0)
    clock.left = 50.0
    assert part.time_left() == 0.0
    assert PointsOnly(ProgressChannel(Progress()), 0.1).time_left() == np.inf
