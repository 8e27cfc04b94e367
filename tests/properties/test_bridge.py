"""Properties that every answer of the bridge must have, whatever the problem."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge.verify.residuals import largest_relative_violation
from solvers.core.lp_answer import judge
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.pipeline.test_dispatch import assert_kkt
from tests.properties.strategies import problems


@given(problems())
@settings(max_examples=150)
def test_an_optimal_lp_satisfies_kkt(problem: Problem) -> None:
    outcome = gpu_bridge.solve(problem)
    assert outcome.solution_status is not SolutionStatus.NOTHING
    if outcome.solution_status is SolutionStatus.OPTIMAL:
        assert_kkt(problem, outcome)
        assert outcome.bound == pytest.approx(outcome.objective, abs=1e-6)


@given(problems())
@settings(max_examples=60)
def test_pdlp_and_the_reference_engine_agree(problem: Problem) -> None:
    first = gpu_bridge.solve(problem, method="highs")
    second = gpu_bridge.solve(problem, method="pdlp", device="cpu")
    assert second.solution_status is first.solution_status
    if first.solution_status is SolutionStatus.OPTIMAL:
        assert second.objective == pytest.approx(first.objective, abs=1e-8, rel=1e-8)


@given(problems())
@settings(max_examples=60)
def test_turning_the_sense_round_negates_everything(problem: Problem) -> None:
    first = gpu_bridge.solve(problem)
    second = gpu_bridge.solve(replace(problem, maximize=not problem.maximize))
    assert second.solution_status is first.solution_status
    if first.solution_status is SolutionStatus.OPTIMAL:
        assert second.objective == pytest.approx(-first.objective, abs=1e-9)
        assert second.row_dual == pytest.approx(-np.asarray(first.row_dual), abs=1e-9)
        assert second.reduced_cost == pytest.approx(-np.asarray(first.reduced_cost), abs=1e-9)


@given(problems(binary=True))
@settings(max_examples=100)
def test_binary_programs_against_enumeration(problem: Problem) -> None:
    best = np.inf
    for bits in itertools.product((0.0, 1.0), repeat=problem.num_columns):
        x = np.array(bits)
        if largest_relative_violation(problem, x) <= 1e-9:
            best = min(best, problem.objective_at(x))
    for method in ("auto", "mip"):
        outcome = gpu_bridge.solve(problem, method=method)
        if np.isinf(best):
            assert outcome.solution_status is SolutionStatus.INFEASIBLE
        else:
            assert outcome.solution_status is SolutionStatus.OPTIMAL
            sign = -1.0 if problem.maximize else 1.0
            assert outcome.objective == pytest.approx(sign * best, abs=1e-9)


@given(problems(), st.integers(0, 2**31))
@settings(max_examples=100)
def test_weak_duality(problem: Problem, seed: int) -> None:
    outcome = gpu_bridge.solve(problem, explain=False)
    if outcome.x is None:
        return
    y = np.random.default_rng(seed).normal(size=problem.num_rows)
    dual = judge(problem, outcome.x, y)
    if dual.largest_unsupported == 0.0:
        assert dual.statistics.dual_objective <= problem.objective_at(outcome.x) + 1e-7


@given(problems())
@settings(max_examples=60)
def test_a_conflict_is_infeasible_by_itself(problem: Problem) -> None:
    outcome = gpu_bridge.solve(problem)
    if outcome.conflict is None:
        return
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    rows = list(outcome.conflict.rows)
    free = np.ones(problem.num_columns, dtype=bool)
    free[list(outcome.conflict.columns)] = False
    part = Problem(
        cost=np.zeros(problem.num_columns),
        matrix=problem.matrix[rows, :],
        row_lower=problem.row_lower[rows],
        row_upper=problem.row_upper[rows],
        lower=np.where(free, -np.inf, problem.lower),
        upper=np.where(free, np.inf, problem.upper),
        integrality=problem.integrality,
    )
    assert gpu_bridge.solve(part, explain=False).solution_status is SolutionStatus.INFEASIBLE


@pytest.mark.parametrize("integer", [False, True])
def test_a_maximum_of_zero_has_no_sign(integer: bool) -> None:
    outcome = gpu_bridge.solve(
        Problem.from_arrays(
            [1.0, 1.0], [[2.0, 1.0]], row_upper=0.0, integrality=integer, maximize=True
        )
    )
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    numbers = [outcome.objective, outcome.bound, *(entry.objective for entry in outcome.pool)]
    assert numbers == [0.0] * len(numbers)
    assert not np.signbit(numbers).any()
