"""The limit holds while something that cannot be stopped is at work, and the best point is kept."""

from __future__ import annotations

import threading
from importlib import import_module

import numpy as np
import pytest

import gpu_bridge
from solvers import mip
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.core.threads import Patience
from solvers.mip.inference import domain
from solvers.mip.solve import search, wait_for
from tests.mip.test_solve import covering

solve = import_module("solvers.mip.solve")

ANSWER = Outcome(SolutionStatus.OPTIMAL, StopReason.CONVERGED, objective=1.0, x=np.ones(1))
NOTHING = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)


def no() -> bool:
    return False


def test_what_the_work_returns_or_raises_arrives() -> None:
    assert wait_for(lambda: ANSWER, Progress(60.0), lambda: NOTHING, no) is ANSWER

    def fail() -> Outcome:
        raise ArithmeticError("a column is odd")

    with pytest.raises(ArithmeticError, match="a column is odd"):
        wait_for(fail, Progress(60.0), lambda: NOTHING, no)


@pytest.mark.parametrize("how", ["limit", "interruption"])
@pytest.mark.parametrize("way", [{}, {"deterministic": True}, {"threads": 1}])
def test_what_is_deaf_holds_nobody_up(
    how: str, way: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve, "PATIENCE", Patience(0.0, 0.01, 0.01))
    released, busy = threading.Event(), threading.Event()

    def work_for_ever(*_: object) -> None:
        busy.set()
        released.wait(60.0)  # deaf to everything, as a library's loop may be
        raise RuntimeError("nobody hears this")

    monkeypatch.setattr(domain, "tighten_model", work_for_ever)
    problem = covering()
    told = []

    def on_solution(improvement: gpu_bridge.Improvement) -> bool:
        told.append(improvement.objective)
        return how == "interruption" and busy.wait(60.0)

    for limit in (0.3, 3.0, 30.0):  # until the machine is quick enough to come that far
        outcome = gpu_bridge.solve(
            problem,
            method="mip",
            device="cpu",
            heuristics_only=True,
            presolve=False,
            start=Start(x=np.ones(problem.num_columns)),
            on_solution=on_solution,
            time_limit=limit if how == "limit" else None,
            **way,
        )
        if busy.is_set():
            break
    assert not released.is_set()  # it was not waited for
    released.set()
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    expected = StopReason.TIME_LIMIT if how == "limit" else StopReason.INTERRUPTED
    assert outcome.stop_reason is expected
    assert outcome.objective <= problem.cost.sum()
    assert outcome.objective <= told[-1]  # a better one may come while the end is on its way
    assert "were busy" in outcome.log


def test_nobody_waits_for_what_is_busy_once_the_answer_is_settled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solve, "PATIENCE", Patience(0.0, 0.01, 0.01))
    ready = threading.Event()

    def busy() -> Outcome:
        ready.wait(60.0)
        return NOTHING

    assert wait_for(busy, Progress(60.0), lambda: ANSWER, lambda: True) is ANSWER
    ready.set()


def test_a_point_with_nothing_to_improve_does_not_wait_for_presolve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solve, "PATIENCE", Patience(0.0, 0.01, 0.01))
    presolved = threading.Event()

    def reduce(progress: Progress) -> mip.Reduced:
        presolved.wait(60.0)
        return mip.Reduced(three_of_six, lambda x: x)

    three_of_six = Problem.from_arrays(
        np.zeros(6), np.ones((1, 6)), 3.0, 3.0, upper=1, integrality=True
    )
    options = EngineOptions(heuristics_only=True, threads=2)
    outcome = search(three_of_six, options, Progress(60.0), None, reduce)
    assert not presolved.is_set()
    presolved.set()
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.stop_reason is StopReason.CONVERGED
