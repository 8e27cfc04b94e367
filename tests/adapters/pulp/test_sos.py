from __future__ import annotations

import itertools

import pulp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.errors import UnsupportedModelError
from solvers.core.outcome import SolutionStatus
from tests.adapters.pulp.models import PULP_4, solve, solver


@given(
    kind=st.sampled_from([1, 2]),
    costs=st.lists(st.integers(-5, 5), min_size=1, max_size=5),
    lows=st.lists(st.sampled_from([-2, 0, 0]), min_size=5, max_size=5),
    capacity=st.integers(1, 6),
    turned=st.booleans(),
)
@settings(max_examples=25)
def test_the_same_as_trying_every_choice(
    kind: int, costs: list[int], lows: list[int], capacity: int, turned: bool
) -> None:
    size = len(costs)
    order = list(reversed(range(size))) if turned else list(range(size))
    lp, variables = _model(costs, lows, capacity)
    weights = {variables[j]: position + 1 for position, j in enumerate(order)}
    _add_set(lp, kind, weights)
    assert solve(lp) is SolutionStatus.OPTIMAL
    best = max(
        _best_with(costs, lows, capacity, {order[k] for k in chosen})
        for chosen in _choices(kind, size)
    )
    assert pulp.value(lp.objective) == pytest.approx(best, abs=1e-6)
    nonzero = [j for j in range(size) if abs(variables[j].varValue) > 1e-6]
    places = sorted(order.index(j) for j in nonzero)
    assert len(places) <= kind
    assert len(places) < 2 or places[1] - places[0] == 1
    ours = {v.name for v in lp.variables()} - {v.name for v in variables}
    assert ours <= {"__dummy"}  # of PuLP itself, where the objective is constant


def _add_set(lp: pulp.LpProblem, kind: int, weights: dict[pulp.LpVariable, float]) -> None:
    if PULP_4:
        from pulp._rustcore import SosKind

        lp.add_sos_group(SosKind.Sos1 if kind == 1 else SosKind.Sos2, "set", weights)
    else:
        (lp.sos1 if kind == 1 else lp.sos2)["set"] = weights


def _model(
    costs: list[int], lows: list[int], capacity: int
) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    lp = pulp.LpProblem("model", pulp.LpMaximize)
    variables = [lp.add_variable(f"x{j}", lows[j], 3) for j in range(len(costs))]
    lp += pulp.lpDot(costs, variables)
    lp += pulp.lpSum(variables) <= capacity
    return lp, variables


def _choices(kind: int, size: int) -> list[tuple[int, ...]]:
    pairs = [(k, k + 1) for k in range(size - 1)] if kind == 2 else []
    return [*itertools.combinations(range(size), 1), *pairs]


def _best_with(costs: list[int], lows: list[int], capacity: int, free: set[int]) -> float:
    lp, variables = _model(costs, lows, capacity)
    for j, variable in enumerate(variables):
        if j not in free:
            variable.lowBound = variable.upBound = 0
    lp.solve(solver())
    return float(pulp.value(lp.objective))


def test_an_infinite_bound_is_named() -> None:
    lp = pulp.LpProblem("model", pulp.LpMaximize)
    x = lp.add_variable("x", 0, 3)
    y = lp.add_variable("y", 0)
    lp += x + y
    lp += x - y <= 4
    _add_set(lp, 1, {x: 1, y: 2})
    with pytest.raises(UnsupportedModelError, match=r"'y' of SOS constraint 'set'"):
        lp.solve(solver())


def test_bounds_are_implied_by_rows() -> None:
    lp = pulp.LpProblem("model", pulp.LpMaximize)
    x = lp.add_variable("x", 0)
    y = lp.add_variable("y", 0)
    lp += x + 2 * y
    lp += x + y <= 4
    _add_set(lp, 1, {x: 1, y: 2})
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert (x.varValue, y.varValue) == pytest.approx((0, 4))


def test_a_member_of_no_row_keeps_its_place() -> None:
    lp = pulp.LpProblem("model", pulp.LpMaximize)
    x, alone, y = (lp.add_variable(name, 0, 3) for name in ("x", "alone", "y"))
    lp += x + 2 * y
    _add_set(lp, 2, {x: 1, alone: 2, y: 3})
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert (x.varValue, y.varValue) == pytest.approx((0, 3))
