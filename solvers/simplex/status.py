"""Why pivots end, and what the phases of a solve find out."""

from __future__ import annotations

from enum import Enum


class PivotStatus(Enum):
    """Why a core stopped making pivots."""

    DONE = "no variable violates its bounds (dual) or prices out (primal)"
    NO_PIVOT = "no ratio is bounded: dual unbounded (primal infeasible), or primal unbounded"
    LIMIT = "the pivots it was given are used up"
    TROUBLE = "pivots stayed inaccurate after a fresh factorisation"
    STOPPED = "the time is up or somebody asked to stop"


class SolveStatus(Enum):
    """What the phases found out about a problem."""

    OPTIMAL = "no violation is left"
    INFEASIBLE = "a ray proves that no point satisfies the constraints"
    UNBOUNDED = "a ray proves that the objective has no end"
    STOPPED = "time or iterations are used up, or somebody asked to stop"
    TROUBLE = "pivots stayed inaccurate"
