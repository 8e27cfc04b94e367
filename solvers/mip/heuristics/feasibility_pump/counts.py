"""What a pump did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Counts:
    """Counted while a pump runs.

    Parameters
    ----------
    projections, converged : int
        Projections, and how many of them reached their tolerance.
    consistent : int
        Roundings without a contradiction.
    searches, cycles, restarts : int
        Local searches, circles left, beginnings from another point.
    found : int
        Points submitted that were the best so far.
    """

    projections: int = 0
    converged: int = 0
    consistent: int = 0
    searches: int = 0
    cycles: int = 0
    restarts: int = 0
    found: int = 0


@dataclass(frozen=True)
class PumpCounts:
    """What a pump did; the fields are those of :class:`Counts`.

    ``is_over`` says that the pump ended by itself: no objective is left to improve, or nothing
    better than the cut-off was there to project on. ``seconds`` is the time it took.
    """

    projections: int = 0
    converged: int = 0
    consistent: int = 0
    searches: int = 0
    cycles: int = 0
    restarts: int = 0
    found: int = 0
    is_over: bool = False
    seconds: float = 0.0
