"""A looser tolerance on the way, at which a point is handed out while the solve goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.core.outcome import Outcome


@dataclass(frozen=True)
class Milestone:
    """What to do when all three errors are within ``tolerance`` for the first time.

    ``reached`` gets an outcome that is optimal at that tolerance; crossover can start from it
    while the solve goes on to a tighter one.
    """

    tolerance: float
    reached: Callable[[Outcome], None]
