"""What running HiGHS may ask and tell, whichever process it runs in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from solvers.highs.task import Ending, FloatArray

Offers = Callable[[], "FloatArray | None"]
"""Asked often; returns a feasible point found elsewhere that was not given before, or None."""

Halt = Callable[[], None]
"""Makes a running simplex stop; harmless at any other time."""


class Channel(Protocol):
    """The line between a running HiGHS and whoever waits for it; every call must be quick."""

    def time_left(self) -> float:
        """Return the seconds left, never negative; inf without a limit."""

    def stop(self) -> Ending | None:
        """Return why to stop now (time or interruption), or None to go on."""

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Tell of a better feasible point."""

    def bound(self, value: float) -> None:
        """Tell of a lower bound on the optimum."""

    def iteration(self, count: int) -> None:
        """Tell how many iterations an LP has taken."""

    def log(self, line: str) -> None:
        """Pass on a line of HiGHS's log."""

    def offered_point(self) -> FloatArray | None:
        """Return a point found elsewhere that HiGHS has not been given yet, or None."""

    def takes(self, halt: Halt) -> bool:
        """Take what stops simplex from another thread; if taken, simplex need not ask."""


class Quiet:
    """A channel that lets a side question run without mixing its figures into the history."""

    def __init__(self, channel: Channel) -> None:
        self.time_left = channel.time_left
        self.stop = channel.stop
        self.log = channel.log
        self.takes = channel.takes

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Objectives of a side question say nothing on the model's."""

    def bound(self, value: float) -> None:
        """Nor do its bounds."""

    def iteration(self, count: int) -> None:
        """Nor its iterations."""

    def offered_point(self) -> FloatArray | None:
        """No point is offered to a side question."""
        return None


class Brief(Quiet):
    """A channel for a solve that ends within moments by its own clock: HiGHS never calls back.

    A tiny model takes HiGHS as long to solve as to tell of it.
    """

    def log(self, line: str) -> None:
        """Nobody reads it."""


class PointsOnly(Quiet):
    """A channel for the search of a part of a model: its points are the model's, no more.

    Parameters
    ----------
    channel : Channel
    share : float
        Part of the time left then that the search may take.
    """

    def __init__(self, channel: Channel, share: float) -> None:
        super().__init__(channel)
        self._channel = channel
        left = channel.time_left()
        for_others = (1.0 - share) * left if math.isfinite(left) else 0.0
        self.time_left = lambda: max(0.0, channel.time_left() - for_others)

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Pass a feasible point on."""
        self._channel.incumbent(objective, x)
