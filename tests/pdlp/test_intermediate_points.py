"""Points that a solve hands out on its way: each much nearer, and seldom."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.options import make_options
from gpu_bridge.pipeline.routes import pdlp as pdlp_route
from gpu_bridge.verify.verify import verify
from solvers import pdlp
from solvers.core.lp_answer import LpErrors
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.highs import child
from solvers.pdlp import IntermediatePoints, loop_state, supervision
from tests.energy import energy_system

SYSTEM = energy_system(24, 3)
SHORT = make_options(method="pdlp", device="cpu", iteration_limit=2000, crossover="off")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "FROM_SECONDS", 0.0)
    monkeypatch.setattr(supervision, "SHARE", 1e9)


def errors(value: float) -> LpErrors:
    return LpErrors(value, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_each_point_handed_out_is_nearer_than_the_last() -> None:
    points: list[Outcome] = []
    found = pdlp.solve(SYSTEM, SHORT, Progress(), points=IntermediatePoints(points.append))
    assert found.stop_reason is StopReason.ITERATION_LIMIT
    assert len(points) > 2
    graded = [verify(SYSTEM, point, SHORT).residuals.largest_relative for point in points]
    assert graded == sorted(graded, reverse=True)
    last = verify(SYSTEM, found, SHORT).residuals.largest_relative
    assert last <= graded[-1] <= 10.0 * last


def test_handing_out_changes_nothing_about_the_solve() -> None:
    alone = pdlp.solve(SYSTEM, SHORT, Progress())
    watched = pdlp.solve(SYSTEM, SHORT, Progress(), points=IntermediatePoints(lambda _: None))
    np.testing.assert_array_equal(alone.row_dual, watched.row_dual)


def test_it_is_due_when_the_error_has_halved_and_what_the_last_one_took_is_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [100.0]
    monkeypatch.setattr(supervision.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(supervision, "FROM_SECONDS", 1.0)
    monkeypatch.setattr(supervision, "SHARE", 0.02)
    made = IntermediatePoints(lambda _: None)
    assert not made.is_due(errors(1.0))
    now[0] += 1.0
    assert made.is_due(errors(1.0))

    def make() -> tuple[Outcome, float]:
        now[0] += 0.1
        return Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT), 1.0

    made.keep(make)
    now[0] += 4.9
    assert not made.is_due(errors(0.1))
    now[0] += 0.2
    assert made.is_due(errors(0.1))
    assert not made.is_due(errors(0.6))
    assert not made.is_due(errors(np.nan))


def test_a_cpu_which_goes_on_nowhere_else_keeps_no_latest_point() -> None:
    points = IntermediatePoints(lambda point: None)
    pdlp.solve(SYSTEM, SHORT, Progress(), points=points)
    assert points.latest is None


def test_the_latest_point_is_of_the_problem_being_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_state, "is_the_hosts", lambda state: False)
    points = IntermediatePoints(lambda point: None)
    pdlp.solve(SYSTEM, SHORT, Progress(), points=points)
    assert points.latest is not None
    assert points.latest.x is not None
    assert points.latest.x.shape == (SYSTEM.num_columns,)
    assert points.through(None).latest is None


def test_whoever_waits_gets_the_next_nearer_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "FROM_SECONDS", np.inf)
    monkeypatch.setattr(supervision, "SHARE", 1e-9)
    waits, given = [True], []

    def take(point: Outcome) -> None:
        waits[0] = len(given) == 0
        given.append(point)

    pdlp.solve(SYSTEM, SHORT, Progress(), points=IntermediatePoints(take, lambda: waits[0]))
    first, second = (verify(SYSTEM, point, SHORT).residuals.largest_relative for point in given)
    assert second < first


@pytest.mark.parametrize("presolve", [False, True])
def test_the_road_holds_points_of_the_original_model(presolve: bool) -> None:
    progress = Progress()
    options = make_options(
        method="pdlp", device="cpu", iteration_limit=2000, crossover="off", presolve=presolve
    )
    pdlp_route.pdlp_route(SYSTEM, options, progress)
    assert progress.held is not None
    assert verify(SYSTEM, progress.held, options).solution_status.has_values


def test_a_crossover_cut_short_keeps_the_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "run_task", _runs_into_the_limit)
    monkeypatch.setattr(pdlp_route, "HELD_FROM_SECONDS", 0.0)
    progress = Progress(60.0)
    options = make_options(method="pdlp", device="cpu", iteration_limit=2000, crossover="on")
    found = pdlp_route.pdlp_route(SYSTEM, options, progress)
    assert "crossover ended early" in found.message
    answer = verify(SYSTEM, found, options)
    assert answer.solution_status is SolutionStatus.APPROXIMATE
    assert progress.held is not None
    held = verify(SYSTEM, progress.held, options)
    assert held.residuals == answer.residuals


def _runs_into_the_limit(*_: object) -> object:
    from solvers.highs.task import Reply, SolutionStatus, StopReason

    return Reply(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)
