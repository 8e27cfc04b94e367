"""What comes out of a batch."""

from __future__ import annotations

from enum import IntEnum

from solvers.kernels.batch import answer
from solvers.pdlp.batch.kernels import solve

BatchAnswer = answer.LpAnswers
"""Claims of the engine; ``row_dual`` is the candidate ray of an LP that ended with one."""


class Ending(IntEnum):
    """How an LP ended, as the kernel says it."""

    LIMIT = solve.LIMIT
    CONVERGED = solve.CONVERGED
    DUAL_RAY = solve.DUAL_RAY
    PRIMAL_RAY = solve.PRIMAL_RAY
    TROUBLE = solve.TROUBLE
    VERTEX = solve.VERTEX
    NOT_REACHED = answer.NOT_REACHED
