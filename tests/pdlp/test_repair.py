"""Mending answers that miss a tolerance, without PDLP's help."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.verify.verify import verify
from solvers import highs, pdlp, presolve
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.repair import repaired
from tests.locations import DATA
from tests.pdlp.lps import random_lp

OPTIONS = EngineOptions(device="cpu", tolerance=1e-6)


def exact(problem):
    outcome = highs.solve(problem, EngineOptions(), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    return outcome


def missing(problem, outcome, x=None, row_dual=None):
    """Return an outcome that claims nothing, with a point or duals put in."""
    return dataclasses.replace(
        outcome,
        solution_status=SolutionStatus.NOTHING,
        stop_reason=StopReason.NUMERICAL_TROUBLE,
        x=None,
        candidate=outcome.x if x is None else x,
        row_dual=outcome.row_dual if row_dual is None else row_dual,
        basis=None,
    )


def standard_form(seed, m=30, n=80):
    """Return an LP with equations and x >= 0 whose optimum has 40 columns off their bounds."""
    generator = np.random.default_rng(seed)
    A = generator.uniform(-1.0, 1.0, (m, n)) * (generator.random((m, n)) < 0.3)
    x = np.where(np.arange(n) < 40, generator.uniform(1.0, 2.0, n), 0.0)
    y = generator.standard_normal(m)
    cost = A.T @ y + np.where(x > 0, 0.0, generator.uniform(0.1, 1.0, n))
    problem = Problem.from_arrays(cost, A, A @ x, A @ x)
    claimed = Outcome(
        SolutionStatus.NOTHING, StopReason.ITERATION_LIMIT, candidate=x, row_dual=y, engine="pdlp"
    )
    return problem, claimed


def shaken(outcome, seed, size):
    noise = size * np.random.default_rng(seed).standard_normal(outcome.candidate.size)
    moved = outcome.candidate + np.where(outcome.candidate > 0, noise, 0.0)
    return dataclasses.replace(outcome, candidate=moved)


@pytest.mark.parametrize("seed", range(5))
def test_point_that_misses_its_rows_becomes_optimal(seed):
    problem, best = standard_form(seed)
    broken = shaken(best, seed, 3e-5)
    assert verify(problem, broken, OPTIONS).solution_status is not SolutionStatus.OPTIMAL
    mended = repaired(problem, broken, OPTIONS, Progress())
    assert verify(problem, mended, OPTIONS).solution_status is SolutionStatus.OPTIMAL
    assert mended.objective == pytest.approx(problem.objective_at(best.candidate), rel=1e-5)
    assert mended.statistics["repair_iterations"] > 0
    assert mended.engine == "pdlp"


def test_duals_that_price_free_columns_wrongly_become_optimal():
    generator = np.random.default_rng(1)
    A = generator.uniform(-1.0, 1.0, (20, 30))
    y = generator.standard_normal(20)
    x = generator.uniform(1.0, 2.0, 30)
    b = A @ x
    problem = Problem.from_arrays(A.T @ y, A, b, b, lower=-np.inf)
    wrong = y + 1e-4 * generator.standard_normal(20)
    broken = Outcome(
        SolutionStatus.NOTHING, StopReason.ITERATION_LIMIT, candidate=x, row_dual=wrong
    )
    mended = repaired(problem, broken, OPTIONS, Progress())
    assert mended.solution_status is SolutionStatus.OPTIMAL
    np.testing.assert_allclose(mended.row_dual, y, atol=1e-5)
    np.testing.assert_array_equal(mended.x, x)


def test_one_sided_reduced_costs_are_mended_to_their_sign():
    """x >= 0 without an upper bound needs c - A'y >= 0, and y >= 0 in a row 'at least'."""
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], [2.0])
    broken = Outcome(
        SolutionStatus.NOTHING,
        StopReason.ITERATION_LIMIT,
        candidate=np.array([2.0, 0.0]),
        row_dual=np.array([1.0 + 1e-5]),
    )
    mended = repaired(problem, broken, OPTIONS, Progress())
    assert mended.solution_status is SolutionStatus.OPTIMAL
    assert mended.row_dual[0] <= 1.0 + 1e-6
    assert mended.objective == 2.0


def test_optimal_answer_is_left_alone():
    problem = random_lp(3, rows=20, columns=30)
    best = exact(problem)
    assert repaired(problem, best, OPTIONS, Progress()) is best


def test_hopeless_answers_are_left_alone():
    problem = random_lp(3, rows=20, columns=30)
    best = exact(problem)
    far = missing(problem, best, x=best.x + 10.0)
    assert repaired(problem, far, OPTIONS, Progress()) is far
    # Feasible, but the objective is nowhere near that of the duals.
    costly = missing(problem, best, row_dual=np.zeros(20))
    assert repaired(problem, costly, OPTIONS, Progress()) is costly
    for broken in (
        dataclasses.replace(best, x=None, candidate=None),
        dataclasses.replace(best, row_dual=None),
        missing(problem, best, x=np.full(30, np.nan)),
        missing(problem, best, row_dual=np.full(20, np.inf)),
    ):
        assert repaired(problem, broken, OPTIONS, Progress()) is broken


def test_no_time_means_no_change():
    problem, best = standard_form(0)
    broken = shaken(best, 0, 1e-4)
    assert repaired(problem, broken, OPTIONS, Progress(0.0)) is broken


def test_postsolved_answer_is_mended_sooner_than_by_pdlp():
    """adlittle after presolve: PDLP's point at 1e-4, made a little worse in every column."""
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    reduction = presolve.apply(problem, Progress())
    options = dataclasses.replace(OPTIONS, tolerance=1e-4)
    answer = reduction.undo(pdlp.solve(reduction.problem, options, Progress()))
    moved = answer.x * (1.0 + 1e-4 * np.random.default_rng(0).standard_normal(answer.x.size))
    broken = missing(problem, answer, x=moved)
    mended = repaired(problem, broken, options, Progress())
    assert verify(problem, mended, options).solution_status is SolutionStatus.OPTIMAL
