"""What the twins of the kernels share, with the constants that only kernels use.

``structures.cuh`` and ``sides.cuh`` have the same for the device.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.control import BLOCK, NONE
from solvers.simplex.state import BASIC, LOWER, UPPER

Indices = npt.NDArray[Any]

MOST_GROUPS = 128
"""Groups of break points that a ratio test passes at most; a shorter step is valid as well."""

SELECTION_GROWTH, FIRST_SELECTION = 10.0, 1e-7
"""Factor by which the step grows until enough break points are within it, and the least step up to
which they are looked at (as in HiGHS)."""

RELATIVE_PIVOT, SUFFICIENT_PIVOT = 0.1, 1.0
"""An entering column's pivot element must exceed the smaller of this share of the largest one there
is, and this number."""

LEAST_WEIGHT = 1e-4
"""Smallest weight of dual steepest edge."""

DEVEX_ERROR = 3.0
"""A Devex weight this many times too large starts a new reference framework (as in HiGHS)."""

LARGEST_DEVEX_WEIGHT = 1e7
"""Primal Devex weight beyond which all start again at one."""


def excess_of(x: Any, lower: Any, upper: Any, tolerance: float) -> FloatArray:
    """Return how far values are beyond their bounds: negative below, zero within the tolerance."""
    above = np.where(x > upper + tolerance, x - upper, 0.0)
    return np.where(x < lower - tolerance, x - lower, above)


def distance_of(status: Indices, reduced_cost: FloatArray) -> FloatArray:
    """Return how far reduced costs are from the sign they must not take."""
    turned = np.where(status == UPPER, -reduced_cost, reduced_cost)
    one_sided = (status == LOWER) | (status == UPPER)
    return np.where(one_sided, np.maximum(turned, 0.0), np.abs(reduced_cost))


def may_enter(status: Indices, turned: FloatArray) -> BoolArray:
    """Whether nonbasic variables may enter, by their shares of the pivot row.

    These are turned so that the leaving variable falls.
    """
    falling: BoolArray = np.where(status == UPPER, turned < 0.0, True)
    return np.where(status == LOWER, turned > 0.0, falling)


def merit_of(a: SimpleNamespace) -> FloatArray:
    """Return d^2 / weight where a reduced cost has the wrong sign, else zero."""
    d, status = a.reduced_cost, a.status
    wrong = np.where(status == LOWER, -d, np.where(status == UPPER, d, np.abs(d)))
    counts = (status != BASIC) & (a.lower != a.upper) & (wrong > a.scalars[word.DUAL_TOLERANCE])
    return np.where(counts, d * d / a.weights, 0.0)


def infeasibility_of(a: SimpleNamespace) -> FloatArray:
    """Return infeasibility^2 / weight of the positions."""
    tolerance = a.scalars[word.PRIMAL_TOLERANCE]
    excess = excess_of(a.x_basic, a.lower_basic, a.upper_basic, tolerance)
    merit: FloatArray = excess * excess / a.weights
    return merit


def leave_best(a: SimpleNamespace, merit: FloatArray) -> None:
    """Leave the largest merit of each block's owners, and the lowest place that has it.

    What is no number has no merit.
    """
    groups = max(1, min(BLOCK, -(-merit.size // BLOCK)))
    rounds = max(1, -(-merit.size // (groups * BLOCK)))
    shared = np.zeros((rounds, groups, BLOCK))
    shared.reshape(-1)[: merit.size] = np.fmax(merit, 0.0)
    owners = np.arange(shared.size).reshape(shared.shape)
    by_group, owner = (one.swapaxes(0, 1).reshape(groups, -1) for one in (shared, owners))
    best = np.argmax(by_group, axis=1)
    every = np.arange(groups)
    a.partial_value[:groups] = by_group[every, best]
    a.partial_index[:groups] = np.where(a.partial_value[:groups] > 0.0, owner[every, best], NONE)


def take_best(a: SimpleNamespace) -> int | None:
    """Return the best place that blocks have left, or say why there is none to be taken."""
    control = a.control
    if control[word.PIVOTS] >= a.most:
        control[word.STATUS] = word.FOLD
        return None
    if control[word.ITERATIONS] >= control[word.LIMIT]:
        control[word.STATUS] = word.OUT_OF_PIVOTS
        return None
    value = a.partial_value[: a.groups]
    place = int(a.partial_index[: a.groups][value == value.max()].min())
    if place == NONE:
        control[word.STATUS] = word.DONE
        return None
    return place


def is_accurate(pivot: float, other: float, scalars: FloatArray) -> bool:
    """Whether the pivot element came out the same from row and column; notes the error."""
    scalars[word.ERROR] = error = abs(pivot - other)
    return bool(error <= scalars[word.PIVOT_ERROR] * min(abs(pivot), abs(other)))


def _column(a: SimpleNamespace, j: int) -> tuple[Indices, FloatArray]:
    """Return the rows and elements of a column of [A -I]."""
    if j >= a.structurals:
        return np.array([j - a.structurals]), np.array([-1.0])
    own = slice(a.starts[j], a.starts[j + 1])
    return a.indices[own], a.values[own]


def make_sides(a: SimpleNamespace, q: int, flips: Indices, steps: FloatArray, few: float) -> None:
    """List the entries of flipped and entering columns if there are few, or lay out their sums."""
    entering_rows, entering = _column(a, q)
    columns = [_column(a, j) for j in flips.tolist()]
    rows = np.concatenate([*(own for own, _ in columns), np.zeros(0, dtype=np.int64)])
    parts = [step * values for step, (_, values) in zip(steps, columns, strict=True)]
    amounts = np.concatenate([*parts, np.zeros(0)])
    entries = rows.size + entering.size
    a.control[word.FLIP_ENTRIES] = rows.size
    if entries < few:
        rows = np.concatenate([rows, entering_rows]).astype(np.int64)
        slots = a.slot_of_row[rows]
        a.places[:entries] = np.where(slots >= 0, slots, -1 - rows)
        a.amounts[:entries] = np.concatenate([amounts, entering])
        a.control[word.ENTRIES] = entries
        return
    a.control[word.ENTRIES] = -1
    stored = np.flatnonzero(a.slot_of_row >= 0)
    a.column[:] = 0.0
    a.column[entering_rows] = entering
    a.column_slots[a.slot_of_row[stored]] = a.column[stored]
    if flips.size:
        a.flip_column[:] = np.bincount(rows.astype(np.int64), amounts, a.rows)
        a.flip_slots[a.slot_of_row[stored]] = a.flip_column[stored]
