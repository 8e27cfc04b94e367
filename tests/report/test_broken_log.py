"""An answer comes back whatever happens to the log, through every door."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import pulp
import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory

import gpu_bridge as gb
from gpu_bridge.report.log_output import SafeStream, dropped_streams, safe
from gpu_bridge.report.progress import BridgeProgress
from tests.adapters.pulp.models import small
from tests.adapters.pyomo.models import production
from tests.cases import through
from tests.report.log_models import small_mip

FULL = Path("/dev/full")
has_full = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


class Failing(io.StringIO):
    """A stream one of whose methods raises."""

    def __init__(self, method: str, error: Exception) -> None:
        super().__init__()

        def fail(*arguments: object) -> None:
            raise error

        setattr(self, method, fail)


ERRORS = (
    OSError(28, "No space left on device"),
    ValueError("I/O operation on closed file."),
    UnicodeEncodeError("ascii", "\u00e9", 0, 1, "ordinal not in range"),
    RuntimeError("a stream of somebody's own"),
)


@pytest.fixture
def full_stdout(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    stream = FULL.open("w", encoding="ascii")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        yield
    with suppress(OSError):
        stream.close()


@through("error", ERRORS)
@through("method", ["write", "flush", "close", "isatty"])
def test_a_safe_stream_raises_nothing(method: str, error: Exception) -> None:
    stream = SafeStream(Failing(method, error))
    assert not stream.isatty()
    assert stream.write("one\n") == 4
    stream.flush()
    assert (stream.failure is error) == (method in ("write", "flush"))
    stream.close()
    assert (stream.failure is None) == (method == "isatty")
    assert stream.error == ("" if method == "isatty" else f"{type(error).__name__}: {error}")


def test_a_safe_stream_is_silent_after_its_first_error() -> None:
    broken = Failing("flush", OSError(28, "full"))
    stream = safe(broken)
    stream.write("one")
    stream.write("two")
    assert broken.getvalue() == "one"
    assert safe(stream) is stream


@pytest.mark.parametrize("without", ["nothing", "raising"])
def test_a_stream_need_not_know_how_to_flush_or_close(without: str) -> None:
    class Odd(io.StringIO):
        def __getattribute__(self, name: str) -> object:
            if name not in ("flush", "close"):
                return super().__getattribute__(name)
            if without == "raising":
                raise ValueError("it is detached")
            return None

    odd = Odd()
    stream = safe(odd)
    stream.write("said")
    stream.close()
    assert odd.getvalue() == "said"
    assert (stream.failure is None) == (without == "nothing")


def test_a_safe_stream_has_the_number_of_its_file() -> None:
    with open(os.devnull, "w", encoding="utf-8") as file:
        assert SafeStream(file).fileno() == file.fileno()
    for without in (file, io.StringIO(), None):
        with pytest.raises(io.UnsupportedOperation):
            SafeStream(without).fileno()


def test_a_closed_stream_is_one_that_cannot_be_written() -> None:
    stream = SafeStream(None)
    assert not stream.isatty()
    stream.flush()
    assert stream.failure is None, "nothing is lost yet"
    stream.write("one")
    assert "closed" in stream.error


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("method", ["write", "flush"])
def test_a_broken_stream_costs_no_answer(method: str, error: Exception) -> None:
    good = io.StringIO()
    outcome = gb.solve(small_mip(), streams=[Failing(method, error), good], method="highs")
    assert outcome.solution_status is gb.SolutionStatus.OPTIMAL
    (note,) = dropped_streams(outcome.log)
    assert type(error).__name__ in note
    assert good.getvalue() == outcome.log


def test_a_stream_given_twice_is_written_once() -> None:
    stream = io.StringIO()
    progress = BridgeProgress(streams=[stream, safe(stream)])  # type: ignore[list-item]
    progress.log("one")
    assert stream.getvalue() == "one\n"


def legacy(**options: Any) -> object:
    model = production()
    results = pyo.SolverFactory("gpuheur").solve(model, **options)
    return pyo.value(model.x), str(results.solver.termination_condition)


def new(**options: Any) -> object:
    model = production()
    results = SolverFactory("gpuheur").solve(model, **options)
    return pyo.value(model.x), results.termination_condition.name


def by_pulp(**options: Any) -> object:
    lp = small()
    lp.solve(pulp.getSolver("GPUHEUR", **{"msg": False, **options}))
    return [variable.varValue for variable in lp.variables()]


def one(**options: Any) -> object:
    return gb.solve(small_mip(), **options).objective


def many(**options: Any) -> object:
    return [outcome.objective for outcome in gb.solve_many([small_mip()] * 2, **options)]


DOORS: dict[str, tuple[Callable[..., object], str, dict[str, Any]]] = {
    "solve": (one, "log_file", {"log": True}),
    "a callback": (one, "log_file", {"log": True, "on_solution": lambda improvement: None}),
    "solve_many": (many, "log_file", {"log": True}),
    "Pyomo's old interface": (legacy, "logfile", {"tee": True, "report_timing": True}),
    "Pyomo's new interface": (new, "", {"tee": True}),
    "PuLP": (by_pulp, "logPath", {"msg": True}),
}


@has_full
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.usefixtures("full_stdout")
def test_a_full_standard_output_costs_no_answer(door: str) -> None:
    solve, _, loud = DOORS[door]
    assert solve(**loud) == solve()


@pytest.mark.parametrize("door", DOORS)
def test_a_closed_standard_output_costs_no_answer(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve, _, loud = DOORS[door]
    monkeypatch.setattr(sys, "stdout", None)
    assert solve(**loud) == solve()


@has_full
@pytest.mark.parametrize("door", [name for name in DOORS if DOORS[name][1]])
def test_a_full_log_file_costs_no_answer(door: str) -> None:
    solve, option, _ = DOORS[door]
    assert solve(**{option: str(FULL)}) == solve()


@has_full
def test_pyomo_s_options_and_streams_may_break_too() -> None:
    broken = [Failing("write", ERRORS[0]), logging.getLogger("a log of the user's")]
    assert new(tee=broken, solver_options={"log_file": str(FULL)}) == new()


def test_a_log_file_that_breaks_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def open_failing(*arguments: object, **more: object) -> TextIO:
        return Failing("close", OSError(122, "Disk quota exceeded"))

    monkeypatch.setattr("builtins.open", open_failing)
    outcome = gb.solve(small_mip(), log_file=tmp_path / "a.log", method="highs")
    monkeypatch.undo()
    assert outcome.solution_status is gb.SolutionStatus.OPTIMAL
    assert "Disk quota exceeded" in caplog.text


@pytest.mark.parametrize("place", ["nowhere/a.log", ".", "", "a\0b", "x" * 300])
def test_a_log_file_that_cannot_be_made_is_refused(tmp_path: Path, place: str) -> None:
    where = os.path.join(tmp_path, place) if place else ""
    with pytest.raises(gb.FileFormatError):
        gb.solve(small_mip(), log_file=where)


def test_a_log_is_not_written_over_the_model(tmp_path: Path) -> None:
    text = "Minimize\n o: x\nSubject To\n r: x >= 2\nEnd\n"
    model, link = tmp_path / "model.lp", tmp_path / "link.log"
    model.write_text(text)
    link.symlink_to(model)
    for solve in (gb.solve, lambda path, **more: gb.solve_many([path], **more)):
        with pytest.raises(gb.OptionError, match="overwrite the model"):
            solve(model, log_file=link)
    assert model.read_text() == text
