"""What comes out of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from solvers.core.problem import FloatArray
from solvers.simplex.batch.data import StatusArray
from solvers.simplex.batch.kernels import simplex
from solvers.simplex.batch.transfer import answer


class Ending(IntEnum):
    """How an LP ended, as the kernel says it."""

    LIMIT = simplex.LIMIT
    OPTIMAL = simplex.OPTIMAL
    INFEASIBLE = simplex.INFEASIBLE
    UNBOUNDED = simplex.UNBOUNDED
    TROUBLE = simplex.TROUBLE
    NOT_REACHED = answer.NOT_REACHED


@dataclass(frozen=True, eq=False)
class BatchAnswer(answer.LpAnswers):
    """Claims of the engine: basic points, moved into their bounds, with their bases.

    Parameters
    ----------
    x, row_dual, ending, iterations, device
        ``row_dual`` of an ``INFEASIBLE`` LP are the Farkas multipliers of its rows; iterations
        are pivots and bound flips made.
    basis : (count, n + m) array
        Statuses of columns and then of rows, as in ``solvers.core.outcome.BasisStatus``; of the
        last basis of an LP, whatever its ending.
    rays : mapping from the number of an ``UNBOUNDED`` LP to an (n,) array
        Its direction of improvement, from the point in ``x``, which is feasible.
    """

    basis: StatusArray
    rays: dict[int, FloatArray] = field(default_factory=dict)
