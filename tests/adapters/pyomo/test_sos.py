"""Special ordered sets against enumeration of their supports."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gpu_bridge.adapters.pyomo import GpuHeur
from gpu_bridge.adapters.pyomo.convert import convert
from gpu_bridge.adapters.pyomo.interface import IncompatibleModelError

SMALL = st.integers(-4, 4)


def sos_model(level: int, cost: list[int], low: list[int], high: list[int], total: int) -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(cost)), bounds=lambda _, i: (low[i], high[i]))
    m.sos = pyo.SOSConstraint(var=m.x, sos=level)
    m.total = pyo.Constraint(expr=sum(m.x.values()) <= total)
    m.obj = pyo.Objective(expr=pyo.quicksum(c * x for c, x in zip(cost, m.x.values(), strict=True)))
    return m


def by_enumeration(model: Any, level: int, cost: list[int], total: int) -> float:
    """Return the least cost over all supports that the set allows."""
    count = len(cost)
    best = np.inf
    for size in range(level + 1):
        for support in combinations(range(count), size):
            if size == 2 and support[1] - support[0] != 1:
                continue
            bounds = [model.x[i].bounds if i in support else (0, 0) for i in range(count)]
            found = linprog(cost, [[1] * count], [total], bounds=bounds)
            best = min(best, found.fun) if found.success else best
    return best


@settings(max_examples=25)
@given(st.data(), st.sampled_from([1, 2]), st.integers(1, 4))
def test_same_as_enumeration(data: st.DataObject, level: int, count: int) -> None:
    cost = data.draw(st.lists(SMALL, min_size=count, max_size=count))
    low = data.draw(st.lists(st.integers(-3, 0), min_size=count, max_size=count))
    high = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    total = data.draw(st.integers(-2, 4))
    model = sos_model(level, cost, low, high, total)
    expected = by_enumeration(model, level, cost, total)
    results = GpuHeur().solve(
        model,
        raise_exception_on_nonoptimal_result=False,
        load_solutions=False,
        solver_options={"explain": False},
    )
    if np.isinf(expected):
        assert results.termination_condition.name == "provenInfeasible"
    else:
        assert results.incumbent_objective == pytest.approx(expected, abs=1e-6)


def test_bounds_are_implied_by_rows() -> None:
    m = pyo.ConcreteModel()
    m.w = pyo.Var([1, 2, 3], domain=pyo.NonNegativeReals)
    m.one = pyo.Constraint(expr=sum(m.w.values()) == 1)
    m.sos = pyo.SOSConstraint(var=m.w, sos=2)
    m.obj = pyo.Objective(expr=m.w[1] - m.w[2] + m.w[3] + 0 * m.w[1])
    GpuHeur().solve(m)
    assert [m.w[k].value for k in (1, 2, 3)] == pytest.approx([0, 1, 0])


def test_unbounded_members_are_named() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([1, 2], domain=pyo.NonNegativeReals)
    m.pick = pyo.SOSConstraint(var=m.x, sos=1)
    m.obj = pyo.Objective(expr=m.x[1] + m.x[2])
    with pytest.raises(IncompatibleModelError, match=r"'x\[1\]' of SOS constraint 'pick'"):
        convert(m)


def test_fixed_members_use_up_the_set() -> None:
    m = sos_model(1, [-1, -1, -1], [0, 0, 0], [2, 2, 2], 9)
    m.x[1].fix(1)
    GpuHeur().solve(m)
    assert [m.x[k].value for k in range(3)] == pytest.approx([0, 1, 0])


def test_inactive_and_empty_sets_say_nothing() -> None:
    m = sos_model(1, [-1, -1], [0, 0], [2, 2], 9)
    m.sos.deactivate()
    m.empty = pyo.SOSConstraint(var=m.x, index=[0, 1], sos=1)
    m.empty.set_items([], [])
    assert convert(m).problem.num_columns == 2


def test_higher_levels_are_refused() -> None:
    m = sos_model(1, [1, 1], [0, 0], [2, 2], 9)
    m.sos.level = 3
    with pytest.raises(IncompatibleModelError, match="'sos' has level 3"):
        convert(m)
