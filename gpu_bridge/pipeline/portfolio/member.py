"""A member at work: one solve on a worker, which hears of the others' points and bounds."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpu_bridge.cluster.wire import unpack, unpack_start
from gpu_bridge.interrupt import interruptible
from gpu_bridge.options import Options
from gpu_bridge.pipeline.portfolio.branching import Bounds, within
from gpu_bridge.pipeline.routes.mip import mip_route
from solvers.core.concurrency import start_thread
from solvers.core.outcome import Outcome
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress

MEET_AGAIN = 0.1
"""Seconds between two meetings with the others."""

Point = tuple[float, FloatArray, str]
Meet = Callable[[int, Point | None, float, int | None], tuple[bool, int, Point | None, float]]
"""What :meth:`gpu_bridge.cluster.remote.Exchange.meet` takes and returns."""


class MemberProgress(Progress):
    """The progress of one member: what it finds goes to the others, and theirs comes to it.

    Parameters
    ----------
    time_limit : float
    name : str
        Of the member, for the source of its points.
    meet : callable
    leaf : int or None
        The member's part of the model. It ends where its bound shows that others have what is as
        good as all there.
    rel_gap, abs_gap : float
        Gaps at which that is so.
    """

    def __init__(
        self,
        time_limit: float,
        name: str,
        meet: Meet,
        leaf: int | None,
        rel_gap: float,
        abs_gap: float,
    ) -> None:
        super().__init__(time_limit)
        self._name, self._meet, self._leaf = name, meet, leaf
        self._gaps = rel_gap, abs_gap
        self._found: Point | None = None
        self._version = 0
        self._take: Callable[[FloatArray, str], object] | None = None
        self._latest: Point | None = None
        self._closed = threading.Event()

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Take note of a better point for the next meeting."""
        with self._lock:
            if not super().incumbent(objective, source, x):
                return False
            if x is not None:
                self._found = objective, np.array(x), f"{source} ({self._name})"
            return True

    def listen(self, take: Callable[[FloatArray, str], object]) -> None:
        """Let the others' points be given to ``take``, the latest at once."""
        self._take = take
        if self._latest is not None:
            take(*self._latest[1:])

    def meet_until_closed(self) -> None:
        """Meet the others again and again."""
        while not self._closed.wait(MEET_AGAIN):
            self.meet()

    def meet(self) -> None:
        """Tell the others of what is new, and hear of theirs."""
        with self._lock:
            found, self._found = self._found, None
            bound = self.best_bound
        told = -np.inf if np.isnan(bound) else bound
        over, self._version, news, proven = self._meet(self._version, found, told, self._leaf)
        if over:
            self.interrupt()
        if np.isfinite(proven):
            self.bound(proven, "the others")
        if news is not None:
            self._latest = news
            if self._take is not None:
                self._take(*news[1:])
        if self._leaf is not None and self._latest is not None and self._is_as_good(bound):
            self.interrupt()

    def _is_as_good(self, bound: float) -> bool:
        """Whether the others' best point is as good as all that a bound allows."""
        assert self._latest is not None  # asked by the caller
        best, (rel_gap, abs_gap) = self._latest[0], self._gaps
        return best - bound <= max(abs_gap, rel_gap * abs(best))

    def close(self) -> None:
        """Meet a last time, and no more."""
        self._closed.set()
        self.meet()


def solve_member(
    exchange: Any,
    base: Any,
    start: Any,
    options: dict[str, Any],
    name: str,
    decisions: Sequence[Bounds],
    leaf: int | None,
) -> Outcome:
    """Solve a model, or a part of it, on a worker; return what the engine says."""
    import ray

    def meet(*told: Any) -> Any:
        return ray.get(exchange.meet.remote(*told))

    own = Options(**options)
    problem = unpack(base) if leaf is None else within(unpack(base), decisions)
    limit = np.inf if own.time_limit is None else own.time_limit
    progress = MemberProgress(limit, name, meet, leaf, own.rel_gap, own.abs_gap)
    with interruptible(progress):
        # where the driver is gone there is nobody to solve for
        thread = start_thread(
            "exchange", progress.meet_until_closed, lambda failure: progress.interrupt()
        )
        try:
            found = mip_route(problem, own, progress, unpack_start(start), exactly=leaf is None)
        finally:
            progress.close()
            thread.join()
    return dataclasses.replace(found, seconds=progress.seconds)
