"""What comes out of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.simplex.batch.data import StatusArray
from solvers.simplex.batch.kernels import simplex

IntArray = npt.NDArray[np.int32]

NOT_REACHED = -1
"""Ending of an LP for whose turn time ran out, or that an interruption came before."""


class Ending(IntEnum):
    """How an LP ended, as the kernel says it."""

    LIMIT = simplex.LIMIT
    OPTIMAL = simplex.OPTIMAL
    INFEASIBLE = simplex.INFEASIBLE
    UNBOUNDED = simplex.UNBOUNDED
    TROUBLE = simplex.TROUBLE
    NOT_REACHED = NOT_REACHED


@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """Claims of the engine in the minimised sense; nothing is verified.

    Parameters
    ----------
    x, row_dual : (count, n) and (count, m) arrays
        Basic points, moved into their bounds, and row duals, zero where an LP was not reached;
        duals of an ``INFEASIBLE`` LP are the Farkas multipliers of its rows.
    ending, iterations : (count,) arrays
        :class:`Ending` of each, and the pivots and bound flips made.
    basis : (count, n + m) array
        Statuses of columns and then of rows, as in ``solvers.core.outcome.BasisStatus``; of the
        last basis of an LP, whatever its ending.
    device : str
        Where it ran.
    figures : (count, 8) array, optional
        What a GPU that was asked to found out about points and duals, by the names of
        ``kernels.check.FIGURES``; NaN where there is no claim of an optimum. The duals of those
        it looked at are clipped to allowed signs.
    rays : mapping from the number of an ``UNBOUNDED`` LP to an (n,) array
        Its direction of improvement, from the point in ``x``, which is feasible.
    """

    x: FloatArray
    row_dual: FloatArray
    ending: IntArray
    iterations: IntArray
    basis: StatusArray
    device: str
    figures: FloatArray | None = None
    rays: dict[int, FloatArray] = field(default_factory=dict)

    def leave_out(self, first: int) -> None:
        """Say that the LPs from ``first`` on had no turn."""
        for array in (self.x, self.row_dual, self.iterations):
            array[first:] = 0
        self.ending[first:] = NOT_REACHED
        if self.figures is not None:
            self.figures[first:] = np.nan
