"""Duals, reduced costs and slacks: their signs, their suffixes, and equal answers by all doors."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings

import gpu_bridge
from gpu_bridge.adapters.pyomo import GpuHeur
from solvers.core.problem import Problem
from tests.adapters.pyomo.models import from_problem, knapsack, production
from tests.properties.strategies import problems

QUIET = {"raise_exception_on_nonoptimal_result": False, "load_solutions": False}


def with_suffixes(m: Any) -> Any:
    for name in ("dual", "rc", "slack"):
        m.add_component(name, pyo.Suffix(direction=pyo.Suffix.IMPORT))
    return m


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_signs_follow_the_objective_s_slope(sense: Any) -> None:
    """Moving a side or bound by h changes the objective by its multiplier times h."""

    def solve(shift: dict[str, float]) -> tuple[float, Any]:
        s = 1 if sense == pyo.minimize else -1
        m = with_suffixes(pyo.ConcreteModel())
        m.x = pyo.Var([1, 2, 3, 4], bounds=lambda _, k: (0, 3 + (k == 2) * shift.get("x2", 0)))
        m.x[1].setlb(shift.get("x1", 0))
        m.obj = pyo.Objective(
            expr=s * (1.5 * m.x[1] - 3 * m.x[2] + m.x[3] + 2 * m.x[4]), sense=sense
        )
        m.low = pyo.Constraint(expr=m.x[3] + m.x[4] >= 4 + shift.get("low", 0))
        m.flipped = pyo.Constraint(expr=-2.5 - shift.get("flipped", 0) >= -m.x[4] - m.x[1])
        m.range = pyo.Constraint(expr=(-9, m.x[2] - m.x[3], 1 + shift.get("range", 0)))
        GpuHeur().solve(m)
        return pyo.value(m.obj), m

    base, m = solve({})
    h = 1e-3
    for key, multiplier in (
        ("low", m.dual[m.low]),
        ("flipped", m.dual[m.flipped]),
        ("range", m.dual[m.range]),
        ("x1", m.rc[m.x[1]]),
        ("x2", m.rc[m.x[2]]),
    ):
        # Pyomo holds 'flipped' as body <= side with body = -x4 - x1 and side = -2.5 - h
        direction = -1 if key == "flipped" else 1
        slope = (solve({key: h})[0] - base) / h
        assert multiplier == pytest.approx(direction * slope, abs=1e-6), key
    assert m.slack[m.range] == pytest.approx(-9 - pyo.value(m.range.body))


@pytest.mark.parametrize(
    ("low", "high", "value", "slack"),
    [(None, 5, 2, 3), (1, None, 2, -1), (0, 3, 1, 2), (0, 3, 2, -2), (2, 2, 2, 0)],
)
def test_slack_is_side_minus_body_of_the_farther_side(
    low: float | None, high: float | None, value: float, slack: float
) -> None:
    m = with_suffixes(pyo.ConcreteModel())
    m.x = pyo.Var(bounds=(value, value))
    m.c = pyo.Constraint(expr=pyo.inequality(low, m.x, high) if low != high else m.x == low)
    GpuHeur().solve(m)
    assert m.slack[m.c] == slack


def test_dual_of_a_mip_stays_empty_with_a_message(caplog: pytest.LogCaptureFixture) -> None:
    m = with_suffixes(knapsack())
    m.dual[m.room] = 99.0
    with caplog.at_level(logging.WARNING):
        GpuHeur().solve(m)
    assert len(m.dual) == len(m.rc) == 0
    assert m.slack[m.room] >= 0
    assert "'dual' stays empty: a mixed-integer model has no duals" in caplog.text


def test_constant_rows_have_dual_zero_and_free_rows_none() -> None:
    m = with_suffixes(production())
    m.z = pyo.Var(initialize=2)
    m.z.fix()
    m.constant = pyo.Constraint(expr=m.z <= 3)
    m.free = pyo.Constraint(expr=(-float("inf"), m.x + m.y, float("inf")))
    GpuHeur().solve(m)
    assert m.dual[m.constant] == 0
    assert m.slack[m.constant] == 1
    assert m.free not in m.dual
    assert m.z not in m.rc


def test_export_suffixes_are_silent(caplog: pytest.LogCaptureFixture) -> None:
    m = production()
    m.scaling_factor = pyo.Suffix(direction=pyo.Suffix.EXPORT)
    m.scaling_factor[m.x] = 10.0
    m.priority = pyo.Suffix(direction=pyo.Suffix.EXPORT)
    with caplog.at_level(logging.DEBUG):
        GpuHeur().solve(m)
    assert "uffix" not in caplog.text
    assert m.scaling_factor[m.x] == 10


def test_unknown_import_suffixes_are_cleared_and_stay_empty() -> None:
    m = production()
    m.urc = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.urc[m.x] = 5.0
    GpuHeur().solve(m)
    assert len(m.urc) == 0


@settings(max_examples=40)
@given(problems())
def test_same_answer_as_from_matrices(problem: Problem) -> None:
    """Statuses and objectives agree; so do multipliers, as far as strong duality fixes them."""
    direct = gpu_bridge.solve(problem, explain=False)
    m = from_problem(problem)
    results = GpuHeur().solve(m, solver_options={"explain": False}, **QUIET)
    outcome = results.solution_loader.outcome
    assert outcome.solution_status is direct.solution_status
    if not direct.solution_status.has_point:
        return
    assert results.incumbent_objective == pytest.approx(direct.objective, abs=1e-7)
    duals = results.solution_loader.get_duals()
    costs = results.solution_loader.get_reduced_costs()
    gradient = -problem.cost if problem.maximize else problem.cost
    A = problem.matrix.toarray()
    for j in range(problem.num_columns):
        if m.x[j] in costs:
            priced = sum(A[i, j] * duals[m.c[i]] for i in m.c if m.c[i] in duals)
            assert costs[m.x[j]] == pytest.approx(gradient[j] - priced, abs=1e-6)


@settings(max_examples=15)
@given(problems(binary=True, most=4))
def test_same_answer_as_from_matrices_with_integers(problem: Problem) -> None:
    direct = gpu_bridge.solve(problem, explain=False)
    m = from_problem(problem)
    results = GpuHeur().solve(m, solver_options={"explain": False}, **QUIET)
    assert results.solution_loader.outcome.solution_status is direct.solution_status
    if direct.solution_status.has_point:
        assert results.incumbent_objective == pytest.approx(direct.objective, abs=1e-7)
        results.solution_loader.load_vars()
        if problem.cost.any():
            assert pyo.value(m.obj) == pytest.approx(direct.objective, abs=1e-7)
            assert np.isfinite(results.objective_bound)
