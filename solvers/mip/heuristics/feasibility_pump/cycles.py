"""When a pump goes round in circles: the same rounded point again, or no nearer for long."""

from __future__ import annotations

from collections import deque
from enum import Enum

from solvers.core.problem import FloatArray

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
