"""Presolve that heuristics do not wait for, and what becomes of it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gpu_bridge
from solvers import presolve
from solvers.core.progress import Progress
from solvers.mip import reducer
from solvers.mip.reducer import BackgroundPresolve, Reducer
from tests.mip.test_solve import covering


class Held:
    """Presolve that goes no further until it is let go."""

    def __init__(self, monkeypatch) -> None:
        self.may_go_on, self.calls = threading.Event(), 0
        self._apply = presolve.apply
        monkeypatch.setattr(presolve, "apply", self)

    def __call__(self, problem, progress, kind):
        self.calls += 1
        while not self.may_go_on.wait(0.01):
            if progress.should_stop() is not None:
                return presolve.unchanged(problem)
        return self._apply(problem, progress, kind)


def with_a_fixed_column():
    """A model of which presolve leaves less."""
    problem = covering()
    upper = problem.upper.copy()
    upper[:5] = 0.0
    return gpu_bridge.Problem.from_arrays(
        problem.cost, problem.matrix, row_lower=1.0, upper=upper, integrality=True
    )


def test_what_goes_on_beside_is_not_begun_anew(monkeypatch):
    held, problem, progress = Held(monkeypatch), with_a_fixed_column(), Progress(600.0)
    monkeypatch.setattr(reducer, "PRESOLVE_AT_MOST", 0.05)
    reduce = Reducer(problem)
    first = reduce(progress)
    assert first.problem is problem
    assert first.further is not None
    held.may_go_on.set()
    second = first.further(progress)
    assert second.problem.num_columns < problem.num_columns
    assert second.further is None
    assert held.calls == 1


def test_a_presolve_that_ends_in_time_leaves_nothing_further():
    reduced = Reducer(with_a_fixed_column())(Progress(600.0))
    assert reduced.problem.num_columns < 90
    assert reduced.further is None
    assert reduced.to_original(np.ones(reduced.problem.num_columns)).size == 90


def test_of_a_huge_model_it_begins_once_heuristics_are_set_up(monkeypatch):
    held, problem = Held(monkeypatch), with_a_fixed_column()
    held.may_go_on.set()
    monkeypatch.setattr(reducer, "PRESOLVE_BESIDE_FROM", 1)
    reduced = Reducer(problem)(Progress(600.0))
    assert reduced.problem is problem
    assert held.calls == 0
    assert reduced.further is not None
    assert reduced.further(Progress(600.0)).problem.num_columns < problem.num_columns


def test_nobody_waits_for_it_after_the_end(monkeypatch):
    held, problem, progress = Held(monkeypatch), with_a_fixed_column(), Progress(600.0)
    background = BackgroundPresolve(problem, progress, 600.0)
    assert not background.wait(0.05)
    assert background.reduction().problem is problem
    background.abandon()
    assert background.wait(60.0)
    assert background.reduction().problem is problem
    progress.interrupt()
    held.may_go_on.clear()
    monkeypatch.setattr(reducer, "PRESOLVE_AT_MOST", 0.0)
    further = Reducer(problem)(progress).further
    assert further is not None
    assert further(progress).problem is problem


def test_what_it_raises_is_raised_to_who_asks(monkeypatch):
    def fail(problem, progress, kind):
        raise ValueError("no presolve")

    monkeypatch.setattr(presolve, "apply", fail)
    background = BackgroundPresolve(covering(), Progress(600.0), 600.0)
    assert background.wait(60.0)
    with pytest.raises(ValueError, match="no presolve"):
        background.reduction()


def test_a_solve_goes_on_while_presolve_does_not(monkeypatch):
    Held(monkeypatch)
    monkeypatch.setattr(reducer, "PRESOLVE_AT_MOST", 0.05)
    outcome = gpu_bridge.solve(with_a_fixed_column(), method="mip", device="cpu", time_limit=600.0)
    assert outcome.solution_status is gpu_bridge.SolutionStatus.OPTIMAL
