"""Solvers in processes of their own: what a crash, a hang and a refusal come to."""

import os
import time

import numpy as np
import pytest

from benchmarks.linear_programs import LinearProgram, banded
from benchmarks.peers import NAMES, Answer, Solver, Task, find
from benchmarks.worker import Worker, run


class Made(Solver):
    """A solver whose behaviour is the name of the program."""

    @property
    def label(self) -> str:
        return "made"

    def missing(self) -> None:
        return None

    def prepare(self, lp: LinearProgram, task: Task) -> str:
        return lp.name

    def solve(self, model: str, task: Task) -> Answer:
        if model == "crash":
            os._exit(3)
        if model == "hang":
            time.sleep(60.0)
        if model == "raise":
            raise ArithmeticError("out of luck")
        return Answer("optimal", x=np.zeros(1), iterations=task.iteration_limit, detail=model)


class Refusing(Made):
    """A solver that cannot be loaded."""

    def prepare(self, lp: LinearProgram, task: Task) -> str:
        os._exit(1)


def named(name: str) -> LinearProgram:
    lp = banded(64)
    return LinearProgram(name, lp.cost, lp.matrix, lp.row_lower, lp.row_upper, lp.lower, lp.upper)


def test_crash_and_hang_cost_one_run_each():
    with Worker(Made, trial=False, grace=1.0) as worker:
        assert worker.solve(named("fine"), Task(1e-4, 5.0)).answer.status == "optimal"
        assert worker.solve(named("crash"), Task(1e-4, 5.0)).answer.status == "crash"
        assert worker.solve(named("fine"), Task(1e-4, 5.0, 7)).answer.iterations == 7
        assert worker.solve(named("hang"), Task(1e-4, 0.1)).answer.status == "hang"
        failed = worker.solve(named("raise"), Task(1e-4, 5.0)).answer
        assert failed.status == "failed"
        assert "out of luck" in failed.detail


def test_a_solver_that_cannot_be_loaded_is_tried_once():
    with Worker(Refusing, trial=False) as worker:
        answers = [worker.solve(named("fine"), Task(1e-4, 5.0)).answer for _ in range(2)]
    assert [answer.status for answer in answers] == ["failed", "failed"]
    assert "did not start" in answers[1].detail


def test_the_unmeasured_trial_is_looser_and_shorter():
    asked = []

    class Noting(Made):
        def solve(self, model: str, task: Task) -> Answer:
            asked.append(task)
            return Answer("optimal", seconds=12.5)

    timed = run(Noting(), named("fine"), Task(1e-8, 100.0), trial=True)
    assert [task.tolerance for task in asked] == [1e-2, 1e-8]
    assert asked[0].time_limit < asked[1].time_limit == 100.0
    assert timed.seconds == 12.5


@pytest.mark.parametrize("name", NAMES)
def test_every_solver_says_whether_it_is_there(name):
    solver = find(name)
    why = solver.missing()
    assert why is None or isinstance(why, str)
    if why is None:
        assert solver.label


def test_unknown_solvers_are_named():
    with pytest.raises(KeyError, match="no solver 'nobody'"):
        find("nobody")
