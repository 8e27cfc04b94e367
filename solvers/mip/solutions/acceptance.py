"""The one acceptance of every point that a heuristic finds in the reduced model.

Rounded, polished by an LP, mapped to the problem as it was given, checked there and recorded: a
heuristic need only bring points whose integers are decided.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.mip.budget import SMALL_SHARE
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.incumbents import (
    CAPACITY,
    LP_SECONDS,
    Found,
    IncumbentStore,
    InfeasiblePoints,
    Pool,
)

if TYPE_CHECKING:
    from solvers.mip.reducer import Reduced
    from solvers.mip.solutions.polish import Polished, Polisher

KNOWN_POINTS = 4096
"""Integer parts remembered, so that none is polished twice."""

POLISH_SHARE = 0.3
"""Part of the time used so far that LPs may have taken; more where there is no point yet."""

POLISH_HEAD_START = 1.0
"""Seconds of LPs that are always allowed, beside that share."""

HAND_OVER_SECONDS = 0.2
"""Time at the end for checking points that are no improvement."""


class Acceptance:
    """Takes points of a reduced model; safe to use from any thread.

    Parameters
    ----------
    model : MipModel
        The reduced model, perhaps with narrower bounds.
    reduced : Reduced
        The ways between it and the original problem.
    incumbents : IncumbentStore
        Where points of the original problem are checked and kept.
    progress : Progress
        The clock.
    is_timed : bool
        Whether time may decide what is polished; False where every run has to be the same.
    """

    def __init__(
        self,
        model: MipModel,
        reduced: Reduced,
        incumbents: IncumbentStore,
        progress: Progress,
        *,
        is_timed: bool = True,
    ) -> None:
        self.model = model
        self.pool = Pool(CAPACITY, model.integers)
        self.infeasible_points = InfeasiblePoints()
        self.incumbents = incumbents
        self._reduced = reduced
        self._progress = progress
        self._is_timed = is_timed
        self._made: Polisher | None = None
        self._has_continuous = model.integers.size < model.num_columns
        self._recorded: WeakSet[Found] = WeakSet()
        self._known: OrderedDict[int, float] = OrderedDict()
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._polishing = 0.0

    def submit(self, x: FloatArray, source: str) -> bool:
        """Take a point (n,) of the reduced model; return whether it is the best so far."""
        if not np.isfinite(x).all():
            return False
        point = self.model.rounded(x)
        feasible = is_feasible(self.model, point)
        if self._has_continuous:
            point, feasible = self._polished(point, feasible)
        if not feasible:
            return False
        return self._keep(point, source)

    def settle(self, x: FloatArray, source: str, seconds: float) -> Polished:
        """Take a point (n,) whose integers are decided, and tell what the LP makes of it.

        Unlike :meth:`submit` this asks for no leave: who needs the answer spends his own time, and
        beyond ``seconds`` as much as any LP may take, so that a long one comes to its end.
        """
        polished = self._polisher().polish(x, max(seconds, self._seconds()))
        if polished.x is not None:
            self._keep(polished.x, source)
        return polished

    def take(self, x: FloatArray, source: str) -> None:
        """Take over a point that the incumbent store has, where there is a way."""
        if self._reduced.to_reduced is None:
            return
        point = self.model.rounded(self._reduced.to_reduced(x))
        if is_feasible(self.model, point):
            self._add(point, source, is_recorded=True)

    def take_all(self) -> None:
        """Take over all points of the incumbent store."""
        for found in self.incumbents.pool.points():
            self.take(found.x, found.source)

    def reduced_of(self, x: FloatArray) -> FloatArray | None:
        """Return a point of the original problem as one of the reduced model, feasible or not."""
        way = self._reduced.to_reduced
        return None if way is None else way(x)

    def original_of(self, x: FloatArray) -> FloatArray:
        """Return a point of the reduced model in the space of the original problem."""
        return self._reduced.to_original(x)

    def hand_over(self, count: int) -> None:
        """Let the incumbent store check so many of the best points, not only improvements."""
        deadline = time.monotonic() + HAND_OVER_SECONDS
        for found in self.pool.points()[:count]:
            if self._is_timed and time.monotonic() + self.incumbents.check_seconds > deadline:
                return
            if found in self._recorded:
                continue  # on millions of columns each check takes half a second
            self.incumbents.record(self._reduced.to_original(found.x), found.source)

    def close(self) -> None:
        """End the thread of the LPs."""
        if self._made is not None:
            self._made.close()

    def _polisher(self) -> Polisher:
        """Return who solves the LPs, which models without continuous columns seldom need."""
        from solvers.mip.solutions.polish import Polisher

        with self._lock:
            if self._made is None:
                self._made = Polisher(self.model, self.incumbents.device)
            return self._made

    def _keep(self, point: FloatArray, source: str) -> bool:
        objective = self.model.objective_at(point)
        if not objective < self.incumbents.pool.objective:
            self._add(point, source)
            return False
        if not self.incumbents.record(self._reduced.to_original(point), source):
            return False  # rounding errors on the way back: it is no point of the original
        self._add(point, source, is_recorded=True)
        return True

    def _add(self, point: FloatArray, source: str, *, is_recorded: bool = False) -> None:
        objective = self.model.objective_at(point)
        found = Found(point, objective, self._progress.seconds, source)
        if is_recorded:
            self._recorded.add(found)
        self.pool.add(found)

    def _polished(self, point: FloatArray, feasible: bool) -> tuple[FloatArray, bool]:
        """Return the point with the best continuous columns, and whether it is feasible."""
        key = hash(point[self.model.integers].tobytes())
        with self._lock:
            known = self._known.get(key)
        if known is not None and (not feasible or known <= self.model.objective_at(point)):
            return point, feasible
        if not self._may_polish():
            return point, feasible
        began = time.monotonic()
        polished = self._polisher().polish(point, self._seconds(), explain=False)
        with self._lock:
            self._polishing += time.monotonic() - began
            self._known[key] = polished.objective
            if len(self._known) > KNOWN_POINTS:
                self._known.popitem(last=False)
        if polished.x is None:
            return point, feasible
        return polished.x, True

    def _may_polish(self) -> bool:
        if not self._is_timed:
            return True
        share = POLISH_SHARE if len(self.pool) else 2 * POLISH_SHARE
        used = time.monotonic() - self._began
        return self._polishing <= POLISH_HEAD_START + share * used

    def _seconds(self) -> float:
        if not self._is_timed:
            return np.inf
        left = self._progress.time_left
        return min(left, max(LP_SECONDS, SMALL_SHARE * left))
