"""A branch and bound that others take over: it goes on where it is, and rests when told to."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gpu_bridge.options import Options, make_options
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.core.threads import start_thread
from solvers.highs import callbacks
from solvers.highs import under_way as under_way_module
from solvers.highs.engine import search_briefly
from solvers.highs.under_way import UnderWay
from tests.highs.models import covering, market_split
from tests.soon import LONG, soon

OPTIONS = make_options({"rel_gap": 0.0})


class Heard(Progress):
    """Remembers what it is told."""

    def __init__(self, limit: float = LONG) -> None:
        super().__init__(limit)
        self.points: list[FloatArray] = []
        self.lines: list[str] = []

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        assert x is not None
        self.points.append(x)
        return super().incumbent(objective, source)

    def engine_output(self, line: str) -> None:
        self.lines.append(line)


def begun(
    problem: Problem, options: Options = OPTIONS, limit: float = LONG
) -> tuple[Outcome, UnderWay]:
    """Return what is known of a problem at once, and the branch and bound that goes on."""
    known, under_way = search_briefly(problem, options, Progress(limit), None, 0.0)
    assert known is not None
    assert under_way is not None
    return known, under_way


def test_it_is_for_the_same_problem_and_options() -> None:
    problem = market_split()
    _, under_way = begun(problem)
    assert under_way.fits(problem, OPTIONS)
    assert not under_way.fits(problem, make_options({}))
    assert not under_way.fits(market_split(), OPTIONS)
    under_way.abandon()
    assert soon(lambda: under_way.wait(0.0))
    under_way.abandon()  # as often as anybody likes


def test_whoever_goes_on_hears_of_all_points() -> None:
    problem = covering(40, 60, integer=True)
    whole, nobody = search_briefly(problem, OPTIONS, Progress(), None, LONG)
    assert whole is not None
    assert nobody is None
    _, under_way = begun(problem)
    assert under_way.wait(LONG)  # every point was found before anybody took over
    heard = Heard()
    found = under_way.go_on(heard, None)
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert (found.objective, found.bound) == (whole.objective, whole.bound)
    assert [problem.objective_at(x) for x in heard.points] == sorted(
        (entry.objective for entry in whole.pool), reverse=True
    )
    assert heard.best_objective == pytest.approx(found.objective)
    assert heard.best_bound <= found.objective + 1e-9


def test_points_found_elsewhere_are_taken_and_bounds_and_the_log_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    on_interrupt = callbacks._MipReports.on_interrupt

    def counted(self: callbacks._MipReports, *given: object) -> None:
        asked.append(given)
        on_interrupt(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(callbacks._MipReports, "on_interrupt", counted)
    problem = market_split(3, 20)
    x = best_of(problem)
    _, under_way = begun(problem)
    assert not asked
    heard, offers = Heard(), [x]
    found = under_way.go_on(heard, lambda: offers.pop() if offers else None)
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert found.objective == pytest.approx(problem.objective_at(x), abs=1e-4)
    assert heard.lines
    assert len(asked) <= heard.seconds / LOOK_AGAIN + 2


def best_of(problem: Problem) -> FloatArray:
    """Return an optimal point."""
    found, _ = search_briefly(problem, OPTIONS, Progress(), None, LONG)
    assert found is not None
    assert found.x is not None
    return found.x


@pytest.mark.parametrize("limit", [0.3, LONG])
def test_it_stops_when_it_should(limit: float) -> None:
    _, under_way = begun(market_split(), limit=limit)
    progress = Heard(limit)
    if limit == LONG:
        progress.interrupt()
    found = under_way.go_on(progress, None)
    assert found.solution_status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)
    expected = StopReason.INTERRUPTED if limit == LONG else StopReason.TIME_LIMIT
    assert found.stop_reason is expected


def test_it_rests_until_it_is_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    came, went = threading.Event(), threading.Event()
    take_turn = under_way_module._Channel.take_turn

    def watched(self: under_way_module._Channel) -> None:
        came.set()
        take_turn(self)
        went.set()

    monkeypatch.setattr(under_way_module._Channel, "take_turn", watched)
    _, under_way = begun(market_split())
    thread = start_thread("waits", lambda: under_way.go_on(Heard(), None), lambda failure: None)
    for end in (under_way.resume, under_way.abandon):  # who rests hears of the end, too
        under_way.rest()
        assert soon(came.is_set)
        assert not went.is_set()
        end()
        assert soon(went.is_set)
        came.clear()
        went.clear()
    thread.join(LONG)
    assert not thread.is_alive()


def test_its_answer_is_that_of_a_branch_and_bound_alone() -> None:
    problem = market_split(3, 20)
    _, under_way = begun(problem)
    found = under_way.go_on(Heard(), None)
    alone, _ = search_briefly(problem, OPTIONS, Progress(), None, LONG)
    assert alone is not None
    assert found.objective == alone.objective
    assert found.statistics == alone.statistics
    np.testing.assert_array_equal(found.x, alone.x)  # type: ignore[arg-type]
