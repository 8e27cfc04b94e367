"""Proofs of infeasibility and unboundedness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.highs.measure import unsupported
from solvers.highs.task import FloatArray, Model
from solvers.separation import separation

RAY_SLOPE = 1e-7
"""A ray within [-1, 1] must improve the objective, scaled to size one, by more than this."""


RAY_ROUNDING = 1e-8
"""A sum below this part of its terms' magnitudes counts as zero."""

RAY_HORIZON = 1e6
"""How far a column without a bound is taken to reach, so that rounding in A'y does not count."""

HOLLOW = 1e-12
"""A ray that separates by less than this part of the numbers it adds up proves nothing: rounding.
Those of Netlib's infeasible models separate by 6e-4 and more, of equations that hold for some point
up to rounding, but not by HiGHS's absolute measure, by 1e-15."""


def one_row_proof(model: Model) -> FloatArray | None:
    """Return Farkas multipliers (m,) of a single row that the bounds alone make impossible."""
    up = np.where(model.value > 0, model.upper[model.index], model.lower[model.index])
    down = np.where(model.value > 0, model.lower[model.index], model.upper[model.index])
    rows, m = model.row_of_entry(), model.num_rows
    highest = np.bincount(rows, weights=model.value * up, minlength=m)
    lowest = np.bincount(rows, weights=model.value * down, minlength=m)
    for extreme, margin, weight in (
        (highest, model.row_lower - highest, 1.0),
        (lowest, lowest - model.row_upper, -1.0),
    ):
        worst = int(np.argmax(margin))
        if margin[worst] > 1e-7 * max(1.0, abs(extreme[worst])):
            y = np.zeros(m)
            y[worst] = weight
            return y
    return None


def farkas_orientation(model: Model, ray: FloatArray) -> FloatArray | None:
    """Return the multipliers or their negative, whichever separates; None if neither does.

    They are scaled to largest size one, and zero where they would lean on a side that is not
    there.
    """
    size = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(size) or size == 0:
        return None
    for y in (ray / size, -ray / size):
        supported = y - unsupported(y, model.row_lower, model.row_upper)
        pull = model.reduced_cost(supported) - model.cost
        sides = (model.row_lower, model.row_upper), (model.lower, model.upper)
        gap, size = separation(*sides, supported, -pull, RAY_HORIZON)
        if gap > HOLLOW * size:
            return supported
    return None


def may_be_unbounded(model: Model) -> bool:
    """Whether the column bounds alone leave the objective without a limit."""
    falls = (model.cost < 0) & np.isposinf(model.upper)
    rises = (model.cost > 0) & np.isneginf(model.lower)
    return bool(np.any(falls | rises))


def keeps_rows(cone: Model, direction: FloatArray) -> bool:
    """Whether the rows of a recession cone hold for a direction up to rounding of their terms.

    HiGHS's own tolerance is absolute, and would let a row of small coefficients be crossed.
    """
    terms = np.abs(cone.value * direction[cone.index])
    size = np.bincount(cone.row_of_entry(), weights=terms, minlength=cone.num_rows)
    activity = cone.activity(direction)
    outside = np.maximum(cone.row_lower - activity, activity - cone.row_upper)
    return bool(np.all(outside <= RAY_ROUNDING * size))


def recession_cone(model: Model) -> Model:
    """Return the model whose points are directions that keep every bound for ever.

    They are cut by the box [-1, 1], so it always has an optimum, which is negative exactly when
    the objective improves along one of them. Columns between two bounds stay where they are, and
    their costs, which may dwarf the others, are left out.
    """
    can_move = np.isneginf(model.lower) | np.isposinf(model.upper)
    cost = np.where(can_move, model.cost, 0.0)
    size = float(np.max(np.abs(cost), initial=0.0)) or 1.0
    return replace(
        model,
        cost=cost / size,
        offset=0.0,
        lower=np.where(np.isneginf(model.lower), -1.0, 0.0),
        upper=np.where(np.isposinf(model.upper), 1.0, 0.0),
        row_lower=np.where(np.isneginf(model.row_lower), -np.inf, 0.0),
        row_upper=np.where(np.isposinf(model.row_upper), np.inf, 0.0),
    )
