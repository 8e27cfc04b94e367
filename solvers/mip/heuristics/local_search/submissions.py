"""The walkers' points on their way to the acceptance, while the walkers walk on.

To submit one may take the time of an LP.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from solvers.core.problem import FloatArray
from solvers.mip.model import Submit

SOURCE = "local search on the GPU"
"""Name of a GPU's points in the history."""

MOST_WAITING = 3
"""Points that wait for their turn at most: what was found later is better."""


class Submissions:
    """Points on their way to the acceptance, in a thread of their own or in the caller's.

    Parameters
    ----------
    source : str
        Name of the points in the history.
    threaded : bool
        Whether a thread of its own submits them; without one :meth:`hand_over` does it at once,
        and every run hands on the same points at the same moments.
    """

    def __init__(self, submit: Submit, source: str, *, threaded: bool) -> None:
        self._submit = submit
        self._source = source
        self._thread = ThreadPoolExecutor(1, "walkers-submissions") if threaded else None
        self._busy: Future[None] | None = None
        self._points: list[FloatArray] = []
        self._infeasible: FloatArray | None = None
        self.submitted = 0
        self.infeasible_points = 0
        self.infeasible_seconds = 0.0

    def add(self, points: Sequence[FloatArray]) -> None:
        """Let feasible points wait, the best one last; those found earlier may be dropped."""
        self._points = [*self._points, *points][-MOST_WAITING:]

    def add_infeasible(self, point: FloatArray) -> None:
        """Let an infeasible point wait; there is one at most."""
        self._infeasible = point

    def hand_over(self) -> None:
        """Submit what waits, the best first, unless the thread is still busy with other points."""
        if self._busy is not None:
            if not self._busy.done():
                return
            self._busy.result()  # an error there is one here
            self._busy = None
        if not self._points and self._infeasible is None:
            return
        points, infeasible = self._points[::-1], self._infeasible
        self._points, self._infeasible = [], None
        if self._thread is None:
            self._submit_all(points, infeasible)
        else:
            self._busy = self._thread.submit(self._submit_all, points, infeasible)

    def close(self) -> None:
        """Submit what is left, wait for it, and end the thread."""
        try:
            if self._busy is not None:
                self._busy.result()
            self._busy = None
            self._submit_all(self._points[::-1], None)
            self._points = []
        finally:
            if self._thread is not None:
                self._thread.shutdown()

    def _submit_all(self, points: list[FloatArray], infeasible: FloatArray | None) -> None:
        for point in points:
            self._submit(point, self._source)
            self.submitted += 1
        if infeasible is not None:
            began = time.monotonic()
            self._submit(infeasible, self._source)
            self.infeasible_seconds += time.monotonic() - began
            self.infeasible_points += 1
