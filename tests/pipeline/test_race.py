"""Races of made-up engines: whoever is first with a verified answer, and what becomes of the rest.

Nothing here waits for a clock: engines wait for events, and a wait that lasts too long fails.
"""

from __future__ import annotations

import io
import signal
import threading

import numpy as np
import pytest

from gpu_bridge.pipeline import race as module
from gpu_bridge.pipeline.race import Contender, ContenderProgress, better, race
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, Residuals, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.core.threads import Patience, left_behind
from tests.pipeline.made_up_engines import (
    DIET,
    ENDLESS,
    IMPOSSIBLE,
    OPTIONS,
    OUTSIDE,
    RIGHT,
    WORSE,
    WORST,
    Gates,
    claim,
    raises,
    run_race,
    says,
    says_when,
    works_until_told,
)
from tests.soon import LONG, soon


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
    broken, stubborn = raises(EngineError("broken")), says(RIGHT, gates["much later"])
    answer = run_race(DIET, Progress(0.05), broken=broken, stubborn=stubborn)
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
