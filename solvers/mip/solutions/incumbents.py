"""The last check of every point, on the problem as it was given, and the book of those that pass.

Whatever finds a point, in whatever reduced model, it counts only once it stands here: integers
exactly whole, rows and bounds within the tolerance, objective computed afresh.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.outcome import relative_gap
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel, is_feasible
from solvers.mip.solutions.pool import Found, InfeasiblePoints, Pool

if TYPE_CHECKING:
    from solvers.mip.solutions.polish import Polisher

ROUNDING = 1e-12
"""Difference of an objective and a bound, relative to max(1, |objective|), that is rounding: also
where no gap at all is allowed."""

MENDING_SECONDS = 5.0
"""Time for bringing a point within the tolerance after rounding errors took it out: by moving it,
and again by an LP."""


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
        self, problem: Problem, progress: Progress, tolerance: float, capacity: int
    ) -> None:
        self.model = MipModel.of(problem)
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
        from solvers.mip.solutions.touch_up import touched_up

        deadline = time.monotonic() + MENDING_SECONDS
        moved = touched_up(self.model, point, lambda: time.monotonic() >= deadline)
        if moved is not None:
            return moved

        with self._lock:
            if self._mender is None:
                self._mender = Polisher(self.model)
            mender = self._mender
        return mender.polish(point, MENDING_SECONDS).x


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
