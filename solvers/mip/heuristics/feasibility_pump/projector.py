"""What a pump asks of whoever solves its projections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.feasibility_pump.augmented import Request
from solvers.mip.portfolio.budget import Budget

SECONDS = 1.0
"""Time of one projection (arXiv 2510.20499, section 2.5)."""

WORK = 2e8
"""Work of one projection where no clock counts: about as much as a core does in that time."""


OVERHEAD = 1e5
"""Work that an iteration of a pump costs beside its projection: half a millisecond."""


@dataclass(frozen=True, eq=False)
class Projection:
    """A point of the projection's linear program, exact or not.

    Parameters
    ----------
    x : (columns,) float64
        Within its bounds.
    y : (rows,) float64
        Row duals, zeros where there are none.
    is_converged : bool
        Whether the point is optimal within the tolerance asked for.
    is_empty : bool
        Whether the projector found that no point keeps the rows; an exact method's word that is
        good enough to give up a cut-off, and no proof.
    is_cut_short : bool
        Whether a limit of time or work ended an exact method.
    """

    x: FloatArray
    y: FloatArray
    is_converged: bool
    is_empty: bool = False
    is_cut_short: bool = False


class Projector(Protocol):
    """Solves linear programs that share their matrix; for one thread at a time."""

    def project(self, request: Request, budget: Budget) -> Projection:
        """Solve one, as far as the budget goes, and charge the budget."""


def projection_budget(budget: Budget) -> Budget:
    """Return what one projection may spend of a pump's budget."""
    return budget.part(seconds=SECONDS) if budget.is_timed else budget.part(work=WORK)
