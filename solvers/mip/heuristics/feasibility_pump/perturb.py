"""Changing a rounded point by force, to leave a circle (Fischetti, Glover and Lodi 2005)."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray, MipModel

FEWEST, MOST = 10, 30
"""Columns that a small change flips, drawn between these."""

SHIFT_FROM, SHIFT_TO = -0.3, 0.7
"""Range of the number that a large change adds to each column's distance, if positive."""

FLIP_FROM = 0.5
"""Distance from which a large change flips a column."""

SHARE = 0.1
"""Part of the columns that a shaken point has other values of."""


def flipped(
    model: MipModel,
    rounded: FloatArray,
    x: FloatArray,
    columns: IndexArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Move the columns that are farthest from ``x`` by one towards it.

    Parameters
    ----------
    rounded, x : (n,) float64
        The point to change, and its projection.
    columns : (k,) int
        Those that count.
    """
    count = min(int(generator.integers(FEWEST, MOST + 1)), columns.size)
    distance = np.abs(x - rounded)[columns]
    # those as near as each other are taken at random
    order = np.lexsort((generator.random(columns.size), -distance))
    return _moved(model, rounded, x, columns[order[:count]], generator)


def shifted(
    model: MipModel,
    rounded: FloatArray,
    x: FloatArray,
    columns: IndexArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Move each column whose distance, plus a random number if that is positive, passes 1/2."""
    bonus = np.maximum(generator.uniform(SHIFT_FROM, SHIFT_TO, columns.size), 0.0)
    chosen = np.abs(x - rounded)[columns] + bonus > FLIP_FROM
    return _moved(model, rounded, x, columns[chosen], generator)


def shaken(
    model: MipModel, rounded: FloatArray, columns: IndexArray, generator: np.random.Generator
) -> FloatArray:
    """Move a tenth of the columns by one, at random."""
    count = max(1, int(SHARE * columns.size))
    chosen = generator.choice(columns, size=min(count, columns.size), replace=False)
    return _moved(model, rounded, rounded, chosen, generator)


def _moved(
    model: MipModel,
    rounded: FloatArray,
    x: FloatArray,
    columns: IndexArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Move columns by one towards x, or either way where x is no guide, within bounds."""
    moved = rounded.copy()
    value, low, high = rounded[columns], model.lower[columns], model.upper[columns]
    either = np.where(generator.random(columns.size) < 0.5, -1.0, 1.0)
    step = np.where(x[columns] == value, either, np.sign(x[columns] - value))
    step = np.where(value + step > high, -1.0, np.where(value + step < low, 1.0, step))
    moved[columns] = np.clip(value + step, low, high)
    return moved
