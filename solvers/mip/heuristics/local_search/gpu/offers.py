"""Handing points on, which may take the time of an LP, while the walkers walk on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from solvers.core.problem import FloatArray
from solvers.mip.solutions.pool import Offer

SOURCE = "walkers"
"""Name of these points in the history."""

MOST_WAITING = 3
"""Points that wait for their turn at most: what was found later is better."""


class Offers:
    """Points on their way to the gate, in a thread of their own or in the caller's.

    Parameters
    ----------
    offer : callable
    threaded : bool
        Whether a thread of its own offers them; without one :meth:`hand_over` does it at once,
        and every run hands on the same points at the same moments.
    """

    def __init__(self, offer: Offer, *, threaded: bool) -> None:
        self._offer = offer
        self._thread = ThreadPoolExecutor(1, "walkers-offers") if threaded else None
        self._busy: Future[None] | None = None
        self._points: list[FloatArray] = []
        self._near: FloatArray | None = None
        self.offered = 0
        self.near = 0
        self.near_seconds = 0.0

    def add(self, points: Sequence[FloatArray]) -> None:
        """Let feasible points wait, the best one last; those found earlier may be dropped."""
        self._points = [*self._points, *points][-MOST_WAITING:]

    def add_near(self, point: FloatArray) -> None:
        """Let a nearly feasible point wait; there is one at most."""
        self._near = point

    def hand_over(self) -> None:
        """Offer what waits, the best first, unless the thread is still busy with other points."""
        if self._busy is not None:
            if not self._busy.done():
                return
            self._busy.result()  # an error there is one here
            self._busy = None
        if not self._points and self._near is None:
            return
        points, near = self._points[::-1], self._near
        self._points, self._near = [], None
        if self._thread is None:
            self._offer_all(points, near)
        else:
            self._busy = self._thread.submit(self._offer_all, points, near)

    def close(self) -> None:
        """Offer what is left, wait for it, and end the thread."""
        try:
            if self._busy is not None:
                self._busy.result()
            self._busy = None
            self._offer_all(self._points[::-1], None)
            self._points = []
        finally:
            if self._thread is not None:
                self._thread.shutdown()

    def _offer_all(self, points: list[FloatArray], near: FloatArray | None) -> None:
        for point in points:
            self._offer(point, SOURCE)
            self.offered += 1
        if near is not None:
            began = time.monotonic()
            self._offer(near, SOURCE)
            self.near_seconds += time.monotonic() - began
            self.near += 1
