"""Races of made-up engines: whoever is first with a verified answer, and what becomes of the rest.

Nothing here waits for a clock: engines wait for events, and a wait that lasts too long fails.
"""

from __future__ import annotations

import io
import signal
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from gpu_bridge.options import make_options
from gpu_bridge.pipeline import race as module
from gpu_bridge.pipeline.race import Contender, ContenderProgress, better, race
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, Residuals, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Patience, Progress, left_behind
from tests.soon import LONG, soon

DIET = Problem.from_arrays([2, 3], [[1, 1]], [4], upper=[3, np.inf])
IMPOSSIBLE = Problem.from_arrays([1, 1], [[1, 1], [1, 1]], [3, -np.inf], [np.inf, 2])
ENDLESS = Problem.from_arrays([-1, 0], [[1, -1]], [0], [0])
OPTIONS = make_options()


def claim(
    x: list[float] | None = None,
    y: list[float] | None = None,
    status: SolutionStatus = SolutionStatus.OPTIMAL,
    reason: StopReason = StopReason.CONVERGED,
    **more: object,
) -> Outcome:
    """Return what an engine says, before it is verified."""
    return Outcome(
        status,
        reason,
        x=None if x is None else np.array(x),
        row_dual=None if y is None else np.array(y),
        engine="made-up",
        **more,  # type: ignore[arg-type]
    )


RIGHT = claim([3.0, 1.0], [3.0])
OUTSIDE = claim([0.0, 0.0], [3.0])
WORSE = claim([0.0, 4.0], [0.0])
WORST = claim([3.0, 4.0], [0.0])


class Gates:
    """Events by name, all opened at the end so that no thread is left waiting."""

    def __init__(self) -> None:
        self._events: dict[str, threading.Event] = {}

    def __getitem__(self, name: str) -> threading.Event:
        return self._events.setdefault(name, threading.Event())

    def open_all(self) -> None:
        for event in tuple(self._events.values()):
            event.set()


@pytest.fixture
def gates() -> Iterator[Gates]:
    made = Gates()
    yield made
    made.open_all()


def says(answer: Outcome, after: threading.Event | None = None) -> Callable[[Progress], Outcome]:
    """Return an engine that gives an answer, perhaps only after an event."""

    def run(progress: Progress) -> Outcome:
        assert after is None or after.wait(LONG)
        return answer

    return run


def raises(error: BaseException) -> Callable[[Progress], Outcome]:
    """Return an engine that breaks."""

    def run(progress: Progress) -> Outcome:
        raise error

    return run


def works_until_told(
    ended: threading.Event, answer: Outcome | None = None
) -> Callable[[Progress], Outcome]:
    """Return an engine that never finds an answer, and returns this one when it has to stop."""

    def run(progress: Progress) -> Outcome:
        while True:
            stopped = progress.should_stop()
            if stopped is not None:
                ended.set()
                return answer or Outcome(SolutionStatus.NOTHING, stopped)
            ended.wait(0.005)

    return run


def says_when(answer: Outcome, holds: Callable[[], bool]) -> Callable[[Progress], Outcome]:
    """Return an engine that gives an answer as soon as something is true."""

    def run(progress: Progress) -> Outcome:
        assert soon(holds)
        return answer

    return run


def run_race(problem: Problem, progress: Progress | None = None, **contenders: object) -> Outcome:
    made = [Contender(name, run) for name, run in contenders.items()]  # type: ignore[arg-type]
    return race(problem, made, OPTIONS, progress or Progress())


def test_the_first_verified_answer_wins_and_the_others_are_told(gates: Gates) -> None:
    answer = run_race(DIET, quick=says(RIGHT), slow=works_until_told(gates["ended"]))
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert answer.objective == pytest.approx(9.0)
    assert gates["ended"].wait(LONG)


@pytest.mark.parametrize("wrong", [OUTSIDE, WORSE, claim(), claim([np.nan, 1.0], [3.0])])
def test_a_wrong_answer_does_not_win(wrong: Outcome) -> None:
    progress = BridgeProgress()
    contenders = [
        Contender("hasty", says(wrong)),
        Contender("careful", says_when(RIGHT, lambda: "is out of the race" in progress.text)),
    ]
    answer = race(DIET, contenders, OPTIONS, progress)
    assert answer.objective == pytest.approx(9.0)
    assert "hasty is out of the race" in progress.text
    assert "won by careful" in progress.text


@pytest.mark.parametrize(
    "error", [EngineError("no thanks"), MemoryError("too large"), SystemExit()]
)
def test_an_engine_that_breaks_is_out(error: BaseException) -> None:
    progress = BridgeProgress()
    sound = says_when(RIGHT, lambda: "is out of the race" in progress.text)
    contenders = [Contender("broken", raises(error)), Contender("sound", sound)]
    answer = race(DIET, contenders, OPTIONS, progress)
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert f"failed: {error}" in progress.text


def test_when_all_break_the_first_error_is_raised() -> None:
    progress = BridgeProgress()

    def second(contender: Progress) -> Outcome:
        assert soon(lambda: "one is out of the race" in progress.text)
        raise EngineError("second")

    with pytest.raises(EngineError, match="first"):
        run_race(DIET, progress, two=second, one=raises(EngineError("first")))


def test_when_none_is_right_the_best_is_returned() -> None:
    contenders = {
        "a": says(OUTSIDE),
        "b": says(WORST),
        "c": says(WORSE),
        "d": raises(EngineError("")),
    }
    answer = run_race(DIET, **contenders)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert answer.objective == pytest.approx(12.0)


@pytest.mark.parametrize(
    ("problem", "proven", "unproven"),
    [
        (
            IMPOSSIBLE,
            claim(status=SolutionStatus.INFEASIBLE, dual_ray=np.array([1.0, -1.0])),
            claim(status=SolutionStatus.INFEASIBLE, dual_ray=np.array([1.0, 0.0])),
        ),
        (
            ENDLESS,
            claim([0.0, 0.0], status=SolutionStatus.UNBOUNDED, primal_ray=np.array([1.0, 1.0])),
            claim([0.0, 0.0], status=SolutionStatus.UNBOUNDED, primal_ray=np.array([1.0, 0.0])),
        ),
    ],
    ids=["infeasible", "unbounded"],
)
def test_claims_without_a_point_need_their_proof(
    problem: Problem, proven: Outcome, unproven: Outcome, gates: Gates
) -> None:
    answer = run_race(problem, right=says(proven), other=works_until_told(gates["a"]))
    assert answer.solution_status is proven.solution_status
    alone = run_race(problem, wrong=says(unproven))
    assert alone.solution_status is SolutionStatus.NOTHING
    assert alone.stop_reason is StopReason.NUMERICAL_TROUBLE


def test_an_engine_without_memory_is_out(gates: Gates) -> None:
    full = Outcome(SolutionStatus.NOTHING, StopReason.OUT_OF_MEMORY)
    assert run_race(DIET, full=says(full), right=says(RIGHT)).objective == pytest.approx(9.0)
    assert run_race(DIET, full=says(full)).stop_reason is StopReason.OUT_OF_MEMORY


def test_an_interruption_reaches_all_and_the_best_is_kept(
    gates: Gates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", Patience(0.0, LONG, LONG))
    progress = Progress()
    found = claim([3.0, 4.0], status=SolutionStatus.FEASIBLE, reason=StopReason.INTERRUPTED)
    timer = threading.Timer(0.1, progress.interrupt)
    timer.start()
    answer = run_race(
        DIET,
        progress,
        empty=works_until_told(gates["a"]),
        holding=works_until_told(gates["b"], found),
    )
    assert gates["a"].is_set()
    assert gates["b"].is_set()
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.stop_reason is StopReason.INTERRUPTED


def test_a_time_limit_reaches_all(gates: Gates) -> None:
    answer = run_race(
        DIET, Progress(0.1), a=works_until_told(gates["a"]), b=works_until_told(gates["b"])
    )
    assert answer.solution_status is SolutionStatus.NOTHING
    assert answer.stop_reason is StopReason.TIME_LIMIT


def test_an_engine_that_does_not_hear_is_left_behind(
    gates: Gates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", Patience(0.0, 0.1, 0.1))
    answer = run_race(DIET, Progress(0.05), stubborn=says(RIGHT, gates["much later"]))
    assert answer.solution_status is SolutionStatus.NOTHING
    assert answer.stop_reason is StopReason.TIME_LIMIT
    (thread,) = [one for one in left_behind() if one.name == "contender stubborn"]
    gates["much later"].set()
    thread.join(LONG)
    assert thread not in left_behind()


def test_a_winner_does_not_wait_for_the_deaf(gates: Gates) -> None:
    answer = run_race(DIET, quick=says(RIGHT), deaf=says(RIGHT, gates["much later"]))
    assert answer.objective == pytest.approx(9.0)
    assert not gates["much later"].is_set()


def test_the_second_ctrl_c_stops_every_engine(gates: Gates) -> None:
    """The signal comes to a thread at work, and so does not wake the one that waits."""
    wait_on = works_until_told(gates["b"])

    def pressed(contender: Progress) -> Outcome:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        return wait_on(contender)

    with pytest.raises(KeyboardInterrupt):
        run_race(DIET, a=works_until_told(gates["a"]), b=pressed)
    assert gates["a"].wait(LONG)
    assert gates["b"].wait(LONG)


def test_a_preferred_engine_is_given_a_grace(gates: Gates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", Patience(0.0, LONG, LONG))
    vertex = claim([3.0, 1.0], [3.0], message="a vertex")

    def shortly_after(contender: Progress) -> Outcome:
        assert gates["first is in"].wait(LONG)
        gates["never"].wait(0.05)
        return vertex

    def first(contender: Progress) -> Outcome:
        gates["first is in"].set()
        return RIGHT

    contenders = [Contender("interior", first), Contender("vertex", shortly_after)]
    assert race(DIET, contenders, OPTIONS, Progress(), prefer="vertex").message == "a vertex"


def test_the_grace_ends(gates: Gates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", Patience(0.0, 0.05, 0.05))
    contenders = [
        Contender("interior", says(RIGHT)),
        Contender("vertex", works_until_told(gates["told"])),
    ]
    answer = race(DIET, contenders, OPTIONS, Progress(), prefer="vertex")
    assert answer.objective == pytest.approx(9.0)
    assert gates["told"].wait(LONG)


def test_no_grace_for_a_preferred_engine_that_is_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GRACE", Patience(0.0, 1000.0, 1000.0))
    contenders = [
        Contender("interior", says(RIGHT)),
        Contender("vertex", raises(EngineError("failed"))),
    ]
    answer = race(DIET, contenders, OPTIONS, Progress(), prefer="vertex")
    assert answer.objective == pytest.approx(9.0)


def test_what_a_contender_says_after_the_end_is_not_heard(gates: Gates) -> None:
    progress = BridgeProgress()

    def late(contender: Progress) -> Outcome:
        while not contender.abandoned:
            gates["never"].wait(0.005)
        contender.log("too late")
        contender.iteration(7, gap=1.0)
        gates["said"].set()
        return RIGHT

    race(DIET, [Contender("quick", says(RIGHT)), Contender("late", late)], OPTIONS, progress)
    assert gates["said"].wait(LONG)
    assert "too late" not in progress.text
    assert progress.record.iterations == ()


def test_the_log_says_who_won_and_what_the_others_had_reached(gates: Gates) -> None:
    stream = io.StringIO()
    progress = BridgeProgress(streams=[stream])

    def first_order(contender: Progress) -> Outcome:
        contender.log("looking")
        contender.iteration(
            400, primal_residual=1e-3, dual_residual=2e-2, gap=3e-1, primal_weight=1.0
        )
        gates["told"].set()
        while not contender.abandoned:
            gates["never"].wait(0.005)
        return RIGHT

    contenders = [Contender("simplex", says(RIGHT, gates["told"])), Contender("pdlp", first_order)]
    race(DIET, contenders, OPTIONS, progress)
    text = stream.getvalue()
    assert "pdlp: looking" in text
    assert "won by simplex after" in text
    assert (
        "pdlp: 400 iterations, primal residual 1.000e-03, dual residual 2.000e-02, gap 3.000e-01"
    ) in text
    assert [record.count for record in progress.record.iterations] == [400]


def test_rows_show_all_engines_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("solvers.core.progress.time.monotonic", lambda: now[0])
    progress = BridgeProgress()
    for name in ("simplex", "pdlp"):
        progress.standing(name, "")
    one, other = ContenderProgress(progress, "simplex"), ContenderProgress(progress, "pdlp")
    one.iteration(100)  # too early for a row
    now[0] += 2.0
    other.iteration(400, primal_residual=1e-3, gap=2e-2)
    other.iteration(600, primal_residual=1e-3, gap=1e-2)  # too soon after the row before
    now[0] += 2.0
    one.iteration(2100)
    title, *rows = progress.text.split("\n")[1:-1]
    assert title.split() == ["Time", "simplex", "pdlp", "iterations", "(relative", "error)"]
    assert [row.split() for row in rows] == [
        ["2.0s", "100", "400", "(2.0e-02)"],
        ["4.0s", "2100", "600", "(1.0e-02)"],
    ]


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


def test_better_prefers_proof_then_points_then_candidates() -> None:
    nothing = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)
    near = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT, candidate=np.zeros(2))
    far, nearer = (
        Outcome(
            SolutionStatus.APPROXIMATE,
            StopReason.TIME_LIMIT,
            objective=objective,
            residuals=Residuals(0.0, 1e-5, 0.0, 0.0, 1e-6, 0.0, error),
        )
        for objective, error in ((1.0, 1e-3), (2.0, 1e-4))
    )
    low = Outcome(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, objective=1.0)
    high = Outcome(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, objective=2.0)
    proof = Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED)
    ranked = [nothing, near, far, nearer, high, low, proof]
    for place, worse in enumerate(ranked):
        for best in ranked[place + 1 :]:
            assert better(worse, best) is best
            assert better(best, worse) is best
