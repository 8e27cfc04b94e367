"""Real races of the engines on small models, and what they leave behind."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.options import Options, make_options
from gpu_bridge.pipeline import brief, race
from gpu_bridge.pipeline import contenders as module
from gpu_bridge.pipeline.contenders import (
    IPM,
    PDLP,
    SIMPLEX,
    make_contenders,
)
from gpu_bridge.report.progress import BridgeProgress
from solvers import highs
from solvers.core.errors import DeviceError, EngineError
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.core.threads import Patience
from solvers.highs import child
from tests.cases import through
from tests.locations import DATA
from tests.pipeline.test_dispatch import check
from tests.problems import LINEAR, Case
from tests.soon import soon

ADLITTLE = DATA / "adlittle.mps.gz"
ADLITTLE_OPTIMUM = 225494.963162


@pytest.fixture
def everything_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make simplex, interior point and PDLP on the CPU race on every linear program."""
    monkeypatch.setattr(brief, "MOST", 0)
    monkeypatch.setattr(module, "RACE_NONZEROS", 0)
    monkeypatch.setattr(module, "PDLP_NONZEROS", 0)
    monkeypatch.setattr(module, "seen_gpu", lambda: None)
    monkeypatch.setattr(module, "usable_cores", lambda: 3)
    always_to_a_vertex(monkeypatch)


def always_to_a_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PDLP's own end wait for crossover, however busy this machine is."""
    monkeypatch.setattr(race, "GRACE", Patience(0.0, 1000.0, 1000.0))


def break_all_but(alone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put every contender but one out of order; none where no name is given."""
    real = module.make_contenders

    def crash(progress: Progress) -> Outcome:
        raise EngineError("this engine is out of order")

    def with_traps(*arguments: object) -> list[module.Contender]:
        contenders = real(*arguments)  # type: ignore[arg-type]
        return [
            contender if alone in (None, contender.name) else replace(contender, run=crash)
            for contender in contenders
        ]

    monkeypatch.setattr(module, "make_contenders", with_traps)


@pytest.mark.usefixtures("everything_races")
@through("case", LINEAR)
def test_linear(case: Case) -> None:
    check(case, gpu_bridge.solve(case.problem))


@pytest.mark.usefixtures("everything_races")
@pytest.mark.parametrize("alone", [SIMPLEX, IPM, PDLP])
def test_any_engine_may_be_the_only_sound_one(alone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    break_all_but(alone, monkeypatch)
    outcome = gpu_bridge.solve(ADLITTLE)
    assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)
    assert outcome.basis is not None
    assert f"won by {alone}" in outcome.log
    assert outcome.engine == ("pdlp" if alone == PDLP else "highs")


@pytest.mark.usefixtures("everything_races")
def test_time_limit_zero_stops_before_the_race() -> None:
    outcome = gpu_bridge.solve(LINEAR[0].problem, time_limit=0)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.TIME_LIMIT


@pytest.mark.usefixtures("everything_races")
def test_a_race_that_ends_without_a_point_tells_what_zero_misses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def idle(*arguments: object, **_: object) -> Outcome:
        (progress,) = [one for one in arguments if isinstance(one, Progress)]
        assert soon(lambda: progress.should_stop() is not None)
        return Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)

    monkeypatch.setattr(highs, "solve", idle)
    monkeypatch.setattr(module, "pdlp_route", idle)
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], row_lower=4.0, lower=[1.0, 0.0])
    outcome = gpu_bridge.solve(problem, time_limit=0.2)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.candidate.tolist() == [1.0, 0.0]
    assert outcome.residuals.primal == 3.0
    assert np.isfinite(outcome.residuals.largest_relative)
    assert "nearest to zero" in outcome.message


@pytest.mark.usefixtures("everything_races")
def test_when_no_engine_is_right_the_reference_engine_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = Outcome(SolutionStatus.OPTIMAL, StopReason.CONVERGED, x=np.zeros(2), engine="highs")
    real = highs.solve

    def careless(problem: Problem, options: Options, *more: object, **names: object) -> Outcome:
        if options.presolve:
            return wrong
        return real(problem, options, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(highs, "solve", careless)
    monkeypatch.setattr(module, "pdlp_route", lambda *_, **__: wrong)
    outcome = gpu_bridge.solve(LINEAR[0].problem)
    assert "second opinion" in outcome.log
    assert outcome.objective == pytest.approx(LINEAR[0].objective)


@pytest.mark.usefixtures("everything_races")
@pytest.mark.parametrize("error", [EngineError, DeviceError])
def test_when_all_engines_break_the_reference_engine_is_asked_again(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = highs.solve

    def fragile(problem: Problem, options: Options, *more: object, **names: object) -> Outcome:
        if options.presolve:
            raise error("it crashed")
        return real(problem, options, *more)  # type: ignore[arg-type]

    def lost(*_: object, **__: object) -> Outcome:
        raise error("it crashed, too")

    def broken(*_: object, **__: object) -> Outcome:
        raise EngineError("it crashed too")

    monkeypatch.setattr(highs, "solve", fragile)
    monkeypatch.setattr(module, "pdlp_route", lost)
    outcome = gpu_bridge.solve(LINEAR[0].problem)
    assert "No engine has an answer: it crashed" in outcome.log
    assert outcome.objective == pytest.approx(LINEAR[0].objective)
    monkeypatch.setattr(highs, "solve", broken)
    outcome = gpu_bridge.solve(LINEAR[0].problem)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "it crashed too" in outcome.log


@pytest.mark.usefixtures("everything_races")
def test_a_crash_in_a_race_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALL_LP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)
    crash = "os.kill(os.getpid(), 11) if task.settings['solver'] == 'ipm' else run(task, channel)"
    monkeypatch.setattr(child, "BOOTSTRAP", child_that(crash))
    contender = make_contenders((IPM,), "cpu", gpu_bridge.read(ADLITTLE), make_options(), None)[0]
    progress = BridgeProgress()
    left = contender.run(progress)
    assert left.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "crashed" in left.message
    assert "once more" not in progress.text
    outcome = gpu_bridge.solve(ADLITTLE)
    assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)


def child_that(does: str) -> str:
    """Return the first words of a child process that does something else with its task."""
    return (
        "import sys, json, time, os; sys.path[:] = json.loads(sys.argv[1]); "
        "from solvers.highs import worker; run = worker.run; "
        f"worker.run = lambda task, channel: {does}; "
        "worker.main()"
    )


@pytest.mark.usefixtures("everything_races")
def test_nothing_is_left_of_the_losers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALL_LP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)
    hang = "time.sleep(600) if task.settings['solver'] == 'ipm' else run(task, channel)"
    monkeypatch.setattr(child, "BOOTSTRAP", child_that(hang))
    monkeypatch.setattr(module, "PDLP_NONZEROS", 10**9)
    before = children(), contender_threads()
    outcome = gpu_bridge.solve(ADLITTLE)
    assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)
    assert "won by simplex" in outcome.log
    assert soon(lambda: children() <= before[0])
    assert soon(lambda: contender_threads() <= before[1])


@pytest.mark.usefixtures("everything_races")
def test_nothing_is_left_after_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SMALL_LP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)
    monkeypatch.setattr(child, "BOOTSTRAP", child_that("time.sleep(600)"))
    monkeypatch.setattr(module, "PDLP_NONZEROS", 10**9)
    before = children(), contender_threads()
    outcome = gpu_bridge.solve(ADLITTLE, time_limit=0.3)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert soon(lambda: children() <= before[0])
    assert soon(lambda: contender_threads() <= before[1])


def children() -> set[int]:
    """Return the child processes of this one, zombies included, where /proc tells them."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[1]) == os.getpid():
            found.add(int(entry.parent.name))
    return found


def contender_threads() -> set[threading.Thread]:
    """Return the running threads of races and of HiGHS."""
    threads = threading.enumerate()
    return {thread for thread in threads if thread.name.startswith(("contender ", "highs"))}


@pytest.mark.gpu
@pytest.mark.parametrize("alone", [None, PDLP, SIMPLEX], ids=str)
def test_a_race_with_a_gpu(alone: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    always_to_a_vertex(monkeypatch)
    monkeypatch.setattr(brief, "MOST", 0)
    monkeypatch.setattr(module, "RACE_NONZEROS", 0)
    monkeypatch.setattr(module, "PDLP_NONZEROS", 0)
    monkeypatch.setattr(module, "usable_cores", lambda: 4)
    break_all_but(alone, monkeypatch)
    for _ in range(2):  # before and after CuPy is loaded
        outcome = gpu_bridge.solve(ADLITTLE)
        assert "race of pdlp on cuda, simplex, ipm and ipm on cuda" in outcome.log
        assert outcome.objective == pytest.approx(ADLITTLE_OPTIMUM, rel=1e-9)
        assert outcome.device == ("cuda" if outcome.engine == "pdlp" else "cpu")
        assert alone is None or f"won by {alone}" in outcome.log
