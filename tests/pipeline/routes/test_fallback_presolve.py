"""PDLP that goes on with another reduction after many iterations: what comes out, and limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge import SolutionStatus, StopReason
from gpu_bridge.pipeline.routes import fallback_presolve
from gpu_bridge.pipeline.routes import pdlp as route
from solvers import pdlp
from solvers.core.problem import Problem
from tests.pdlp.lps import random_lp, solve_with_highs

FEW = 200
"""Iterations of the first attempt here, at 1e-8."""

FALLBACK = "what HiGHS's presolve leaves"


@pytest.fixture(autouse=True)
def early(monkeypatch):
    monkeypatch.setattr(fallback_presolve, "ITERATIONS_OF_LIGHT", FEW)


def solve(problem: Problem, **options):
    wishes = {"method": "pdlp", "device": "cpu", "crossover": "off", **options}
    return gpu_bridge.solve(problem, **wishes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("crossover", ["off", "on"])
def test_the_second_attempt_finds_the_optimum(seed, crossover):
    problem = random_lp(seed, rows=40, columns=60)
    outcome = solve(problem, tolerance=1e-8, crossover=crossover)
    assert FALLBACK in outcome.log
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-6)


def test_a_large_model_has_one_attempt(monkeypatch):
    problem = random_lp(0, rows=40, columns=60)
    monkeypatch.setattr(fallback_presolve, "LARGE", problem.num_nonzeros)
    outcome = solve(problem, tolerance=1e-8)
    assert FALLBACK not in outcome.log
    assert outcome.statistics["iterations"] > FEW
    assert outcome.solution_status is SolutionStatus.OPTIMAL


@pytest.mark.parametrize(("tolerance", "most"), [(1e-9, FEW), (1e-8, FEW), (1e-4, round(FEW / 16))])
def test_a_looser_tolerance_has_a_shorter_first_attempt(tolerance, most):
    assert fallback_presolve._iterations_of_light(tolerance) == most


def test_the_first_attempt_is_enough_for_an_easy_problem():
    problem = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], 1.0, np.inf)
    outcome = solve(problem, tolerance=1e-4)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert FALLBACK not in outcome.log


@pytest.mark.parametrize(("limit", "falls_back"), [(FEW, False), (2 * FEW + 50, True)])
def test_the_limit_of_iterations_holds_for_both_together(limit, falls_back):
    outcome = solve(random_lp(1, rows=60, columns=90), tolerance=1e-9, iteration_limit=limit)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit
    assert (FALLBACK in outcome.log) is falls_back
    assert outcome.x is not None or outcome.candidate is not None


def test_only_the_first_attempt_gives_up_where_it_gets_nowhere(monkeypatch):
    given = []
    honest = pdlp.solve

    def listening(*arguments, **options):
        given.append(options["settings"])
        return honest(*arguments, **options)

    monkeypatch.setattr(pdlp, "solve", listening)
    solve(random_lp(0, rows=40, columns=60), tolerance=1e-8)
    assert [settings.alternation.hopeless_from for settings in given] == [
        fallback_presolve.HOPELESS_AFTER,
        math.inf,
    ]


def test_without_presolve_there_is_one_attempt():
    problem = random_lp(2, rows=40, columns=60)
    outcome = solve(problem, tolerance=1e-6, presolve=False)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert FALLBACK not in outcome.log
    assert outcome.statistics["iterations"] > FEW


def test_an_infeasible_problem_is_proven_by_the_second_attempt():
    rows = [[1.0, 1.0, 0.3], [1.0, 2.0, 0.1], [-2.0, -3.0, -0.4]]
    problem = Problem.from_arrays([1.0, 1.0, 1.0], rows, [1.0, 1.0, -1.9], np.inf, lower=-np.inf)
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE


def test_the_second_attempt_asks_for_no_gpu_that_the_first_had_to_leave(monkeypatch):
    honest, asked = pdlp.solve, []

    def on_cpu(problem, options, *rest, **named):
        asked.append(options.device)
        return honest(problem, replace(options, device="cpu"), *rest, **named)

    monkeypatch.setattr(pdlp, "solve", on_cpu)
    monkeypatch.setattr(route, "fitting_device", lambda *arguments, **named: "cuda:all")
    solve(random_lp(0, rows=40, columns=60), tolerance=1e-8)
    assert asked[:2] == ["cuda:all", "cpu"]
