"""Our walker and Pyomo's standard-form compiler read random models the same way."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyomo.common.errors import InfeasibleConstraintException

from gpu_bridge.adapters.pyomo.convert import convert
from solvers.core.errors import CrossedBoundsError
from tests.adapters.pyomo.compiled import assert_same, by_bridge, by_compiler

NUMBERS = st.one_of(st.integers(-3, 3), st.sampled_from([0.5, -1.25, 1e6]))
SHAPES = (
    *("sum", "quicksum", "linear", "monomial", "variable", "param", "expression", "nested"),
    *("product", "negated", "zero", "repeated", "constant", "npv", "fixed product", "division"),
)


@st.composite
def models(draw: st.DrawFn) -> Any:
    """Draw a model whose rows have every shape, kind of side and kind of coefficient."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(draw(st.integers(-3, 0)), draw(st.integers(1, 4))))
    m.s = pyo.Var(domain=draw(st.sampled_from([pyo.Reals, pyo.NonNegativeReals, pyo.Binary])))
    m.f = pyo.Var(initialize=draw(NUMBERS))
    m.f.fix()
    m.unused = pyo.Var(initialize=7.0)
    m.p = pyo.Param(initialize=draw(NUMBERS), mutable=True)
    m.q = pyo.Param(range(4), initialize=lambda _, i: i - 1.5, mutable=True)
    m.e = pyo.Expression(expr=2 * m.x[0] - m.s + 1)
    if draw(st.booleans()):
        m.x[3].fix(draw(NUMBERS), skip_validation=True)
    m.c = pyo.ConstraintList()
    for _ in range(draw(st.integers(0, 4))):
        constraint = m.c.add(_relation(draw, m))
        if draw(st.integers(0, 5)) == 0:
            constraint.deactivate()
    m.b = pyo.Block()
    m.b.c = pyo.Constraint(expr=m.x[1] + 2 * m.s <= m.p + 3)
    if draw(st.booleans()):
        m.b.deactivate()
    if draw(st.integers(0, 4)):
        sense = draw(st.sampled_from([pyo.minimize, pyo.maximize]))
        m.obj = pyo.Objective(expr=_body(draw, m) + 0 * m.s, sense=sense)
    return m


def _relation(draw: st.DrawFn, m: Any) -> Any:
    body = _body(draw, m) + m.x[0]  # never a constant, so that every relation is a valid one
    side: Any = draw(st.one_of(NUMBERS, st.sampled_from(["p", "expression"])))
    side = {"p": m.p * 2, "expression": m.x[1] + 1 - m.s}.get(side, side)
    kind = draw(st.sampled_from(["<=", ">=", "==", "flipped", "range", "open"]))
    if kind == "range":
        return pyo.inequality(m.p - 9, body, 12.5)
    if kind == "open":
        return pyo.inequality(float("-inf"), body, m.p + 8)
    relations = {"<=": body <= side, ">=": body >= side, "==": body == side}
    return relations.get(kind, side <= body)


def _body(draw: st.DrawFn, m: Any) -> Any:
    shape = draw(st.sampled_from(SHAPES))
    a, b = draw(NUMBERS), draw(NUMBERS)
    i, j = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    x, y = m.x[i], m.x[j]
    return {
        "sum": lambda: sum(m.x[k] for k in range(4)) + a,
        "quicksum": lambda: pyo.quicksum(m.q[k] * m.x[k] for k in range(4)),
        "linear": lambda: a * x + b * y - 3,
        "monomial": lambda: a * x,
        "variable": lambda: x + 0,
        "param": lambda: m.p * x + m.q[j] * m.s,
        "expression": lambda: m.e + a * y,
        "nested": lambda: 2 * (a * x + (m.s - 1) * 3) - (y - x),
        "product": lambda: (x + a) * m.p,
        "negated": lambda: -(x + y) + b,
        "zero": lambda: 0 * x + a * m.s,
        "repeated": lambda: x + a * x - x + y,
        "constant": lambda: a + m.p,
        "npv": lambda: m.p**2 + m.q[i] * x / 4,
        "fixed product": lambda: m.f * x + b * y,
        "division": lambda: (a * x + y) / 2,
    }[shape]()


@settings(max_examples=150)
@given(models())
def test_same_rows_cost_and_bounds(model: Any) -> None:
    try:
        theirs = by_compiler(model)
        contradiction = theirs.contradiction
    except InfeasibleConstraintException:
        contradiction = True
    if contradiction:  # a row of constants that does not hold
        with pytest.raises(CrossedBoundsError, match="has no free variable"):
            convert(model)
    else:
        assert_same(by_bridge(convert(model)), theirs)


def test_templates_are_compiled_without_being_expanded(monkeypatch: Any) -> None:
    import pyomo.core.base.constraint as constraint
    import pyomo.core.base.objective as objective

    monkeypatch.setattr(constraint, "TEMPLATIZE_CONSTRAINTS", True)
    monkeypatch.setattr(objective, "TEMPLATIZE_OBJECTIVES", True)
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(0, 3)
    m.x = pyo.Var(m.I, bounds=(0, 10))
    m.a = pyo.Param(m.I, initialize=lambda _, i: i + 1.0)
    m.x[2].fix(3)
    m.obj = pyo.Objective(rule=lambda m: sum(m.a[i] * m.x[i] for i in m.I))
    m.c = pyo.Constraint(m.I, rule=lambda m, i: m.a[i] * m.x[i] + m.x[0] >= 2)
    assert all(hasattr(data, "template_expr") for data in m.c.values())
    converted = convert(m)
    assert all(hasattr(data, "template_expr") for data in m.c.values())
    assert_same(by_bridge(converted), by_compiler(m))
