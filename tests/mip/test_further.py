"""Heuristics begin again on a model that presolve has reduced further beside them."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.context import infeasible
from solvers.mip.model import MipModel
from solvers.mip.presolve_stage import hand_on, is_much_smaller
from solvers.mip.reducer import Reduced, unreduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import IncumbentStore
from solvers.mip.solve import search
from tests.mip.test_solve import covering

OPTIONS = EngineOptions(heuristics_only=True, device="cpu", threads=2, work_limit=0.02)
"""The work limit is for solves that no test ends."""

FIXED = 30


def without_last(problem: Problem) -> Reduced:
    """Return a problem of which the last columns are one."""
    kept = problem.num_columns - FIXED
    matrix = problem.matrix.toarray()
    used = matrix[:, kept:].sum(axis=1)
    rest = Problem.from_arrays(
        problem.cost[:kept],
        matrix[:, :kept],
        problem.row_lower - used,
        upper=1.0,
        integrality=True,
        offset=problem.offset + float(problem.cost[kept:].sum()),
    )
    return Reduced(rest, lambda x: np.concatenate([x, np.ones(FIXED)]), lambda x: x[:kept])


def solve(problem, further, options=OPTIONS, progress=None):
    def reduce(_):
        return dataclasses.replace(unreduced(problem), further=further)

    return search(problem, options, progress or Progress(time_limit=600.0), None, reduce)


def has_point(progress: Progress) -> None:
    """Wait for a point, or for the end of the test."""
    while np.isnan(progress.best_objective) and progress.should_stop() is None:
        time.sleep(0.01)


def test_heuristics_search_the_smaller_model_instead(monkeypatch):
    problem = covering()
    sizes: list[int] = []
    keep = Acceptance.submit

    def watched(self, x, source):
        sizes.append(x.size)
        return keep(self, x, source)

    class UntilThen(Progress):
        def should_stop(self):
            smaller = problem.num_columns - FIXED in sizes
            return StopReason.INTERRUPTED if smaller else super().should_stop()

    monkeypatch.setattr(Acceptance, "submit", watched)
    options = dataclasses.replace(OPTIONS, work_limit=None)
    progress = UntilThen(time_limit=600.0)
    outcome = solve(problem, lambda _: without_last(problem), options, progress)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert problem.num_columns - FIXED in sizes
    assert outcome.x is not None
    assert np.all(problem.matrix @ outcome.x >= 1.0)


def test_what_presolve_settles_ends_the_solve():
    problem = covering()
    x = np.ones(problem.num_columns)
    answer = Outcome(
        SolutionStatus.OPTIMAL, StopReason.CONVERGED, problem.objective_at(x), x=x, engine="test"
    )
    options = dataclasses.replace(OPTIONS, work_limit=None)
    settled = dataclasses.replace(unreduced(problem), settled=answer)
    outcome = solve(problem, lambda _: settled, options)
    assert outcome.stop_reason is StopReason.CONVERGED


def test_a_point_refutes_infeasibility():
    problem = covering()
    asked = []

    def further(progress):
        has_point(progress)
        asked.append(True)
        return dataclasses.replace(unreduced(problem), settled=infeasible())

    outcome = solve(problem, further)
    assert asked
    assert outcome.solution_status is SolutionStatus.FEASIBLE


def test_a_failure_there_leaves_the_heuristics_at_work():
    problem = covering()

    def further(progress):
        has_point(progress)
        raise RuntimeError("presolve is lost")

    assert solve(problem, further).solution_status is SolutionStatus.FEASIBLE


@pytest.mark.parametrize(
    ("rows", "columns", "is_much"), [(0, 0, False), (1, 1, False), (0, 5, True)]
)
def test_only_a_much_smaller_model_takes_the_place(rows, columns, is_much):
    problem = covering()
    kept = problem.matrix[rows:, columns:]
    other = Problem.from_arrays(
        problem.cost[columns:], kept, row_lower=1.0, upper=1.0, integrality=True
    )
    assert is_much_smaller(other, MipModel.of(problem)) == is_much


def test_the_least_violated_points_go_along():
    problem = covering()
    progress = Progress()
    incumbents = IncumbentStore(problem, progress, 1e-6, 10)
    reduced = without_last(problem)
    before = Acceptance(MipModel.of(problem), unreduced(problem), incumbents, progress)
    after = Acceptance(MipModel.of(reduced.problem), reduced, incumbents, progress)
    x = np.arange(problem.num_columns) % 2.0
    before.infeasible_points.add(x, 7)
    hand_on([before.original_of(one.x) for one in before.infeasible_points.points()], after)
    (point,) = after.infeasible_points.points()
    assert np.array_equal(point.x, x[:-FIXED])
    short = reduced.problem.row_lower - reduced.problem.matrix @ x[:-FIXED]
    assert point.violated_rows == np.count_nonzero(short > 1e-6)
