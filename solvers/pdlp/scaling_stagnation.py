"""When a turn with one scaling is over: once the errors no longer fall as they should."""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.pdlp.statistics import Statistics
from solvers.pdlp.termination import Criteria, decades_left

GROWTH = 1.5
"""Factor from the iterations of one look back to those of the next."""


@dataclass(eq=False)
class Patience:
    """Decides at ``length`` iterations, and at every 1.5 times as many, whether a turn goes on.

    It does if the least error so far has fallen to ``progress`` of what it was a look earlier, or
    the least residual: the gap may stay at 1 until both residuals are small, whatever they do.
    And it goes on for good if it has come nearer by ``enough`` decades (``decades_left``) than
    ``left``, where the turn with the other scaling ended: then this scaling is the right one.
    """

    length: float
    progress: float
    criteria: Criteria
    left: float = -math.inf
    enough: float = math.inf
    nearest: float = math.inf
    least: tuple[float, float] = (math.inf, math.inf)
    least_then: tuple[float, float] = (math.inf, math.inf)
    next_look: float = 0.0

    def __post_init__(self) -> None:
        self.next_look = self.length / GROWTH

    def is_over(self, iterations: int, statistics: Statistics) -> bool:
        """Take down the errors after so many iterations; return whether that was enough of them."""
        error, residual = self.least
        self.least = (min(error, statistics.worst), min(residual, statistics.worst_residual))
        self.nearest = min(self.nearest, decades_left(statistics, self.criteria))
        if iterations < self.next_look:
            return False
        if self.nearest <= self.left - self.enough:
            self.next_look = math.inf
            return False
        falls = any(
            now < self.progress * then
            for now, then in zip(self.least, self.least_then, strict=True)
        )
        self.least_then = self.least
        self.next_look *= GROWTH
        return iterations >= self.length and not falls
