"""When a turn with one scaling is over: once the error no longer falls as it should."""

from __future__ import annotations

import math
from dataclasses import dataclass

GROWTH = 1.5
"""Factor from the iterations of one look back to those of the next."""


@dataclass(eq=False)
class Patience:
    """Decides at ``length`` iterations, and at every 1.5 times as many, whether a turn goes on.

    It does if the least error so far has fallen to ``progress`` of what it was a look earlier.
    """

    length: float
    progress: float
    least: float = math.inf
    least_then: float = math.inf
    next_look: float = 0.0

    def __post_init__(self) -> None:
        self.next_look = self.length / GROWTH

    def is_over(self, iterations: int, error: float) -> bool:
        """Take down the error after so many iterations; return whether that was enough of them."""
        self.least = min(self.least, error)
        if iterations < self.next_look:
            return False
        falls = self.least < self.progress * self.least_then
        self.least_then = self.least
        self.next_look *= GROWTH
        return iterations >= self.length and not falls
