"""Solves and scalings without progress end; every solve ends, and claims nothing that is wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge
from solvers import pdlp
from solvers.core.lp_answer import LpErrors, judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import alternate_scalings, loop
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.supervision import ScalingStagnation, Stagnation
from solvers.pdlp.termination import Criteria, is_optimal
from tests.cases import through
from tests.pdlp.wild import wild_lp
from tests.properties.exact import Truth, solve_exactly, widened

CRITERIA = Criteria.uniform(1e-4)
HASTY = DEFAULT.changed(stagnation={"from_iterations": 3000})
CLAIMS = {
    SolutionStatus.INFEASIBLE: Truth.INFEASIBLE,
    SolutionStatus.UNBOUNDED: Truth.UNBOUNDED,
}


def statistics(residual: float, gap: float = 0.0) -> LpErrors:
    """Return figures with this primal residual and this relative gap."""
    objective = math.inf if gap >= 1.0 else gap / (1.0 - gap)
    if math.isinf(objective):
        objective = 1e300
    return LpErrors(residual, 0.0, objective, 0.0, side_norm=0.0, cost_norm=0.0)


def given_up_at(errors, begin: float = 1000) -> int | None:
    """Return after how many iterations it is over, of 200 in each block."""
    settings = DEFAULT.changed(stagnation={"from_iterations": begin})
    watch = Stagnation(settings.stagnation, CRITERIA)
    for block, error in enumerate(errors, 1):
        if watch.is_over(200 * block, statistics(error)):
            return 200 * block
    return None


def test_without_progress_it_is_over_at_the_first_iteration_allowed() -> None:
    assert given_up_at([1.0] * 100) == 1000


def test_nothing_is_given_up_while_it_comes_nearer() -> None:
    assert given_up_at([10.0 ** (-block / 5) for block in range(30)]) is None


def test_after_progress_it_waits_for_three_times_the_iterations() -> None:
    assert given_up_at([1.0] * 4 + [0.1] * 100) == 3000


def test_falling_back_and_recovering_is_no_progress() -> None:
    swinging = [10.0 ** (2 + 2 * math.cos(block)) for block in range(1, 200)]
    assert given_up_at([1.0, *swinging]) == 1000


def test_creeping_counts_once_it_has_come_far_enough() -> None:
    creeping = [10.0 ** (-block / 60) for block in range(60)]  # half a decade in 6000 iterations
    assert given_up_at(creeping) == 1000
    assert given_up_at(creeping, begin=7000) is None


@pytest.mark.parametrize("error", [math.nan, math.inf])
def test_errors_that_are_no_numbers_are_no_progress(error: float) -> None:
    assert given_up_at([error] * 100) == 1000


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_every_solve_of_a_wild_problem_ends_and_claims_nothing_wrong(first: int) -> None:
    options = EngineOptions(device="cpu", threads=1)
    for seed in range(first, first + 10):
        problem = wild_lp(seed)
        outcome = pdlp.solve(problem, options, Progress(), settings=HASTY)
        status = outcome.solution_status
        if status in CLAIMS:
            near = widened(problem, options.tolerance)  # where a ray comes with a feasible point
            allowed = {solve_exactly(problem).truth, solve_exactly(near).truth}
            assert CLAIMS[status] in allowed, seed
        elif status is SolutionStatus.OPTIMAL:
            answer = judge(problem, outcome.x, outcome.row_dual)
            assert is_optimal(answer.statistics, Criteria.uniform(options.tolerance)), seed
        else:
            assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE, seed
        if outcome.x is not None and status is not SolutionStatus.UNBOUNDED:
            assert np.isfinite(outcome.x).all()


def test_a_point_that_is_rejected_for_ever_is_given_up(monkeypatch) -> None:
    monkeypatch.setattr(loop, "judged", lambda loop, x, y: None)
    problem = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], 1.0, np.inf)
    outcome = pdlp.solve(problem, EngineOptions(device="cpu"), Progress(), settings=HASTY)
    assert outcome.statistics["iterations"] == HASTY.stagnation.from_iterations


@pytest.fixture
def hasty(monkeypatch):
    """Give solves up after 3000 iterations wherever they come from."""
    monkeypatch.setattr(
        alternate_scalings, "Stagnation", lambda _, criteria: Stagnation(HASTY.stagnation, criteria)
    )


@pytest.mark.parametrize("crossover", ["auto", "off"])
@pytest.mark.parametrize("presolve", [True, False])
@through("seed", [9, 13, 16, 26, 43])
def test_what_is_given_up_is_solved_by_another_engine(hasty, seed, presolve, crossover) -> None:
    problem = wild_lp(seed)
    wishes = {"method": "pdlp", "device": "cpu", "presolve": presolve, "crossover": crossover}
    outcome = gpu_bridge.solve(problem, **wishes)
    assert "Giving up after" in outcome.log
    truth = solve_exactly(problem)
    if outcome.solution_status is SolutionStatus.OPTIMAL:
        expected = pytest.approx(float(truth.objective), rel=1e-5)
        assert outcome.objective == expected
    else:
        assert CLAIMS[outcome.solution_status] is truth.truth


def watch(progress: float, left_before: float = -math.inf) -> ScalingStagnation:
    """Return the watch of a scaling with 6000 iterations, which stays once four decades nearer."""
    settings = replace(DEFAULT.alternation, progress=progress, decades_to_keep=4.0)
    return ScalingStagnation(settings, 6000, CRITERIA, left_before)


def end(stagnation: ScalingStagnation, errors, gap: float = 0.0) -> int | None:
    """Return after how many iterations it is over, of 200 in each block."""
    for block, error in enumerate(errors, 1):
        if stagnation.is_over(200 * block, statistics(error, gap)):
            return 200 * block
    return None


@pytest.mark.parametrize("progress", [0.0, 0.5])
def test_a_scaling_without_progress_ends_at_its_length(progress: float) -> None:
    assert end(watch(progress), [1.0] * 100) == 6000


def test_a_scaling_stays_while_the_error_falls() -> None:
    falling = [10.0 ** (-block / 5) for block in range(100)]
    assert end(watch(0.5), falling) is None
    # the look at 13500 iterations still sees a fall since that at 9000, the next one does not
    assert end(watch(0.5), falling[:50] + [falling[50]] * 200) == 20400


def test_without_progress_asked_for_it_always_ends() -> None:
    assert end(watch(0.0), [10.0**-block for block in range(100)]) == 6000


def test_errors_that_are_no_numbers_are_no_progress_of_a_scaling() -> None:
    assert end(watch(0.5), [math.nan] * 100) == 6000


def test_it_is_the_least_error_that_counts() -> None:
    waves = [10.0 ** (-block / 5) * (1.0 if block % 10 else 50.0) for block in range(100)]
    assert end(watch(0.5), waves) is None


def test_residuals_that_fall_are_progress_though_the_gap_stays_at_one() -> None:
    falling = [10.0 ** (-block / 5) for block in range(100)]
    assert statistics(0.0, gap=1.0).worst == 1.0
    assert end(watch(0.5), falling, gap=1.0) is None
    assert end(watch(0.5), [0.01] * 100, gap=1.0) == 6000


@pytest.mark.parametrize(("left", "is_over"), [(9.0, True), (11.0, False), (-math.inf, True)])
def test_a_scaling_that_has_come_much_nearer_is_kept(left: float, is_over: bool) -> None:
    # a residual of 1e-1 and a gap of 1e-3 are four and two decades above a tenth of the tolerance
    errors = [0.1] * 100
    stagnation = watch(0.5, left)
    assert (end(stagnation, errors, gap=1e-3) is not None) is is_over


def test_nan_is_not_near() -> None:
    stagnation = watch(0.5, 100.0)
    assert end(stagnation, [math.nan] * 100) == 6000
