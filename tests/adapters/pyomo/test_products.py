"""Products of parameters and sums are multiplied out, and say what Pyomo makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.repn import generate_standard_repn

from gpu_bridge.adapters.pyomo.convert import ModelReader
from gpu_bridge.adapters.pyomo.interface import HAS_NEW_INTERFACE
from gpu_bridge.adapters.pyomo.rows import RowCompiler
from solvers.core.errors import ProblemError
from tests.cases import through


def model() -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2, 3], bounds=(0, 5))
    m.p = pyo.Param([1, 2], mutable=True, initialize={1: 3.0, 2: -2.0})
    m.q = pyo.Param(mutable=True, initialize=0.5)
    m.e = pyo.Expression(expr=m.q * m.x[1] - m.x[2] + m.p[2])
    m.f = pyo.Expression([1], rule=lambda m, _: 2 * m.e + m.x[3])
    return m


SHAPES = {
    "a difference": lambda m: m.p[1] * (m.x[1] - m.x[2]),
    "from the right": lambda m: (m.x[1] - 2 * m.x[2]) * m.p[1],
    "a sum of products": lambda m: sum(m.p[k] * (m.x[k] - m.x[k + 1]) for k in (1, 2)),
    "within a product": lambda m: m.p[1] * (m.q * (m.x[1] + 2 * m.x[2]) - m.x[3] + 4),
    "a product of parameters": lambda m: m.p[1] * m.p[2] * (m.x[1] + m.q),
    "taken away": lambda m: m.x[3] - m.p[1] * (m.x[1] + m.x[2]),
    "the negative": lambda m: -(m.p[1] * (m.x[1] + m.x[2])),
    "a constant part": lambda m: m.p[1] * (m.x[1] + 2 + m.q) + m.x[2],
    "one variable twice": lambda m: m.p[1] * (m.x[1] + m.x[2]) + m.q * (m.x[1] - m.x[2]),
    "a named expression": lambda m: m.e,
    "a named expression in a sum": lambda m: m.x[1] - m.e,
    "named expressions within another": lambda m: m.p[1] * (m.f[1] + m.x[2]) + m.e,
    "nothing of it": lambda m: (m.p[1] - 3) * (m.x[1] + m.x[2]) + m.x[1],
}


def row_of(reader: ModelReader, m: Any) -> tuple[dict[str, float], float]:
    """Return the coefficients of the constraint by variable, and its upper side."""
    converted = reader.read(m)
    problem = converted.problem
    row = problem.matrix.toarray()[0]
    names = [variable.name for variable in converted.columns]
    return {name: a for name, a in zip(names, row, strict=True) if a}, problem.row_upper[0]


def expected(m: Any) -> tuple[dict[str, float], float]:
    found = generate_standard_repn(m.c.body)
    terms = zip(found.linear_vars, found.linear_coefs, strict=True)
    return {v.name: a for v, a in terms if a}, 10.0 - found.constant


@through("shape", SHAPES)
@through("as_row", [True, False])
def test_says_what_pyomo_says(shape: str, as_row: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    m = model()
    expression = SHAPES[shape](m)
    m.c = pyo.Constraint(expr=expression <= 10)
    m.o = pyo.Objective(expr=expression if as_row else m.x[1])
    monkeypatch.setattr(RowCompiler, "compile", None)  # nobody needs it
    reader = ModelReader(m)
    for values in ((3.0, -2.0, 0.5), (1.5, 4.0, -2.0), (7.0, 0.25, 1.0)):
        m.p[1], m.p[2], m.q = values
        coefficients, side = row_of(reader, m)
        wanted, wanted_side = expected(m)
        assert coefficients == pytest.approx(wanted)
        assert side == pytest.approx(wanted_side)


def test_a_product_of_variables_is_left_to_pyomo() -> None:
    m = model()
    m.c = pyo.Constraint(expr=m.p[1] * (m.x[1] * m.x[2] + m.x[3]) <= 10)
    m.o = pyo.Objective(expr=m.x[1])
    m.x[2].fix(2.0)
    coefficients, side = row_of(ModelReader(m), m)
    assert coefficients == pytest.approx({"x[1]": 6.0, "x[3]": 3.0})
    assert side == 10.0


def test_a_parameter_without_a_value_is_named() -> None:
    m = model()
    m.r = pyo.Param(mutable=True)
    m.c = pyo.Constraint(expr=m.r * (m.x[1] - m.x[2]) <= 10)
    m.o = pyo.Objective(expr=m.x[1])
    with pytest.raises(ProblemError, match="constraint 'c'"):
        ModelReader(m).read(m)


def test_costs_of_products_are_read_again() -> None:
    m = model()
    m.o = pyo.Objective(expr=sum(m.p[k] * (m.x[k] - m.x[3]) for k in (1, 2)))
    m.c = pyo.Constraint(expr=sum(m.x.values()) <= 4)
    solver = pyo.SolverFactory("gpuheur")
    for values in ((3.0, -2.0), (-1.0, 2.0), (-4.0, -3.0)):
        m.p[1], m.p[2] = values
        solver.solve(m)
        cost = np.array([*values, -sum(values)])
        assert pyo.value(m.o) == pytest.approx(min(0.0, 4 * cost.min()))


def test_a_named_expression_is_read_again_once_it_stands_for_something_else() -> None:
    m = model()
    m.c = pyo.Constraint(expr=3 * (m.f[1] + m.x[1]) <= 10)
    m.o = pyo.Objective(expr=m.x[1])
    reader = ModelReader(m)
    for now in (m.x[2] + 1, 4 * m.x[3], m.x[1] * m.p[1], 2.0, m.p[1]):
        m.e.set_value(now)
        coefficients, side = row_of(reader, m)
        wanted, wanted_side = expected(m)
        assert coefficients == pytest.approx(wanted)
        assert side == pytest.approx(wanted_side)


def test_an_empty_sum_stays_empty_where_longer_ones_share_its_list() -> None:
    m = model()
    nothing = LinearExpression([])
    longer = nothing + m.x[1]
    m.e.set_value(nothing)
    m.c = pyo.Constraint(expr=m.p[1] * m.e + m.x[3] >= 1)
    m.o = pyo.Objective(expr=longer)
    coefficients, _ = row_of(ModelReader(m), m)
    assert coefficients == {"x[3]": 1.0}


@pytest.mark.skipif(not HAS_NEW_INTERFACE, reason="Pyomo before 6.10 takes exponential time")
def test_sums_that_grow_exponentially_are_left_to_pyomo() -> None:
    """Each named expression is the sum of the two before it, ninety times."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], bounds=(0, 5))
    m.e = pyo.Expression(
        range(90), rule=lambda m, t: m.x[1] + m.x[2] if t < 2 else m.e[t - 1] + m.e[t - 2]
    )
    m.c = pyo.Constraint(expr=m.e[89] / 1e18 <= 1)
    m.o = pyo.Objective(expr=m.x[1])
    coefficients, _ = row_of(ModelReader(m), m)
    assert coefficients == pytest.approx({"x[1]": 2.880067194370816, "x[2]": 2.880067194370816})


def test_a_long_chain_of_named_expressions_is_read() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 5))
    m.e = pyo.Expression(range(2000), rule=lambda m, t: m.x + (m.e[t - 1] if t else 0))
    m.c = pyo.Constraint(expr=m.e[1999] <= 10)
    m.o = pyo.Objective(expr=m.x)
    coefficients, _ = row_of(ModelReader(m), m)
    assert coefficients == {"x": 2000.0}
