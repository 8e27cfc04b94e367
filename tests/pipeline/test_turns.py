"""PDLP and interior point take turns on one GPU, by when each of them is likely to end."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from gpu_bridge.options import Options, make_options
from gpu_bridge.pipeline import contenders as module
from gpu_bridge.pipeline import turns
from gpu_bridge.pipeline.contenders import GPU_IPM, PDLP, make_contenders
from gpu_bridge.pipeline.race import ContenderProgress
from gpu_bridge.pipeline.routes import interior_point
from gpu_bridge.pipeline.routes.shared_presolve import SharedPresolve
from gpu_bridge.pipeline.turns import ASKED, BEGINS, EARLIEST_SECONDS, OBSERVED, Forecast, Turns
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.process_state import Analyses
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.interior_point import cudss_library
from tests.problems import LINEAR
from tests.soon import LONG


class Clock(Progress):
    """Shows the time that it is told."""

    now = 0.0

    @property
    def seconds(self) -> float:
        return self.now


def told(factor: float, until: float, tolerance: float = 1e-6) -> Forecast:
    """Return the forecast of an error that falls by a factor in each second, with bumps."""
    forecast = Forecast(tolerance)
    for step in range(round(100 * until) + 1):
        bump = 10.0 if step % 7 == 3 else 1.0
        forecast.tell(0.01 * step, bump * factor ** (-0.01 * step))
    return forecast


@pytest.mark.parametrize("until", [1.0, 2.0, 4.0])
def test_an_error_that_falls_steadily_is_extrapolated(until: float) -> None:
    assert told(10.0, until).end(until) == pytest.approx(6.0, rel=0.1)
    assert told(1e3, until).end(until) == pytest.approx(max(2.0, until), rel=0.1)


def test_an_error_that_stands_still_has_no_end() -> None:
    forecast = told(10.0, 1.0)
    assert forecast.end(50.0) == math.inf  # nothing has been heard since
    forecast.tell(1.5, math.nan)
    assert forecast.reports == 101


def reporting(progress: Progress, clock: Clock, factor: float) -> None:
    """Report as PDLP does, one block in each hundredth of a second."""
    for step in range(1, OBSERVED + 11):
        clock.now = 0.01 * step
        error = factor ** (-clock.now)
        progress.iteration(
            200 * step, primal_residual=error, dual_residual=0.1 * error, gap=0.0, primal_weight=1.0
        )


@pytest.mark.parametrize(("factor", "begins"), [(1e30, False), (10.0, True)])
def test_interior_point_begins_where_pdlp_is_likely_to_take_longer(
    factor: float, begins: bool
) -> None:
    clock, both = Clock(), Turns(100_000, 1e-6)
    reporting(both.first_order(clock), clock, factor)
    waiting = threading.Thread(target=both.prepare, args=(clock,))
    waiting.start()
    waiting.join(5 * LOOK_AGAIN)
    assert waiting.is_alive() is not begins
    clock.interrupt()
    waiting.join()


def test_contenders_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, bool]] = []
    within: list[Progress] = []
    shared: list[SharedPresolve] = []
    near = Outcome(
        SolutionStatus.NOTHING,
        StopReason.TIME_LIMIT,
        candidate=np.zeros(LINEAR[0].problem.num_columns),
        row_dual=np.zeros(LINEAR[0].problem.num_rows),
    )

    def route(
        problem: Problem,
        options: Options,
        progress: Progress,
        *_: object,
        hedge: bool,
        unasked: bool,
        presolved: SharedPresolve,
    ) -> Outcome:
        shared.append(presolved)
        within.append(ContenderProgress(progress, "within"))
        for step in range(OBSERVED):
            within[0].iteration(step, primal_residual=1.0, dual_residual=1.0, gap=1.0)
        within[0].hold(near)
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    def run(
        problem: Problem,
        options: Options,
        progress: Progress,
        analyses: Analyses,
        latest: Callable[[], Start | None],
        only_there: bool,
        presolved: SharedPresolve,
    ) -> Outcome:
        shared.append(presolved)
        assert (options.device, options.crossover, only_there) == ("cuda", "off", True)
        seen.append(("analysing", within[0].shares_gpu))
        start = latest()
        assert start is not None
        assert (start.x, start.row_dual) == (near.candidate, near.row_dual)
        seen.append(("iterating", within[0].shares_gpu))
        return Outcome(SolutionStatus.NOTHING, StopReason.EXHAUSTED)

    monkeypatch.setattr(turns, "BEGINS", 0.0)
    monkeypatch.setattr(module, "pdlp_route", route)
    monkeypatch.setattr(interior_point, "_by_engine", run)
    monkeypatch.setattr(cudss_library, "library", lambda: None)
    for contender in make_contenders(
        (PDLP, GPU_IPM), "cuda", LINEAR[0].problem, make_options(), None
    ):
        contender.run(Progress())
    assert seen == [("analysing", True), ("iterating", True)]
    assert not within[0].shares_gpu
    assert shared[0] is shared[1], "presolve is made once for both"


def test_interior_point_begins_with_the_point_that_it_asks_for() -> None:
    clock, both = Clock(), Turns(100_000, 1e-6)
    clock.now = 10.0
    within = ContenderProgress(both.first_order(clock), "within")
    near = Outcome(
        SolutionStatus.NOTHING, StopReason.TIME_LIMIT, candidate=np.ones(2), row_dual=np.ones(1)
    )

    def hand_out() -> None:
        while not within.wants_point:
            time.sleep(LOOK_AGAIN)
        within.hold(near)

    assert not within.wants_point
    first_order = threading.Thread(target=hand_out)
    first_order.start()
    start = both.begin(clock)
    first_order.join()
    assert start is not None
    assert (start.x, start.row_dual) == (near.candidate, near.row_dual)
    assert not within.wants_point


def test_interior_point_on_the_gpu_does_not_begin_after_the_end() -> None:
    (contender,) = make_contenders((GPU_IPM,), "cuda", LINEAR[0].problem, make_options(), None)
    over = ContenderProgress(Progress(), GPU_IPM)
    over.abandon()
    assert contender.run(over).solution_status is SolutionStatus.NOTHING


def test_a_turn_that_has_begun_is_not_waited_for_again() -> None:
    clock, both = (
        Clock(10.5),
        Turns(100_000, 1e-6),
    )  # a limit before which PDLP does not stand still
    clock.now = 10.0  # without reports it is late by then
    assert both.begin(clock) is None
    clock.now = 0.0
    reporting(both.first_order(clock), clock, 1e30)
    again = threading.Thread(target=both.begin, args=(clock,), daemon=True)
    again.start()
    again.join(10.0)
    assert not again.is_alive()


def iterating(clock: Clock, error: float = 1.0) -> tuple[Turns, threading.Thread]:
    """Return turns of which interior point has one, and PDLP's thread, which reports once more."""
    both = Turns(100_000, 1e-6)
    clock.now = 10.0
    first_order = both.first_order(clock)
    both.begin(clock)
    report = {"primal_residual": error, "dual_residual": error, "gap": error}
    thread = threading.Thread(target=lambda: first_order.iteration(200, **report), daemon=True)
    thread.start()
    return both, thread


@pytest.mark.parametrize("how", ["end", "overdue", "limit"])
def test_pdlp_stands_still_while_interior_point_iterates(how: str) -> None:
    clock = Clock()
    both, thread = iterating(clock)
    thread.join(5 * LOOK_AGAIN)
    assert thread.is_alive()
    if how == "end":
        both.end()
    elif how == "overdue":
        clock.now += both.interior_seconds
    else:
        clock.interrupt()
    thread.join(10.0)
    assert not thread.is_alive()


def test_pdlp_that_has_reached_the_tolerance_does_not_stand_still() -> None:
    _, thread = iterating(Clock(), error=1e-6)
    thread.join(10.0)
    assert not thread.is_alive()


def test_pdlp_goes_on_where_the_limit_leaves_interior_point_no_time() -> None:
    clock = Clock(10.5)
    _, thread = iterating(clock)
    thread.join(10.0)
    assert not thread.is_alive()


def test_interior_point_of_a_large_model_prepares_before_pdlp_has_told_anything() -> None:
    clock, both = Clock(), Turns(4_000_000, 1e-6)
    both.first_order(clock)
    waiting = threading.Thread(target=both.prepare, args=(clock,))
    waiting.start()
    waiting.join(5 * LOOK_AGAIN)
    assert waiting.is_alive()
    clock.now = EARLIEST_SECONDS
    waiting.join(10.0)
    assert not waiting.is_alive()


def test_a_point_that_is_held_is_taken_where_none_is_nearer() -> None:
    clock, both = Clock(10.5), Turns(2_000_000_000, 1e-6)  # which has hours to hand one out
    clock.now = 10.0
    first_order = both.first_order(clock)
    near = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT, candidate=np.ones(2))
    first_order.hold(near)
    taken: list[Start | None] = []
    latest = threading.Thread(target=lambda: taken.append(both.point(clock)), daemon=True)
    latest.start()
    latest.join(3 * LOOK_AGAIN)
    assert not taken
    for step in range(ASKED):
        first_order.iteration(step, primal_residual=1.0, dual_residual=1.0, gap=1.0)
    latest.join(10.0)
    assert taken[0] is not None
    assert taken[0].x is near.candidate


@pytest.mark.parametrize(("factor", "shared"), [(1e10, False), (10.0, True)])
def test_pdlp_makes_room_for_an_analysis_where_it_is_likely_to_be_later(
    factor: float, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BEGINS", 0.0)
    clock, both = Clock(), Turns(100_000, 1e-6)
    first_order = both.first_order(clock)
    reporting(first_order, clock, factor)
    assert not first_order.shares_gpu
    both.prepare(clock)
    assert first_order.shares_gpu is shared
    both.end()
    assert not first_order.shares_gpu


def test_pdlp_has_the_gpu_alone_for_a_part_of_what_interior_point_takes() -> None:
    clock, both = Clock(), Turns(100_000, 1e-6)
    first_order = both.first_order(clock)
    reporting(first_order, clock, 10.0)
    both.prepare(clock)
    waiting = threading.Thread(target=both.begin, args=(clock,), daemon=True)
    waiting.start()
    waiting.join(5 * LOOK_AGAIN)
    assert waiting.is_alive()
    assert not first_order.shares_gpu
    clock.now = BEGINS * both.interior_seconds
    waiting.join(LONG)
    assert not waiting.is_alive()
    assert first_order.shares_gpu
