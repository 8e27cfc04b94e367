"""How fast iterations go, and whether threads make them faster: measured, not assumed.

Threads help on a quiet machine and hurt on a busy one, where each of an iteration's two loops
may wait for the slowest thread to get a core. Both ways give the same bits, so the faster one by
the latest measurement is taken, and given up when it turns slower than the other was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WARM_UP = 1
"""Iterations of a way's first slice, which may have to compile and is not counted."""

TRIAL = 10
"""Iterations of its second slice, the first one timed."""


@dataclass(eq=False)
class Pace:
    """Seconds per iteration with each number of threads that comes into question."""

    ways: Sequence[int] = (1,)
    seconds: dict[int, float] = field(default_factory=dict)
    _warm: set[int] = field(default_factory=set)

    def choose(self) -> int:
        """Return the number of threads for the next slice."""
        untried = [way for way in self.ways if way not in self.seconds]
        return untried[0] if untried else min(self.ways, key=self.seconds.__getitem__)

    def slice_length(self, way: int, target: float) -> int:
        """Return how many iterations take about ``target`` seconds."""
        if way not in self._warm:
            return WARM_UP
        if way not in self.seconds:
            return TRIAL
        return max(1, int(min(target / max(self.seconds[way], 1e-9), 1e9)))

    def note(self, way: int, iterations: int, elapsed: float) -> None:
        """Take down what a slice took."""
        if way in self._warm:
            self.seconds[way] = elapsed / iterations
        self._warm.add(way)
