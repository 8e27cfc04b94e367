"""When to restart: a pure function of the fixed-point metric and the iteration counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from solvers.pdlp.settings import Settings


class Restart(Enum):
    """Why an epoch ends."""

    FIRST_CHECK = "first check"
    SUFFICIENT = "the metric fell far enough"
    NECESSARY = "the metric fell and begins to grow"
    ARTIFICIAL = "the epoch is long"


@dataclass(frozen=True)
class Epoch:
    """How the fixed-point metric went since the last restart.

    ``first`` is its value at the first iteration, ``previous`` at the check before this one
    (infinite at the first check), ``now`` at this one.
    """

    first: float
    previous: float
    now: float
    iterations: int
    total_iterations: int
    checks_in_all: int


def restart_reason(epoch: Epoch, settings: Settings) -> Restart | None:
    """Return why to restart now, or None to go on."""
    if epoch.checks_in_all == 1:
        return Restart.FIRST_CHECK
    if epoch.now <= settings.sufficient_decrease * epoch.first:
        return Restart.SUFFICIENT
    if epoch.now <= settings.necessary_decrease * epoch.first and epoch.now > epoch.previous:
        return Restart.NECESSARY
    if epoch.iterations >= settings.artificial_share * epoch.total_iterations:
        return Restart.ARTIFICIAL
    return None
