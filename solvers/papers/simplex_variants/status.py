"""How a run of pivots can end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from solvers.core.outcome import StopReason
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis
from solvers.papers.simplex_variants.standard_form import NONE


class Ending(Enum):
    """What a run of pivots has found."""

    OPTIMAL = "nothing prices out"
    INFEASIBLE = "the least sum of infeasibilities is not zero"
    UNBOUNDED = "a variable that prices out may grow without end"
    STOPPED = "time or interruption"
    TROUBLE = "pivots stayed too small"


@dataclass(frozen=True, eq=False)
class Found:
    """How a run ended, and the basis it ended with.

    ``entering`` is the variable that grows without end; ``gradient`` (m,) the costs of phase 1 at
    the perturbed point where it ended, from which Farkas multipliers follow.
    """

    ending: Ending
    basic: Basis
    entering: int = NONE
    gradient: FloatArray | None = None
    reason: StopReason = StopReason.CONVERGED
