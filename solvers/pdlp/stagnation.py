"""When a scaling, or the whole solve, makes no progress any more.

Errors of a solve whose primal weight swings fall and rise by decades, and a fall to where it has
been before is no progress. So what counts is the least error so far, and for the solve as a whole
the decades that were left at the least (``termination.decades_left``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from solvers.pdlp.settings import AlternationSettings, StagnationSettings
from solvers.pdlp.termination import Criteria, Statistics, decades_left

LOOK_GROWTH = 1.5
"""Factor from the iterations of one look back at a scaling to those of the next."""


@dataclass(eq=False)
class Stagnation:
    """Gives a solve up that was no nearer for two thirds of very many iterations.

    On some models the method never arrives, however long it runs: where numbers of very different
    size meet, the primal weight swings from one extreme to the other, or the errors that are left
    are those of rounding. Given up, a solve ends with its best point and with numerical trouble,
    and its caller may go on from there by crossover or ask another engine.

    ``least`` decades were left at ``progress_at`` iterations, when the solve had last come nearer
    by ``settings.decades``. One object watches over all scalings of a solve.
    """

    settings: StagnationSettings
    criteria: Criteria
    least: float = math.inf
    progress_at: int = 0

    def is_over(self, iterations: int, statistics: Statistics) -> bool:
        """Record the errors after so many iterations in all; return whether to give up."""
        left = decades_left(statistics, self.criteria)
        if self.least - left >= self.settings.decades:
            self.least, self.progress_at = left, iterations
        since = self.settings.growth * self.progress_at
        return iterations >= max(self.settings.from_iterations, since)


@dataclass(eq=False)
class ScalingStagnation:
    """Decides at ``length`` iterations, and at every 1.5 times as many, whether a scaling stays.

    It does if the least error so far has fallen to ``settings.progress`` of what it was a look
    earlier, or the least residual: the gap may stay at 1 until both residuals are small, whatever
    they do. And it stays for good if it has come nearer by ``settings.decades_to_keep``
    (``decades_left``) than ``left_before``, where the other scaling ended: then this scaling is the
    right one.
    """

    settings: AlternationSettings
    length: float
    criteria: Criteria
    left_before: float = -math.inf
    left: float = math.inf
    least: tuple[float, float] = (math.inf, math.inf)
    least_then: tuple[float, float] = (math.inf, math.inf)
    next_look: float = 0.0

    def __post_init__(self) -> None:
        self.next_look = self.length / LOOK_GROWTH

    def is_over(self, iterations: int, statistics: Statistics) -> bool:
        """Record the errors after so many iterations; return whether the scaling gets nowhere."""
        error, residual = self.least
        self.least = (min(error, statistics.worst), min(residual, statistics.worst_residual))
        self.left = min(self.left, decades_left(statistics, self.criteria))
        if iterations < self.next_look:
            return False
        if self.left <= self.left_before - self.settings.decades_to_keep:
            self.next_look = math.inf
            return False
        falls = any(
            now < self.settings.progress * then
            for now, then in zip(self.least, self.least_then, strict=True)
        )
        self.least_then = self.least
        self.next_look *= LOOK_GROWTH
        return iterations >= self.length and not falls
