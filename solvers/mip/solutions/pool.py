"""The points found so far: distinct, best first, with time and origin of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray

Submit = Callable[[FloatArray, str], bool]
"""Takes a point (n,) and its source's name; returns whether it is the best so far.

The integer columns must be (nearly) whole; what is left to do - rounding, an LP for the continuous
columns, the check on the original problem - happens behind it. The caller's array is not kept.
"""


@dataclass(frozen=True, eq=False)
class Found:
    """A feasible point of the model, its objective with offset, when it came and from where."""

    x: FloatArray
    objective: float
    seconds: float
    source: str


class Pool:
    """Feasible points of one model, safe to use from any thread.

    Parameters
    ----------
    capacity : int
        Points kept; the worst are dropped.
    integers : (k,) array of int
        Columns that tell points apart; all, if there are none.
    """

    def __init__(self, capacity: int, integers: np.ndarray) -> None:
        self._capacity = capacity
        self._integers = integers
        self._points: list[Found] = []
        self._marks: list[int] = []
        self._lock = threading.Lock()
        self._version = 0

    @property
    def version(self) -> int:
        """Number of improvements so far: a change means that there is a better point."""
        return self._version

    @property
    def best(self) -> Found | None:
        """The best point, or None."""
        with self._lock:
            return self._points[0] if self._points else None

    @property
    def objective(self) -> float:
        """Objective of the best point; inf without one."""
        best = self.best
        return np.inf if best is None else best.objective

    def __len__(self) -> int:
        return len(self._points)

    def points(self) -> tuple[Found, ...]:
        """Return all points, best first."""
        with self._lock:
            return tuple(self._points)

    def add(self, found: Found) -> bool:
        """Keep a feasible point if it is new and good enough; return whether it is the best.

        Of points with the same integer values the best is kept.
        """
        key = self._key(found.x)
        mark = hash(key.tobytes())  # of a million columns, comparing with every point takes long
        with self._lock:
            best = self._points[0].objective if self._points else np.inf
            for place, other in enumerate(self._points):
                if self._marks[place] == mark and np.array_equal(self._key(other.x), key):
                    if found.objective >= other.objective:
                        return False
                    del self._points[place], self._marks[place]
                    break
            place = 0
            while place < len(self._points) and self._points[place].objective <= found.objective:
                place += 1
            self._points.insert(place, found)
            self._marks.insert(place, mark)
            del self._points[self._capacity :], self._marks[self._capacity :]
            improved = bool(found.objective < best)
            self._version += improved
            return improved

    def _key(self, x: FloatArray) -> FloatArray:
        key = np.round(x[self._integers]) if self._integers.size else x
        return np.asarray(key + 0.0)  # no negative zeros, which are equal and have other bytes


# Points that are nearly feasible: where to begin when there is nothing better.


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
