"""Pyomo's generator of Benders cuts knows how to read our duals."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from pyomo.contrib.benders.benders_cuts import solver_dual_sign_convention

import gpu_bridge  # noqa: F401  # registers the solver


@pytest.mark.parametrize("name", ["gpuheur", "gpuheur_persistent"])
def test_duals_have_the_sign_that_the_table_says(name: str) -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var()
    m.fix = pyo.Constraint(expr=m.x == 2)
    m.cost = pyo.Objective(expr=3 * m.x)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    solver = pyo.SolverFactory(name)
    if name.endswith("persistent"):
        solver.set_instance(m)
    solver.solve(m)
    # the cut takes the sign times the dual as what the cost loses where the side grows
    assert solver_dual_sign_convention[solver.name] * m.dual[m.fix] == pytest.approx(-3)
    assert solver_dual_sign_convention[name] == solver_dual_sign_convention["gurobi"]
