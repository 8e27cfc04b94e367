"""What comes out of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from solvers.pdlp.batch.kernels import solve
from solvers.problem import FloatArray

IntArray = npt.NDArray[np.int32]


class Ending(IntEnum):
    """How an LP ended, as the kernel says it."""

    LIMIT = solve.LIMIT
    CONVERGED = solve.CONVERGED
    DUAL_RAY = solve.DUAL_RAY
    PRIMAL_RAY = solve.PRIMAL_RAY
    TROUBLE = solve.TROUBLE
    VERTEX = solve.VERTEX
    NOT_REACHED = -1
    """Time ran out, or the user interrupted, before its turn."""


@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """Claims of the engine, in the minimised sense; nothing is verified.

    Parameters
    ----------
    x, row_dual : (count, n) and (count, m) arrays
        Points within their bounds and row duals, zero where an LP was not reached;
        ``row_dual`` is the candidate ray of an LP that ended with one.
    ending, iterations : (count,) arrays
        An :class:`Ending` and the iterations made.
    device : str
        Where it ran.
    """

    x: FloatArray
    row_dual: FloatArray
    ending: IntArray
    iterations: IntArray
    device: str
