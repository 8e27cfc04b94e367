"""Models of ``pyomo.kernel`` through the old interface."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pyomo.kernel as pmo
import pytest

import gpu_bridge  # noqa: F401  # registers the solver
from gpu_bridge.adapters.pyomo.interface import HAS_NEW_INTERFACE, IncompatiblePyomoModelError
from gpu_bridge.adapters.pyomo.kernel import KernelTwin


def solver() -> Any:
    return pyo.SolverFactory("gpuheur")


def linear() -> pmo.block:
    """Return a model with its optimum at x = 4, y = 1, where a variable is fixed at 2."""
    m = pmo.block()
    m.dual = pmo.suffix(direction=pmo.suffix.IMPORT)
    m.rc = pmo.suffix(direction=pmo.suffix.IMPORT)
    m.x = pmo.variable(lb=0, ub=4)
    m.more = pmo.variable_dict()
    m.more["y"] = pmo.variable(lb=0)
    m.fixed = pmo.variable(value=2.0, fixed=True)
    m.limit = pmo.parameter(7)
    m.cap = pmo.constraint(m.x + m.more["y"] + m.fixed <= m.limit)
    m.alone = pmo.constraint(m.fixed <= 3)
    m.goal = pmo.objective(2 * m.x + m.more["y"] + m.fixed, sense=pmo.maximize)
    return m


def test_values_duals_and_results_of_a_linear_model() -> None:
    m = linear()
    results = solver().solve(m)
    assert results.solver.termination_condition == pyo.TerminationCondition.optimal
    assert (m.x.value, m.more["y"].value, m.fixed.value) == (4.0, 1.0, 2.0)
    assert m.dual[m.cap] == pytest.approx(1)
    assert m.rc[m.x] == pytest.approx(1)
    assert results.problem.upper_bound == pytest.approx(11)


def test_infinite_sides_are_none() -> None:
    m = linear()
    m.free = pmo.constraint((-float("inf"), m.x, float("inf")))
    m.half = pmo.constraint((1, m.x, float("inf")))
    solver().solve(m)
    assert m.x.value == 4.0
    m.half.lb = float("inf")
    if not HAS_NEW_INTERFACE:  # whose constraints take no such side
        with pytest.raises(ValueError, match="non-finite lower bound"):
            solver().solve(m)
        return
    results = solver().solve(m)
    assert results.solver.termination_condition == pyo.TerminationCondition.infeasible


def test_a_solution_can_be_loaded_later() -> None:
    m = linear()
    results = solver().solve(m, load_solutions=False)
    assert m.x.value is None
    m.load_solution(results.solution(0))
    assert m.x.value == 4.0


def test_integers_and_blocks() -> None:
    m = pmo.block()
    m.n = pmo.variable(domain_type=pmo.IntegerSet, lb=0)
    m.inner = pmo.block()
    m.inner.b = pmo.variable(domain=pmo.Binary)
    m.inner.c = pmo.linear_constraint([m.n, m.inner.b], [2, 3], ub=8)
    m.goal = pmo.objective(-m.n - 2 * m.inner.b)
    solver().solve(m)
    assert (m.n.value, m.inner.b.value) == (2, 1)


def test_better_points_are_told_by_the_kernels_variables_and_their_names() -> None:
    m, told = pmo.block(), []
    m.x = pmo.variable(lb=0, ub=4, domain_type=pmo.IntegerSet)
    m.fits = pmo.constraint(2 * m.x <= 7)
    m.goal = pmo.objective(m.x, sense=pmo.maximize)
    solver().solve(m, on_solution=lambda at: told.append((at.values[m.x], at.values["x"])))
    assert told[-1] == (3.0, 3.0)


def test_a_curve_by_an_ordered_set() -> None:
    m = pmo.block()
    m.at = pmo.variable(lb=0, ub=2)
    m.height = pmo.variable()
    m.curve = pmo.piecewise(
        [0, 1, 2], [0, 3, 2], input=m.at, output=m.height, repn="sos2", bound="eq"
    )
    m.goal = pmo.objective(m.height, sense=pmo.maximize)
    solver().solve(m)
    assert (m.at.value, m.height.value) == pytest.approx((1, 3))


def test_infeasible_models_keep_their_values_and_are_explained_by_their_names() -> None:
    m = linear()
    m.cap.ub = -3
    results = solver().solve(m)
    assert results.solver.termination_condition == pyo.TerminationCondition.infeasible
    assert "cap" in results.solver.message
    assert m.x.value is None
    assert len(results.solution) == 0


def test_nonlinear_rows_and_two_objectives_are_refused() -> None:
    m = linear()
    m.other = pmo.objective(m.x * m.more["y"])
    with pytest.raises(IncompatiblePyomoModelError, match="2 active objectives"):
        solver().solve(m)
    m.goal.deactivate()
    with pytest.raises(IncompatiblePyomoModelError, match="'other' has nonlinear terms"):
        solver().solve(m)


def test_starting_values_bounds_and_fixed_variables_are_those_of_the_kernel() -> None:
    m = linear()
    m.x.value = 3.0
    twin = KernelTwin(m).model
    x = twin.variable["x"]
    assert (x.value, x.lb, x.ub, x.fixed) == (3.0, 0, 4, False)
    assert "fixed" not in twin.variable  # its value stands in the sides
    assert twin.variable["more[y]"].ub is None
