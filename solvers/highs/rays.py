"""Proofs of infeasibility and unboundedness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.core.lp_answer import separation
from solvers.highs.point import unsupported
from solvers.highs.task import BoolArray, FloatArray, IndexArray, Model

RAY_SLOPE = 1e-7
"""A ray within [-1, 1] must improve the objective, scaled to size one, by more than this."""


RAY_ROUNDING = 1e-8
"""A sum below this part of its terms' magnitudes counts as zero."""

EQUILIBRATIONS = 8
"""Rounds of scaling; each takes the root of what is left of the distance to one."""

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


def keeps_rows(cone: Model, direction: FloatArray) -> bool:
    """Whether the rows of a recession cone hold for a direction up to rounding of their terms.

    HiGHS's own tolerance is absolute, and would let a row of small coefficients be crossed.
    """
    terms = np.abs(cone.value * direction[cone.index])
    size = np.bincount(cone.row_of_entry(), weights=terms, minlength=cone.num_rows)
    activity = cone.activity(direction)
    outside = np.maximum(cone.row_lower - activity, activity - cone.row_upper)
    return bool(np.all(outside <= RAY_ROUNDING * size))


def recession_cone(model: Model, *, by_cost: bool) -> tuple[Model, FloatArray]:
    """Return the model whose points are directions that keep every bound for ever.

    They are cut by the box [-1, 1], so it always has an optimum, which is negative exactly when
    the objective improves along one of them. Columns between two bounds stay where they are, and
    their costs, which may dwarf the others, are left out.

    Rows and columns are scaled, as tolerances are absolute; a point times the second result (n,)
    is a direction of the model. With ``by_cost`` the costs of the columns that can move are brought
    near one, and the rows are scaled to that.
    """
    can_move = np.isneginf(model.lower) | np.isposinf(model.upper)
    priced = can_move & (model.cost != 0)
    wanted = 1.0 / np.abs(np.where(priced, model.cost, 1.0))
    row_scale, column_scale = _equilibration(model, wanted, priced & by_cost)
    cost = np.where(can_move, model.cost * column_scale, 0.0)
    size = float(np.max(np.abs(cost), initial=0.0)) or 1.0
    cone = replace(
        model,
        cost=cost / size,
        offset=0.0,
        lower=np.where(np.isneginf(model.lower), -1.0, 0.0),
        upper=np.where(np.isposinf(model.upper), 1.0, 0.0),
        row_lower=np.where(np.isneginf(model.row_lower), -np.inf, 0.0),
        row_upper=np.where(np.isposinf(model.row_upper), np.inf, 0.0),
        value=model.value * row_scale[model.row_of_entry()] * column_scale[model.index],
    )
    return cone, column_scale


def _equilibration(
    model: Model, wanted: FloatArray, fixed: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return powers of two for rows (m,) and columns (n,) that bring the largest entries near one.

    Columns that are ``fixed`` get those next to what is wanted.
    Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices", 2001.
    """
    rows, size = model.row_of_entry(), np.abs(model.value)
    row_scale = np.ones(model.num_rows)
    column_scale = np.where(fixed, np.exp2(np.round(np.log2(wanted))), 1.0)
    for _ in range(EQUILIBRATIONS):
        scaled = size * row_scale[rows] * column_scale[model.index]
        row_scale /= _root_of_largest(scaled, rows, model.num_rows)
        step = _root_of_largest(scaled, model.index, model.num_columns)
        column_scale /= np.where(fixed, 1.0, step)
    return row_scale, column_scale


def _root_of_largest(size: FloatArray, place: IndexArray, count: int) -> FloatArray:
    """Return the power of two next to the root of the largest entry of each row or column."""
    largest = np.zeros(count)
    np.maximum.at(largest, place, size)
    exponent = np.round(0.5 * np.log2(np.where(largest > 0, largest, 1.0)))
    return np.asarray(np.exp2(exponent))
