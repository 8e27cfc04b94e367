"""How fast iterations go, and whether threads make them faster: measured, not assumed.

Threads help on a quiet machine and hurt on a busy one, where each of an iteration's two loops
may wait for the slowest thread to get a core. Any number of threads gives the same bits, so the one
that was faster when last measured is taken, and given up when it turns slower than the other was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WARM_UP = 1
"""Iterations of the first slice, in which threads start and caches fill: it is not counted."""

TRIAL = 10
"""Iterations of its second slice, the first one timed."""

RETRY = 8
"""Slices after which the slower number of threads gets another trial, doubled each time: threads
that have just been started can take some 50 ms to find their cores, as long as a whole trial."""


@dataclass(eq=False)
class Speed:
    """Seconds per iteration with each number of threads that comes into question."""

    thread_counts: Sequence[int] = (1,)
    seconds: dict[int, float] = field(default_factory=dict)
    _warm: set[int] = field(default_factory=set)
    _slices: int = 0
    _retry_at: int = RETRY

    def choose(self) -> int:
        """Return the number of threads for the next slice."""
        untried = [threads for threads in self.thread_counts if threads not in self.seconds]
        if untried:
            return untried[0]
        if self._slices >= self._retry_at and len(self.thread_counts) > 1:
            self._retry_at = 2 * self._slices
            return max(self.thread_counts, key=self.seconds.__getitem__)
        return self._best()

    def slice_length(self, threads: int, target: float) -> int:
        """Return how many iterations take about ``target`` seconds."""
        if threads not in self._warm:
            return WARM_UP
        if threads not in self.seconds or threads != self._best():
            return TRIAL
        return max(1, int(min(target / max(self.seconds[threads], 1e-9), 1e9)))

    def note(self, threads: int, iterations: int, elapsed: float) -> None:
        """Record what a slice took."""
        self._slices += 1
        if threads in self._warm:
            self.seconds[threads] = elapsed / iterations
        self._warm.add(threads)

    def _best(self) -> int:
        return min(self.seconds, key=self.seconds.__getitem__)
