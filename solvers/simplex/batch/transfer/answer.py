"""What comes out of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray

IntArray = npt.NDArray[np.int32]

NOT_REACHED = -1
"""Ending of an LP for whose turn time ran out, or that an interruption came before."""


@dataclass(frozen=True, eq=False)
class LpAnswers:
    """Claims of an engine, in the minimised sense; nothing is verified.

    Parameters
    ----------
    x, row_dual : (count, n) and (count, m) arrays
        Points within their bounds and row duals, zero where an LP was not reached; rays of LPs
        that ended with one, as the engine says.
    ending, iterations : (count,) arrays
        The engine's number for how each ended, or :data:`NOT_REACHED`, and iterations made.
    device : str
        Where it ran.
    figures : (count, 8) array, optional
        What a GPU that was asked to found out about points and duals, by the names of
        ``kernels.check.FIGURES``; NaN where there is no claim of an optimum. The duals of those
        it looked at are clipped to allowed signs.
    """

    x: FloatArray
    row_dual: FloatArray
    ending: IntArray
    iterations: IntArray
    device: str
    figures: FloatArray | None = field(default=None, kw_only=True)

    def leave_out(self, first: int) -> None:
        """Say that the LPs from ``first`` on had no turn."""
        for array in (self.x, self.row_dual, self.iterations):
            array[first:] = 0
        self.ending[first:] = NOT_REACHED
        if self.figures is not None:
            self.figures[first:] = np.nan
