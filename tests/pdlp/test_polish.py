"""Feasibility polishing: residuals fall, the gap stays, and nothing is adopted that is worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.lp_answer import judge
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.repair import dual_feasibility, polish
from tests.pdlp.lps import random_lp

ROUGH = EngineOptions(device="cpu", tolerance=1e-3)


def rough_answer(problem: Problem) -> Outcome:
    outcome = pdlp.solve(problem, ROUGH, Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    return outcome


@pytest.mark.parametrize("seed", range(4))
def test_both_residuals_fall_and_the_gap_stays_within_its_tolerance(seed):
    problem = random_lp(seed, 30, 40)
    rough = rough_answer(problem)
    before = judge(problem, rough.x, rough.row_dual).statistics
    assert max(before.relative_primal, before.relative_dual) > 1e-8
    polished = polish(problem, rough, ROUGH, Progress(), feasibility=1e-8)
    after = judge(problem, polished.x, polished.row_dual).statistics
    assert after.relative_primal <= 1e-8
    assert after.relative_dual <= 1e-8
    assert after.relative_gap <= 1e-3
    assert polished.solution_status is SolutionStatus.OPTIMAL
    assert polished.statistics["polish_iterations"] > 0
    assert polished.objective == pytest.approx(problem.objective_at(polished.x))


def test_a_phase_goes_where_the_one_before_had_to_go_on(monkeypatch):
    problem, solve, asked = random_lp(0, 30, 40), pdlp.solve, []
    rough = rough_answer(problem)

    def on_cpu(problem, options, *rest, **named):
        asked.append(options.device)
        return solve(problem, replace(options, device="cpu"), *rest, **named)

    monkeypatch.setattr(pdlp, "solve", on_cpu)
    polish(problem, rough, replace(ROUGH, device="cuda:all"), Progress(), feasibility=1e-8)
    assert asked == ["cuda:all", "cpu"]


def test_what_is_good_enough_stays_as_it_is():
    problem = random_lp(1, 30, 40)
    rough = rough_answer(problem)
    assert polish(problem, rough, ROUGH, Progress()) is rough


def test_a_point_without_duals_stays_as_it_is():
    problem = random_lp(1, 30, 40)
    bare = Outcome(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, x=np.zeros(40))
    assert polish(problem, bare, ROUGH, Progress()) is bare


def test_a_candidate_short_of_feasible_becomes_a_point():
    problem = random_lp(2, 30, 40)
    rough = rough_answer(problem)
    shifted = replace(rough, x=None, candidate=rough.x + 0.01)
    polished = polish(
        problem, shifted, replace(ROUGH, tolerance=1e-2), Progress(), feasibility=1e-7
    )
    assert polished.x is not None
    assert judge(problem, polished.x, polished.row_dual).statistics.relative_primal <= 1e-7


def test_a_gap_that_would_open_is_not_adopted():
    # Row by row, x = 1 is feasible at a cost of 1000 only, while the rough point is at 0.999.
    problem = Problem.from_arrays([0.0, 1e6], [[1.0, 1.0]], [1.0], upper=[0.999, 1.0])
    rough = Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.TIME_LIMIT,
        x=np.array([0.999, 0.0]),
        row_dual=np.array([0.0]),
    )
    assert polish(problem, rough, ROUGH, Progress(), feasibility=1e-8) is rough


def test_without_time_nothing_changes():
    problem = random_lp(3, 30, 40)
    rough = rough_answer(problem)
    assert polish(problem, rough, ROUGH, Progress(0.0), feasibility=1e-12) is rough


def test_an_iteration_limit_holds_for_each_phase():
    problem = random_lp(3, 30, 40)
    rough = rough_answer(problem)
    limited = replace(ROUGH, iteration_limit=1)
    assert polish(problem, rough, limited, Progress(), feasibility=1e-10) is rough


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_phase_asks_for_the_duals_of_the_problem(seed):
    problem = random_lp(seed, 12, 15)
    dual = dual_feasibility(problem)
    assert (dual.num_rows, dual.num_columns) == (15, 12)
    generator = np.random.default_rng(seed)
    for _ in range(20):
        y = np.clip(generator.standard_normal(12), dual.lower, dual.upper)
        found = judge(problem, np.zeros(15), y).statistics.dual_residual
        activity = problem.matrix.T @ y
        expected = np.linalg.norm(activity - np.clip(activity, dual.row_lower, dual.row_upper))
        assert found == pytest.approx(expected)
