"""What a solve says in the end: above all that the least violated point is there for who asks."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gpu_bridge as gb
from solvers import mip
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.context import Knowledge, answer
from solvers.mip.model import MipModel
from solvers.mip.reducer import unreduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import IncumbentStore, least_objective
from solvers.mip.solve import search


@pytest.fixture
def no_room() -> Problem:
    """Six binaries of which exactly three are one, and of the same six at most two."""
    return Problem.from_arrays(
        np.ones(6), np.ones((2, 6)), [3, -np.inf], [3, 2], upper=1, integrality=True
    )


def knowledge(problem: Problem, progress: Progress) -> Knowledge:
    incumbents = IncumbentStore(problem, progress, 1e-6, 5)
    acceptance = Acceptance(MipModel.of(problem), unreduced(problem), incumbents, progress)
    return Knowledge(incumbents, acceptance, proof=None, settled=None, device="cpu")


def candidate_of(known: Knowledge, progress: Progress) -> np.ndarray | None:
    outcome = answer(known, EngineOptions(), progress)
    assert outcome.solution_status is SolutionStatus.NOTHING
    return outcome.candidate


TWO, THREE = np.array([1.0, 1, 0, 0, 0, 0]), np.array([1.0, 1, 1, 0, 0, 0])
NONE_OF_THEM, ALL = np.zeros(6), np.ones(6)
"""Points that violate one row, and others: the last one both."""


def test_without_any_near_point_there_is_no_candidate(no_room):
    progress = Progress()
    assert candidate_of(knowledge(no_room, progress), progress) is None


def test_points_of_the_reduced_model_are_told_of(no_room):
    progress = Progress()
    known = knowledge(no_room, progress)
    known.acceptance.infeasible_points.add(TWO, 1)
    np.testing.assert_array_equal(candidate_of(known, progress), TWO)


def test_points_of_the_original_count_before_anything_is_reduced(no_room):
    progress = Progress()
    known = dataclasses.replace(knowledge(no_room, progress), acceptance=None)
    known.incumbents.infeasible_points.add(TWO, 1)
    np.testing.assert_array_equal(candidate_of(known, progress), TWO)


@pytest.mark.parametrize(("early", "late"), [(ALL, THREE), (THREE, ALL)])
def test_whichever_violates_fewer_rows_of_the_original_counts(no_room, early, late):
    progress = Progress()
    known = knowledge(no_room, progress)
    known.incumbents.infeasible_points.add(
        early, 1
    )  # what is said of the number of rows may be of another model
    known.acceptance.infeasible_points.add(late, 1)
    np.testing.assert_array_equal(candidate_of(known, progress), THREE)


def test_an_end_during_presolve_leaves_what_the_sweep_came_to(no_room):
    progress = Progress()

    def reduce(whole: Progress) -> mip.Reduced:
        whole.interrupt()
        return unreduced(no_room)

    options = EngineOptions(heuristics_only=True, deterministic=True)
    outcome = search(no_room, options, progress, None, reduce)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.candidate is not None
    assert outcome.candidate.sum() <= 3  # one row violated, not both


def test_an_end_during_presolve_leaves_a_point_where_one_is_plain(no_room):
    progress = Progress()

    def reduce(whole: Progress) -> mip.Reduced:
        whole.interrupt()
        return unreduced(no_room)

    options = EngineOptions(heuristics_only=True, threads=2)
    outcome = search(no_room, options, progress, None, reduce)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.candidate is not None
    roomy = dataclasses.replace(no_room, row_upper=np.array([6.0, 6.0]))
    outcome = search(roomy, options, Progress(), None, reduce)
    assert outcome.objective <= 6.0  # a sweep beside it may have come further


def test_of_points_that_violate_as_many_rows_the_least_violated_counts(no_room):
    progress = Progress()
    known = knowledge(no_room, progress)
    for x in (NONE_OF_THEM, TWO, np.array([1.0, 0, 0, 0, 0, 0])):
        known.acceptance.infeasible_points.add(x, 1)
    np.testing.assert_array_equal(candidate_of(known, progress), TWO)


def test_a_user_gets_the_least_violated_point_with_its_violation():
    even = Problem.from_arrays(
        np.zeros(40), 2.0 * np.ones((1, 40)), 30.5, 31.5, upper=1, integrality=True
    )
    alone = {"heuristics_only": True, "deterministic": True, "work_limit": 0.01}
    outcome = gb.solve(even, method="mip", presolve=False, device="cpu", **alone)
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.candidate is not None
    assert outcome.candidate.sum() in (15.0, 16.0)
    assert outcome.residuals.primal == 0.5


@pytest.mark.parametrize(
    ("is_work_done", "reason"), [(True, StopReason.ITERATION_LIMIT), (False, StopReason.EXHAUSTED)]
)
def test_who_was_stopped_by_a_limit_on_work_does_not_say_that_nothing_was_left(
    no_room, is_work_done, reason
):
    progress = Progress()
    known = dataclasses.replace(knowledge(no_room, progress), is_work_done=is_work_done)
    assert answer(known, EngineOptions(), progress).stop_reason is reason
    roomy = knowledge(dataclasses.replace(no_room, row_upper=np.array([6.0, 6.0])), progress)
    roomy.incumbents.record(ALL, "test")
    roomy = dataclasses.replace(roomy, is_work_done=is_work_done)
    assert answer(roomy, EngineOptions(), progress).stop_reason is reason


@pytest.mark.parametrize("how", [{}, {"threads": 1}, {"deterministic": True}], ids=str)
def test_any_point_will_do_where_nothing_costs(how):
    rng = np.random.default_rng(7)
    matrix = rng.integers(-4, 5, (6, 15)).astype(float)
    sides = matrix @ rng.integers(0, 4, 15)
    problem = Problem.from_arrays(
        np.zeros(15), matrix, sides, sides + 1.0, upper=5, integrality=True, offset=2.5
    )
    outcome = gb.solve(
        problem,
        method="mip",
        heuristics_only=True,
        presolve=False,
        device="cpu",
        time_limit=100,
        work_limit=5.0,
        **how,
    )
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.stop_reason is StopReason.CONVERGED
    assert outcome.objective == outcome.bound == 2.5


def test_heuristics_alone_end_at_the_best_ends_of_the_bounds():
    problem = Problem.from_arrays(
        [3.0, -2.0, 0.0], [[1, 1, 1], [0, 1, -1]], [2, -1], [9, 9], upper=4, integrality=True
    )
    outcome = mip.solve(
        problem, EngineOptions(heuristics_only=True, presolve=False), Progress(100.0)
    )
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == -8.0


def test_no_point_within_the_bounds_is_below_the_least_objective():
    rng = np.random.default_rng(3)
    for _ in range(50):
        lower, cost = rng.normal(size=7), rng.normal(size=7) * 10.0 ** rng.integers(-6, 7)
        upper = lower + rng.random(7)
        problem = Problem.from_arrays(cost, lower=lower, upper=upper, offset=rng.normal())
        model = MipModel.of(problem)
        best = np.where(cost > 0, lower, upper)
        least = least_objective(model)
        assert least <= model.objective_at(best)
        assert least == pytest.approx(model.objective_at(best), rel=1e-12, abs=1e-12)
    endless = Problem.from_arrays([1.0, -1.0], lower=0.0, upper=[3.0, np.inf])
    assert least_objective(MipModel.of(endless)) == -np.inf


@pytest.mark.parametrize(
    ("below", "is_optimal"), [(0.0, True), (2e-14, True), (1e-9, False), (1.0, False)]
)
def test_a_gap_of_nothing_forgives_rounding_alone(no_room, below, is_optimal):
    progress = Progress()
    known = knowledge(dataclasses.replace(no_room, row_upper=np.array([6.0, 6.0])), progress)
    known.incumbents.record(ALL, "test")
    progress.bound(6.0 - below, "test")
    strict = EngineOptions(rel_gap=0.0, abs_gap=0.0)
    assert known.incumbents.is_closed(strict.rel_gap, strict.abs_gap) is is_optimal
    outcome = answer(known, strict, progress)
    assert (outcome.solution_status is SolutionStatus.OPTIMAL) is is_optimal
