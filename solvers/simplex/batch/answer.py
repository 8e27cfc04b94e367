"""What comes out of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from solvers.problem import FloatArray
from solvers.simplex.batch.data import StatusArray
from solvers.simplex.batch.kernels import simplex

IntArray = npt.NDArray[np.int32]


class Ending(IntEnum):
    """How an LP ended, as the kernel says it."""

    LIMIT = simplex.LIMIT
    OPTIMAL = simplex.OPTIMAL
    INFEASIBLE = simplex.INFEASIBLE
    UNBOUNDED = simplex.UNBOUNDED
    TROUBLE = simplex.TROUBLE
    NOT_REACHED = -1
    """Time ran out, or the user interrupted, before its turn."""


@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """Claims of the engine, in the minimised sense; nothing is verified.

    Parameters
    ----------
    x, row_dual : (count, n) and (count, m) arrays
        Basic points, moved into their bounds, and row duals, zero where an LP was not reached;
        ``row_dual`` of an ``INFEASIBLE`` one are the Farkas multipliers of its rows.
    basis : (count, n + m) array
        Statuses of columns and then of rows, as in ``solvers.outcome.BasisStatus``; of the last
        basis of an LP, whatever its ending.
    ending, iterations : (count,) arrays
        An :class:`Ending`, and pivots and bound flips made.
    rays : mapping from the number of an ``UNBOUNDED`` LP to an (n,) array
        Its direction of improvement, from the point in ``x``, which is feasible.
    device : str
        Where it ran.
    """

    x: FloatArray
    row_dual: FloatArray
    basis: StatusArray
    ending: IntArray
    iterations: IntArray
    device: str
    rays: dict[int, FloatArray] = field(default_factory=dict)
