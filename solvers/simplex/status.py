"""Why pivots end."""

from __future__ import annotations

from enum import Enum


class Halt(Enum):
    """Why a core stopped making pivots."""

    DONE = "no variable violates its bounds (dual) or prices out (primal)"
    NO_PIVOT = "no ratio is bounded: dual unbounded (primal infeasible), or primal unbounded"
    LIMIT = "the pivots it was given are used up"
    TROUBLE = "pivots stayed inaccurate after a fresh factorisation"
    STOPPED = "the time is up or somebody asked to stop"
