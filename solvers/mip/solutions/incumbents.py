"""The last check of every point, on the problem as it was given, and the book of those that pass.

Whatever finds a point, in whatever reduced model, it counts only once it stands here: integers
exactly whole, rows and bounds within the tolerance, objective computed afresh.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.outcome import relative_gap
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.mip.model import FEASIBILITY_TOLERANCE, ROUNDING, MipModel, is_feasible

if TYPE_CHECKING:
    from solvers.mip.inference.aggregation import Aggregated
    from solvers.mip.solutions.polish import Polisher

LP_SECONDS = 5.0
"""Longest time for an LP of a point, and for moving a point back that rounding errors took out of
the tolerance."""

START = "start"
"""Name under which a start given by the user is recorded."""


class IncumbentStore:
    """Verified points of the original problem; safe to use from any thread.

    Parameters
    ----------
    problem : Problem
        As it was given.
    progress : Progress
        Told of every improvement.
    tolerance : float
        Largest violation of a row or bound, relative to max(1, |side|). Points that keep
        :data:`~solvers.mip.model.FEASIBILITY_TOLERANCE` absolutely are tried for first.
    capacity : int
        Points kept.
    device : str
        Where large linear programs about its points may be solved, as in
        :class:`~solvers.core.options.EngineOptions`.

    Attributes
    ----------
    infeasible_points : InfeasiblePoints
        Points of the original problem that violate few rows, from those who search it as it is.
    least : float
        Objective (with offset) that no point within the bounds of the columns is below: where
        there are no costs, that of every point.
    check_seconds : float
        What the last check took.
    """

    def __init__(
        self,
        problem: Problem,
        progress: Progress,
        tolerance: float,
        capacity: int,
        device: str = "auto",
    ) -> None:
        self.model = MipModel.of(problem)
        self.device = device
        self.pool = Pool(capacity, self.model.integers)
        self.infeasible_points = InfeasiblePoints()
        self.least = least_objective(self.model)
        self._progress = progress
        self._tolerance = tolerance
        self._mender: Polisher | None = None
        self._lock = threading.Lock()
        self._is_frozen = False
        self.check_seconds = 0.0

    def record(self, x: FloatArray, source: str) -> bool:
        """Check a point (n,) and keep it if it passes; return whether it is the best so far.

        After :meth:`freeze` none passes.
        """
        began = time.monotonic()
        point = self._checked(x)
        self.check_seconds = time.monotonic() - began
        if point is None or self._is_frozen:
            return False
        objective = self.model.objective_at(point)
        improved = self.pool.add(Found(point, objective, self._progress.seconds, source))
        if improved:
            self._progress.incumbent(objective, source, point)
        return improved

    def take_start(self, x: FloatArray) -> tuple[bool, str]:
        """Record a start (n,), NaN where nothing is known, if it is complete.

        Returns
        -------
        (bool, str)
            Whether it was taken, and what to tell.
        """
        known = int(np.isfinite(x).sum())
        if known < x.size:
            return False, f"The start gives {known} of {x.size} values."
        if self.record(x, START):
            return True, "The start is feasible and was taken."
        return False, "The start is not feasible as it stands."

    def is_closed(self, rel_gap: float, abs_gap: float) -> bool:
        """Whether the best point is proven to be within the gaps asked for."""
        best, bound = self.pool.objective, np.fmax(self._progress.best_bound, self.least)
        if not (np.isfinite(best) and np.isfinite(bound)):
            return False
        rounding = ROUNDING * max(1.0, abs(best))
        return bool(relative_gap(best, bound) <= rel_gap or best - bound <= max(abs_gap, rounding))

    def freeze(self) -> None:
        """Take no more points: the answer is being put together."""
        self._is_frozen = True

    def close(self) -> None:
        """End the thread of the LP, if there is one."""
        with self._lock:
            if self._mender is not None:
                self._mender.close()

    def _checked(self, x: FloatArray) -> FloatArray | None:
        """Return the point with whole integers, mended if need be; None if it is not feasible."""
        if x.shape != (self.model.num_columns,) or not np.isfinite(x).all():
            return None
        whole = x[self.model.integers]
        if np.max(np.abs(whole - np.round(whole)), initial=0.0) > 1e-3:
            return None
        point = self.model.rounded(x)
        if is_feasible(self.model, point):
            return point
        violation = relative_violation(self.model, point)
        mended = self._mend(point, violation)
        if mended is not None:
            return mended
        return point if violation <= self._tolerance else None

    def _mend(self, point: FloatArray, violation: float) -> FloatArray | None:
        """Move the continuous columns, or solve for them anew, where the point misses by little."""
        if self.model.integers.size == self.model.num_columns:
            return None
        if violation > 1e3 * FEASIBILITY_TOLERANCE:
            return None
        # most solves never need these
        from solvers.mip.solutions.polish import Polisher
        from solvers.mip.solutions.polish.continuous import touched_up

        deadline = time.monotonic() + LP_SECONDS
        moved = touched_up(self.model, point, lambda: time.monotonic() >= deadline)
        if moved is not None:
            return moved

        with self._lock:
            if self._mender is None:
                self._mender = Polisher(self.model, self.device)
            mender = self._mender
        return mender.polish(point, LP_SECONDS).x


def least_objective(model: MipModel) -> float:
    """Return an objective that no point within the bounds is below; -inf where they end nowhere."""
    ends = np.where(model.cost > 0.0, model.lower, model.upper)[model.cost != 0.0]
    terms = model.cost[model.cost != 0.0] * ends
    rounding = terms.size * np.finfo(float).eps * float(np.sum(np.abs(terms)))
    return float(np.sum(terms)) - rounding + model.offset if np.isfinite(ends).all() else -np.inf


def relative_violation(model: MipModel, x: FloatArray) -> float:
    """Return the largest violation of a row at ``x`` (n,), over max(1, |side that is missed|)."""
    activity = model.activity(x)
    outside = np.maximum(0.0, np.maximum(model.row_lower - activity, activity - model.row_upper))
    missed = np.where(activity < model.row_lower, model.row_lower, model.row_upper)
    return float(np.max(outside / np.maximum(1.0, np.abs(missed)), initial=0.0))


# The points found so far: distinct, best first, with time and origin of each.


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
"""Points of the reduced model kept for heuristics: feasible ones, and infeasible ones."""


FEW_ROWS, FEW_PART = 10, 0.02
"""A point that violates at most so many rows, or this part of all, may become feasible by an LP."""


def is_nearly_feasible(violated_rows: int, rows: int) -> bool:
    """Whether a point is worth an LP that violates so many of a model's rows."""
    return violated_rows <= max(FEW_ROWS, FEW_PART * rows)


@dataclass(frozen=True, eq=False)
class InfeasiblePoint:
    """A point (n,) with whole integers and the number of rows that it violates."""

    x: FloatArray
    violated_rows: int


class InfeasiblePoints:
    """The points that violate the fewest rows; safe to use from any thread."""

    def __init__(self) -> None:
        self._points: list[InfeasiblePoint] = []
        self._lock = threading.Lock()

    def add(self, x: FloatArray, violated_rows: int) -> None:
        """Keep a point if it is among the best and not there yet."""
        with self._lock:
            full = len(self._points) == CAPACITY
            if full and violated_rows >= self._points[-1].violated_rows:
                return
            alike = [other for other in self._points if other.violated_rows == violated_rows]
            if any(np.array_equal(x, other.x) for other in alike):
                return
            self._points.append(InfeasiblePoint(x.copy(), violated_rows))
            self._points.sort(key=lambda point: point.violated_rows)
            del self._points[CAPACITY:]

    def points(self) -> tuple[InfeasiblePoint, ...]:
        """Return all points, fewest violated rows first."""
        with self._lock:
            return tuple(self._points)

    def __len__(self) -> int:
        return len(self._points)


class InfeasibleView(InfeasiblePoints):
    """The infeasible points of the whole model in the columns of an aggregated one."""

    def __init__(self, points: InfeasiblePoints, aggregated: Aggregated) -> None:
        self._whole = points
        self._aggregated = aggregated
        self._show = aggregated.infeasible_to(points.add)

    def add(self, x: FloatArray, violated_rows: int) -> None:
        """Show a point (k,) of the aggregated model, and how many of its rows it violates."""
        self._show(x, violated_rows)

    def points(self) -> tuple[InfeasiblePoint, ...]:
        """Return all that are known, fewest violated rows first."""
        return tuple(
            replace(one, x=self._aggregated.from_whole(one.x)) for one in self._whole.points()
        )

    def __len__(self) -> int:
        return len(self._whole)


class PoolView(Pool):
    """A pool for reading, whose points are those of another one; safe to use from any thread.

    Parameters
    ----------
    pool : Pool
        Of the whole model's points.
    """

    def __init__(self, pool: Pool, aggregated: Aggregated) -> None:
        super().__init__(0, aggregated.model.integers)
        self._pool = pool
        self._aggregated = aggregated

    @property
    def version(self) -> int:
        """Number of improvements of the other pool."""
        return self._pool.version

    @property
    def best(self) -> Found | None:
        """The best point in the model's columns, or None."""
        best = self._pool.best
        return None if best is None else self._seen(best)

    @property
    def objective(self) -> float:
        """Objective of the best point; inf without one."""
        return self._pool.objective

    def __len__(self) -> int:
        return len(self._pool)

    def points(self) -> tuple[Found, ...]:
        """Return all points in the model's columns, best first."""
        return tuple(self._seen(found) for found in self._pool.points())

    def add(self, found: Found) -> bool:
        """Refuse: points come in through the whole model's acceptance."""
        raise TypeError(
            "A view of a pool takes no points; submit them to the full model's acceptance."
        )

    def _seen(self, found: Found) -> Found:
        return replace(found, x=self._aggregated.from_whole(found.x))
