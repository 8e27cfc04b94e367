"""When a pump goes round in circles, and how it leaves them.

A circle is the same rounded point again, or no progress for long. A pump leaves it by changing the
rounded point by force (Fischetti, Glover and Lodi 2005).
"""

from __future__ import annotations

from collections import deque
from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray, MipModel

REMEMBERED = 30
"""Rounded points that are compared with the present one (arXiv 2510.20499)."""

WINDOW = 70
"""Distances whose mean the present one is compared with (ibid.)."""

IMPROVEMENT = 0.9
"""Part of that mean that the distance has to fall below (ibid.: by more than a tenth)."""

SAME_ALPHA = 0.005
"""Shares of the objective nearer than this count as the same: with another objective, the same
rounded point may lead elsewhere (Achterberg and Berthold 2007)."""


class Cycle(Enum):
    """What kind of circle it is."""

    NONE = "no circle"
    STUCK = "the rounded point did not change"
    REPEAT = "an earlier rounded point came back"
    STALL = "the distance does not fall any more"


class Cycles:
    """The memory that tells circles."""

    def __init__(self) -> None:
        self._points: deque[tuple[int, float]] = deque(maxlen=REMEMBERED)
        self._distances: deque[float] = deque(maxlen=WINDOW)

    def note(self, rounded: FloatArray, alpha: float, distance: float) -> Cycle:
        """Take the point down that a projection was rounded to, and say what it means.

        Parameters
        ----------
        rounded : (k,) float64
            Values of the columns that count.
        alpha : float
            Share of the objective in the projection.
        distance : float
            Of the projection from the point it started from.
        """
        key = hash((rounded + 0.0).tobytes())  # without the sign of zeros
        alike = [other == key and abs(alpha - then) <= SAME_ALPHA for other, then in self._points]
        stuck, repeated = bool(alike) and alike[-1], any(alike)
        full = len(self._distances) == WINDOW
        stalled = full and distance > IMPROVEMENT * sum(self._distances) / WINDOW
        self._points.append((key, alpha))
        self._distances.append(distance)
        if stuck:
            return Cycle.STUCK
        if repeated:
            return Cycle.REPEAT
        return Cycle.STALL if stalled else Cycle.NONE

    def forget_distances(self) -> None:
        """Begin anew to watch the distance, after the point was changed by force."""
        self._distances.clear()

    def forget(self) -> None:
        """Begin anew."""
        self._points.clear()
        self._distances.clear()


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
