"""The values in PuLP's objects: those to start from, and those of the answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_bridge.adapters.pulp.arrays import ModelArrays
from gpu_bridge.adapters.pulp.version import has_rust_core
from gpu_bridge.outcome import Outcome
from solvers.core.problem import FloatArray


def starting_point(arrays: ModelArrays, size: int) -> FloatArray | None:
    """Return the variables' values as a point of ``size`` columns, NaN where one has none.

    None if no variable has a value.
    """
    point = np.full(size, np.nan)
    attribute = "varValue" if all(hasattr(v, "varValue") for v in arrays.variables[:1]) else "value"
    held = [getattr(variable, attribute) for variable in arrays.variables]
    point[: len(held)] = held
    return None if np.isnan(point).all() else point


def set_values(
    lp: Any, arrays: ModelArrays, outcome: Outcome, *, approximate: bool = False
) -> None:
    """Set varValue, dj, pi and slack; without a point everything stays as it was.

    So it does with an approximate one, unless the caller wants that.
    """
    problem, status = outcome.problem, outcome.solution_status
    wanted = status.has_point or (approximate and status.has_values)
    if not wanted or outcome.x is None or problem is None:
        return
    size, height = len(arrays.variables), len(arrays.constraints)
    x = outcome.x[:size] + 0.0  # no negative zeros
    duals = reduced_costs = None
    if not problem.is_mip:
        duals = None if outcome.row_dual is None else outcome.row_dual[:height]
        reduced_costs = None if outcome.reduced_cost is None else outcome.reduced_cost[:size]
    side = np.where(np.isfinite(arrays.row_upper), arrays.row_upper, arrays.row_lower)
    slacks = side - arrays.matrix.times(x)
    if has_rust_core(lp):
        from gpu_bridge.adapters.pulp.rust_core import set_rust_values  # imports PuLP 4's core

        set_rust_values(lp, arrays, x, slacks, reduced_costs, duals)
        return
    _set_columns(arrays, x, reduced_costs)
    _set_rows(arrays, slacks, duals)
    if lp.dummyVar is not None:
        lp.dummyVar.varValue = 0.0


def _set_columns(arrays: ModelArrays, x: FloatArray, reduced_costs: FloatArray | None) -> None:
    costs = [None] * x.size if reduced_costs is None else reduced_costs.tolist()
    for variable, value, reduced_cost in zip(arrays.variables, x.tolist(), costs, strict=True):
        variable.varValue = value
        variable.dj = reduced_cost
        variable.modified = False


def _set_rows(arrays: ModelArrays, slacks: FloatArray, duals: FloatArray | None) -> None:
    prices = [None] * slacks.size if duals is None else duals.tolist()
    for constraint, slack, price in zip(arrays.constraints, slacks.tolist(), prices, strict=True):
        constraint.slack = slack
        constraint.pi = price
        constraint.modified = False
