"""The value that a column is fixed to first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.mip.domain.internal import internal
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.rounding.random import RandomState, uniform
from solvers.mip.rounding.strategy import Value
from solvers.problem import FloatArray

UP, DOWN, RANDOM = Value.UP.value, Value.DOWN.value, Value.RANDOM.value
GOOD, BAD = Value.GOOD_OBJECTIVE.value, Value.BAD_OBJECTIVE.value
LOOSE, REFERENCE = Value.LOOSE.value, Value.REFERENCE.value

BOX_DIGITS = 5.0
"""Stand-in for a missing bound: up to so many powers of ten from the other (the paper's 1e5)."""


class Guide(NamedTuple):
    """What values are chosen by: costs, locks and a point, each (n,).

    A column's up-locks are the rows that its rising can break, its down-locks those that its
    falling can break.
    """

    cost: FloatArray
    up_locks: IndexArray
    down_locks: IndexArray
    reference: FloatArray


def guide_of(model: MipModel, reference: FloatArray | None) -> Guide:
    """Count the locks of a model; without a reference point, zero stands for it."""
    up, down = _locks(
        model.column_start,
        model.column_row,
        model.column_value,
        np.isfinite(model.row_lower),
        np.isfinite(model.row_upper),
    )
    point = np.zeros(model.num_columns) if reference is None else np.array(reference, np.float64)
    return Guide(np.array(model.cost), up, down, point)


def _locks(
    start: IndexArray,
    row: IndexArray,
    value: FloatArray,
    has_lower: np.ndarray,
    has_upper: np.ndarray,
) -> tuple[IndexArray, IndexArray]:
    column = np.repeat(np.arange(start.size - 1), np.diff(start))
    rises = value > 0.0
    blocks_up = np.where(rises, has_upper[row], has_lower[row])
    blocks_down = np.where(rises, has_lower[row], has_upper[row])
    n = start.size - 1
    up = np.bincount(column[blocks_up], minlength=n).astype(np.int32)
    down = np.bincount(column[blocks_down], minlength=n).astype(np.int32)
    return up, down


@internal
def round_randomly(x: float, random: RandomState) -> float:
    """Round: almost always to the nearest for nearly whole numbers, by chance in the middle.

    The threshold's distribution is that of Bertacco, Fischetti and Lodi (2007), which the seed
    paper draws its bulks from.
    """
    w = uniform(random)
    t = 2.0 * w * (1.0 - w)
    return float(np.floor(x + (1.0 - t if w > 0.5 else t)))


@internal
def choose_continuous(rule: int, j: int, low: float, high: float, guide: Guide) -> float:
    """Return a finite value in [low, high]: near the reference, or at the better end."""
    cost = guide.cost[j]
    if rule != REFERENCE and cost > 0.0 and low > -np.inf:
        return float(low)
    if rule != REFERENCE and cost < 0.0 and high < np.inf:
        return float(high)
    return float(min(max(guide.reference[j] if rule == REFERENCE else 0.0, low), high))


@internal
def choose_whole(
    rule: int, j: int, low: float, high: float, guide: Guide, random: RandomState
) -> float:
    """Return a whole value in [low, high]."""
    if low == -np.inf and high == np.inf:
        low = min(0.0, np.floor(guide.reference[j]))
    if high == np.inf:
        high = low + np.floor(10.0 ** (BOX_DIGITS * uniform(random)))
    elif low == -np.inf:
        low = high - np.floor(10.0 ** (BOX_DIGITS * uniform(random)))
    if rule == REFERENCE:
        return float(min(max(round_randomly(guide.reference[j], random), low), high))
    cost = guide.cost[j]
    direction = 0.0
    if rule == UP:
        direction = 1.0
    elif rule == DOWN:
        direction = -1.0
    elif rule == GOOD:
        direction = -cost
    elif rule == BAD:
        direction = cost if cost != 0.0 else 1.0
    if rule == LOOSE or (rule == GOOD and cost == 0.0):
        direction = float(guide.down_locks[j] - guide.up_locks[j])
    if direction == 0.0:
        draw = uniform(random)
        if rule == RANDOM and high - low > 1.0 and draw < 0.5:
            return float(low + np.floor(2.0 * draw * (high - low + 1.0)))
        direction = uniform(random) - 0.5
    return float(high if direction > 0.0 else low)


@internal
def choose(
    rule: int,
    j: int,
    low: float,
    high: float,
    is_integer: int,
    guide: Guide,
    random: RandomState,
) -> float:
    """Return the value in [low, high] that column j is to be fixed to."""
    if is_integer == 1:
        return float(choose_whole(rule, j, low, high, guide, random))
    return float(choose_continuous(rule, j, low, high, guide))
