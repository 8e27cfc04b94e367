"""Answers that engines hand over on their way count where a race ends without a better one."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from gpu_bridge.pipeline.race import Contender, ContenderProgress, race
from gpu_bridge.verify.verify import verify
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.progress import Progress
from tests.pipeline.made_up_engines import (
    DIET,
    OPTIONS,
    OUTSIDE,
    RIGHT,
    WORSE,
    WORST,
    Gates,
    claim,
    run_race,
    says,
)
from tests.soon import LONG


def holds(answer: Outcome, gate: threading.Event) -> Callable[[Progress], Outcome]:
    """Return an engine that hands an answer over on its way, and then hears nothing."""

    def run(progress: Progress) -> Outcome:
        progress.hold(answer)
        assert gate.wait(LONG)
        return WORST

    return run


NEAR = claim(None, [3.0], SolutionStatus.NOTHING, candidate=np.array([3.0, 0.9999]))


def test_an_approximate_answer_ends_no_race() -> None:
    answer = run_race(DIET, near=says(NEAR), right=says(RIGHT))
    assert answer.solution_status is SolutionStatus.OPTIMAL


def test_at_the_limit_the_best_that_a_busy_engine_handed_over_counts(gates: Gates) -> None:
    progress = Progress(0.05)
    contenders = {"busy": holds(NEAR, gates["end"]), "other": says(OUTSIDE)}
    answer = run_race(DIET, progress, **contenders)
    assert answer.solution_status is SolutionStatus.APPROXIMATE
    assert answer.stop_reason is StopReason.TIME_LIMIT
    assert answer.residuals.largest_relative == pytest.approx(2e-5)


@pytest.mark.parametrize("interrupt", [False, True])
def test_errors_of_a_mere_candidate_outlive_the_race(interrupt: bool, gates: Gates) -> None:
    far = claim(None, [3.0], SolutionStatus.NOTHING, candidate=np.array([3.0, 0.5]))
    progress = Progress(0.05)
    if interrupt:
        progress.interrupt()
    answer = run_race(DIET, progress, busy=holds(far, gates["end"]), other=says(OUTSIDE))
    assert answer.solution_status is SolutionStatus.NOTHING
    again = verify(DIET, answer, OPTIONS)
    assert again.residuals.largest_relative == verify(DIET, far, OPTIONS).residuals.largest_relative
    assert np.isfinite(again.residuals.largest_relative)


def test_a_verified_point_counts_more_than_what_was_handed_over(gates: Gates) -> None:
    contenders = {"busy": holds(NEAR, gates["end"]), "other": says(WORSE)}
    answer = run_race(DIET, Progress(0.05), **contenders)
    assert answer.solution_status is SolutionStatus.FEASIBLE


def test_what_an_engine_handed_over_before_it_broke_is_not_lost() -> None:
    def run(progress: Progress) -> Outcome:
        progress.hold(NEAR)
        raise EngineError("no memory")

    answer = run_race(DIET, broken=run, other=says(OUTSIDE))
    assert answer.solution_status is SolutionStatus.APPROXIMATE


def test_what_is_handed_over_within_a_race_reaches_the_outer_one(gates: Gates) -> None:
    def inner(progress: Progress) -> Outcome:
        contenders = [
            Contender("busy", holds(NEAR, gates["end"])),
            Contender("idle", says(OUTSIDE)),
        ]
        return race(DIET, contenders, OPTIONS, progress, within=True)

    parent = Progress(0.05)
    answer = run_race(DIET, parent, inner=inner, other=says(OUTSIDE))
    assert answer.solution_status is SolutionStatus.APPROXIMATE
    assert parent.held is NEAR


def test_an_abandoned_engine_hands_nothing_over() -> None:
    parent = Progress()
    contender = ContenderProgress(parent, "one")
    contender.abandon()
    contender.hold(NEAR)
    assert contender.held is parent.held is None
