"""Points that are nearly feasible: where to begin when there is nothing better."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray

CAPACITY = 32
"""Points kept."""


@dataclass(frozen=True, eq=False)
class InfeasiblePoint:
    """A point (n,) with whole integers and the number of rows that it violates."""

    x: FloatArray
    violated_rows: int


class InfeasiblePoints:
    """The points that violate the fewest rows; safe to use from any thread."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._points: list[InfeasiblePoint] = []
        self._lock = threading.Lock()

    def __call__(self, x: FloatArray, violated_rows: int) -> None:
        """Keep a point if it is among the best and not there yet."""
        with self._lock:
            full = len(self._points) == self._capacity
            if full and violated_rows >= self._points[-1].violated_rows:
                return
            alike = [other for other in self._points if other.violated_rows == violated_rows]
            if any(np.array_equal(x, other.x) for other in alike):
                return
            self._points.append(InfeasiblePoint(x.copy(), violated_rows))
            self._points.sort(key=lambda point: point.violated_rows)
            del self._points[self._capacity :]

    def points(self) -> tuple[InfeasiblePoint, ...]:
        """Return all points, fewest violated rows first."""
        with self._lock:
            return tuple(self._points)

    def __len__(self) -> int:
        return len(self._points)
