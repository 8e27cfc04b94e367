"""Callbacks on better points: what they are told, in which order, and how they end a solve."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.improvement import WAITING_BYTES, Improvement, Sighting, Watcher
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.errors import OptionError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.locations import MODELS
from tests.soon import soon

MODEL = MODELS / "rout.mps.gz"

SOON = 60.0
"""Seconds within which what has to happen happens on the slowest machine."""


def knapsack(maximize: bool = False) -> Problem:
    """Three items of which two fit; minimised, the values are losses avoided."""
    sign = 1.0 if maximize else -1.0
    return Problem.from_arrays(
        sign * np.array([4.0, 5.0, 6.0]),
        [[1.0, 1.0, 1.0]],
        -np.inf,
        2.0,
        upper=1.0,
        integrality=[True, True, False],
        maximize=maximize,
        offset=sign * 10.0,
    )


def watch(
    told: Callable[[Improvement], object], problem: Problem, **options: object
) -> BridgeProgress:
    """Return a progress that tells a function of what it hears about a problem."""
    progress = BridgeProgress(maximize=problem.maximize, watcher=Watcher(told))
    progress.header(problem, make_options(options))
    return progress


def answer(problem: Problem, x: list[float]) -> Outcome:
    """Return an outcome with a point, in the sense of the model."""
    point = np.array(x)
    sign = -1.0 if problem.maximize else 1.0
    objective = sign * problem.objective_at(point)
    status, reason = SolutionStatus.OPTIMAL, StopReason.CONVERGED
    return Outcome(
        status, reason, objective=objective, bound=objective, x=point, engine="e", problem=problem
    )


@pytest.mark.parametrize("maximize", [False, True])
def test_each_better_point_is_told_once_in_order_and_in_the_models_sense(maximize: bool) -> None:
    problem, told = knapsack(maximize), []
    progress = watch(told.append, problem)
    progress.incumbent(-14.0, "rounding", np.array([1.0, 0.0, 0.0]))
    progress.incumbent(-14.0, "again", np.array([1.0, 0.0, 0.0]))
    progress.bound(-21.0, "relaxation")
    progress.incumbent(-20.0, "search", np.array([1.0, 0.0, 1.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    sign = 1.0 if maximize else -1.0
    assert [t.objective for t in told] == [sign * 14.0, sign * 20.0, sign * 21.0]
    assert [t.source for t in told] == ["rounding", "search", "e"]
    assert told[0].bound == sign * np.inf
    assert told[0].gap == np.inf
    assert told[1].bound == sign * 21.0
    assert told[1].gap == pytest.approx(1.0 / 20.0)
    assert told[1].values.tolist() == [1.0, 0.0, 1.0]
    assert 0.0 <= told[0].seconds <= told[1].seconds


def test_the_answer_is_told_only_if_it_is_news() -> None:
    problem, told = knapsack(), []
    progress = watch(told.append, problem)
    progress.incumbent(-21.0, "search", np.array([0.0, 1.0, 1.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert [t.source for t in told] == ["search"]


def test_points_that_do_not_hold_are_not_told() -> None:
    problem, told = knapsack(), []
    progress = watch(told.append, problem)
    progress.incumbent(-16.0, "fraction", np.array([0.5, 0.0, 1.0]))
    progress.incumbent(-25.0, "too much", np.array([1.0, 1.0, 1.0]))
    progress.incumbent(-26.0, "no number", np.array([1.0, np.nan, 1.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert [t.source for t in told] == ["e"]


def test_integers_are_whole_and_the_objective_is_that_of_the_values() -> None:
    problem, told = knapsack(), []
    progress = watch(told.append, problem)
    progress.incumbent(-20.999999, "search", np.array([0.0, 1.0 - 2e-7, 1.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert told[0].values.tolist() == [0.0, 1.0, 1.0]
    assert told[0].objective == -21.0


def test_the_callers_array_is_copied() -> None:
    problem, told = knapsack(), []
    progress = watch(told.append, problem)
    x = np.array([1.0, 0.0, 0.0])
    progress.incumbent(-14.0, "rounding", x)
    x[:] = 7.0
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert told[0].values.tolist() == [1.0, 0.0, 0.0]


def test_engines_do_not_wait_for_a_slow_function() -> None:
    problem = knapsack()
    release, entered = threading.Event(), threading.Event()
    told = []

    def slow(improvement: Improvement) -> None:
        entered.set()
        assert release.wait(SOON)
        told.append(improvement.objective)

    progress = watch(slow, problem)
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    assert entered.wait(SOON)
    progress.incumbent(-15.0, "two", np.array([0.0, 1.0, 0.0]))
    progress.incumbent(-16.0, "three", np.array([0.0, 0.0, 1.0]))
    assert told == []  # and yet all of them were reported
    release.set()
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert told == [-14.0, -15.0, -16.0, -21.0]


def test_calls_never_overlap_though_engines_report_from_many_threads() -> None:
    problem, inside, worst, told = knapsack(), [], [], []

    def function(improvement: Improvement) -> None:
        inside.append(1)
        worst.append(len(inside))
        time.sleep(0.001)
        told.append(improvement.objective)
        inside.pop()

    progress = watch(function, problem)

    def report(first: float) -> None:
        for k in range(20):
            x2 = (first + k) / 100.0
            progress.incumbent(-10.0 - 6.0 * x2, "many", np.array([0.0, 0.0, x2]))

    threads = [threading.Thread(target=report, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert max(worst) == 1
    assert told == sorted(told, reverse=True)
    assert told[-1] == -21.0


def test_what_waits_for_a_slow_function_takes_bounded_memory_and_keeps_the_newest() -> None:
    release, told = threading.Event(), []

    def slow(improvement: Improvement) -> None:
        assert release.wait(SOON)
        told.append(improvement.objective)

    watcher = Watcher(slow)
    large = np.zeros(WAITING_BYTES // 16)  # two of them may wait
    for k in range(6):
        watcher.see(Sighting(-float(k), np.nan, 0.0, "s", large))
    release.set()
    watcher.finish(None, lambda: SOON)
    assert told[-2:] == [-4.0, -5.0]
    assert len(told) <= 3


def test_true_ends_the_solve_and_nothing_is_told_afterwards() -> None:
    problem, told = knapsack(), []

    def first(improvement: Improvement) -> bool:
        told.append(improvement.objective)
        return True

    progress = watch(first, problem)
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    assert soon(lambda: progress.interrupted)
    assert progress.should_stop() is StopReason.INTERRUPTED
    progress.incumbent(-16.0, "two", np.array([0.0, 0.0, 1.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert told == [-14.0]
    assert "on_solution returned True, which ends the solve." in progress.text


@pytest.mark.parametrize("result", [None, False, 1, "yes", np.False_])
def test_nothing_but_true_ends_the_solve(result: object) -> None:
    problem = knapsack()
    progress = watch(lambda improvement: result, problem)
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert not progress.interrupted


def test_numpys_true_ends_the_solve_too() -> None:
    progress = watch(lambda improvement: np.bool_(True), knapsack())
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    assert soon(lambda: progress.interrupted)


def test_an_error_ends_the_solve_and_waits_to_be_raised() -> None:
    problem, calls = knapsack(), []

    def fails(improvement: Improvement) -> None:
        calls.append(improvement)
        raise ZeroDivisionError("in the callback")

    watcher = Watcher(fails)
    progress = BridgeProgress(watcher=watcher)
    progress.header(problem, make_options())
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    assert soon(lambda: progress.interrupted)
    progress.incumbent(-16.0, "two", np.array([0.0, 0.0, 1.0]))
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert len(calls) == 1
    assert "on_solution raised ZeroDivisionError" in progress.text
    with pytest.raises(ZeroDivisionError, match="in the callback"):
        watcher.raise_error()


def test_a_function_that_hangs_does_not_keep_the_solve_beyond_its_limit() -> None:
    problem, release = knapsack(), threading.Event()
    progress = BridgeProgress(0.1, watcher=Watcher(lambda improvement: release.wait(SOON)))
    progress.header(problem, make_options())
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    before = time.monotonic()
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert time.monotonic() - before < SOON / 2
    release.set()


def test_an_interrupted_solve_does_not_wait_for_a_function_that_hangs() -> None:
    problem, release = knapsack(), threading.Event()
    progress = watch(lambda improvement: release.wait(SOON), problem)
    progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
    progress.interrupt()
    before = time.monotonic()
    progress.footer(answer(problem, [0.0, 1.0, 1.0]))
    assert time.monotonic() - before < SOON / 2
    release.set()


def test_a_solve_that_fails_leaves_no_thread_behind() -> None:
    problem, told = knapsack(), []
    before = threading.active_count()
    with suppress(ZeroDivisionError), watch(told.append, problem) as progress:
        progress.incumbent(-14.0, "one", np.array([1.0, 0.0, 0.0]))
        raise ZeroDivisionError
    assert soon(lambda: threading.active_count() <= before)


def test_the_function_cannot_spoil_the_answer() -> None:
    problem = knapsack()

    def spoils(improvement: Improvement) -> None:
        improvement.values[:] = 9.0

    outcome = answer(problem, [0.0, 1.0, 1.0])
    watch(spoils, problem).footer(outcome)
    assert outcome.x is not None
    assert outcome.x.tolist() == [0.0, 1.0, 1.0]


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(OptionError, match="'on_solution' takes a function"):
        gb.solve(knapsack(), on_solution=3)  # type: ignore[arg-type]


def test_solve_tells_of_every_better_point_to_the_optimum() -> None:
    told: list[Improvement] = []
    outcome = gb.solve(MODEL, on_solution=told.append, rel_gap=0.3, method="highs")
    objectives = [t.objective for t in told]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == pytest.approx(outcome.objective)
    problem = outcome.problem
    assert problem is not None
    for one in told:
        assert one.source == "highs"
        assert problem.objective_at(one.values) == pytest.approx(one.objective)
        whole = one.values[problem.integrality]
        np.testing.assert_array_equal(whole, np.rint(whole))


@pytest.mark.parametrize("presolve", [True, False])
def test_true_ends_a_real_solve_with_the_best_point(presolve: bool) -> None:
    told: list[Improvement] = []

    def third(improvement: Improvement) -> bool:
        told.append(improvement)
        return len(told) == 2

    outcome = gb.solve(MODEL, on_solution=third, presolve=presolve, method="highs")
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.objective <= told[-1].objective
    assert len(told) == 2


def test_an_error_in_the_function_is_raised_by_solve() -> None:
    def fails(improvement: Improvement) -> None:
        raise KeyError(improvement.source)

    with pytest.raises(KeyError, match="highs"):
        gb.solve(MODEL, on_solution=fails, method="highs")


def test_a_linear_program_has_its_answer_told() -> None:
    told: list[Improvement] = []
    problem = knapsack().relaxation()
    outcome = gb.solve(problem, on_solution=told.append)
    assert [t.objective for t in told] == [outcome.objective]


def test_a_function_may_solve_a_problem_itself() -> None:
    inner: list[float] = []

    def solves(improvement: Improvement) -> bool:
        inner.append(gb.solve(knapsack(), method="highs").objective)
        return True

    gb.solve(MODEL, on_solution=solves, method="highs")
    assert inner == [-21.0]
