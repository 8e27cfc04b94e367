"""Points handed out now and then while a solve goes on, for a caller who cannot wait for its end.

At a limit the last point still has to come back from the device and through presolve, which takes
seconds on models of millions of coefficients, and an engine may just then be busy with a crossover.
So a point is handed out whenever it is much nearer than the last one, and so seldom that it costs
next to nothing. A caller may also ask for the first point within a looser tolerance (a milestone).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.outcome import Outcome
from solvers.pdlp.termination import Statistics

FROM_SECONDS = 1.0
"""Seconds of a solve before the first point is handed out: what ends sooner needs none."""

GAIN = 0.5
"""Part of the last one's largest error that a point must have to be handed out."""

SHARE = 0.02
"""Part of the time that handing out may take."""

RETRY = 0.7
"""Where a point of a part misses a milestone on the whole problem, the part's error has to fall to
this of what it was before the next trial."""


class IntermediatePoints:
    """Decides when to hand out a point, and measures what that costs.

    Parameters
    ----------
    hand_out : callable
        Takes an outcome of the original problem that is not optimal yet.
    """

    def __init__(self, hand_out: Callable[[Outcome], None]) -> None:
        self._hand_out = hand_out
        self._undo: Callable[[Outcome], Outcome] | None = None
        self._error = math.inf
        self._next = time.perf_counter() + FROM_SECONDS

    def through(self, undo: Callable[[Outcome], Outcome] | None) -> IntermediatePoints:
        """Take the outcomes of a reduced problem from now on, which ``undo`` brings back."""
        self._undo = undo
        return self

    def is_due(self, statistics: Statistics) -> bool:
        """Whether a point of these errors is near enough to be handed out, and it is time."""
        near = statistics.worst <= GAIN * self._error
        return near and time.perf_counter() >= self._next

    def keep(self, make: Callable[[], tuple[Outcome, float]]) -> None:
        """Hand out what ``make`` returns, an outcome and its largest error, if it is nearer."""
        began = time.perf_counter()
        outcome, error = make()
        if error < self._error:
            self._error = error
            self._hand_out(outcome if self._undo is None else self._undo(outcome))
        now = time.perf_counter()
        self._next = now + (now - began) / SHARE


@dataclass(frozen=True)
class Milestone:
    """What to do when all three errors are within ``tolerance`` for the first time.

    ``reached`` gets an outcome that is optimal at that tolerance; crossover can start from it
    while the solve goes on to a tighter one.
    """

    tolerance: float
    reached: Callable[[Outcome], None]


class MilestoneWatch:
    """Decides when a point may have reached a milestone, which happens once."""

    def __init__(self, milestone: Milestone) -> None:
        self.tolerance = milestone.tolerance
        self._reached: Callable[[Outcome], None] | None = milestone.reached
        self._retry_below = math.inf

    def begin(self) -> None:
        """Begin to watch another run."""
        self._retry_below = math.inf

    def is_due(self, statistics: Statistics) -> bool:
        """Whether a point of these errors is to be judged."""
        wanted = min(self.tolerance, self._retry_below)
        return self._reached is not None and statistics.worst <= wanted

    def miss(self, error: float) -> None:
        """Note the error of a part whose point misses the milestone on the whole problem."""
        self._retry_below = RETRY * error

    def reach(self, outcome: Outcome) -> None:
        """Hand the point out; there will be no other."""
        if self._reached is not None:
            reached, self._reached = self._reached, None
            reached(outcome)
