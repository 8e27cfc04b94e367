"""How a sub-MIP ended, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray


class SubMipStatus(Enum):
    """How the search of a box ended."""

    OPTIMAL = "the best point of the box was found"
    INFEASIBLE = "the box holds no point that is good enough"
    LIMIT = "a limit was reached"
    FAILED = "HiGHS gave no usable answer"

    @property
    def is_proven(self) -> bool:
        """Whether the box needs no more searching."""
        return self in (SubMipStatus.OPTIMAL, SubMipStatus.INFEASIBLE)


@dataclass(frozen=True, eq=False)
class SubMipResult:
    """What came of a sub-MIP.

    Parameters
    ----------
    status : SubMipStatus
    improved : bool
        Whether any point that was submitted was the best of all at that time.
    x : (n,) float64, optional
        Best point by the sub-MIP's own objective, of the whole model; with elastic rows it may
        violate these. None without one below the cutoff.
    objective : float
        The model's objective there, offset included; inf without a point.
    violation : float
        Weighted violation of elastic rows at ``x``; 0 where there are none.
    seconds : float
        What it took, building included.
    nodes, work : int, float
        Branch-and-bound nodes, and work as :class:`~solvers.mip.portfolio.budget.Budget` counts it.
    columns : int
        Columns that were free.
    """

    status: SubMipStatus
    improved: bool = False
    x: FloatArray | None = None
    objective: float = np.inf
    violation: float = 0.0
    seconds: float = 0.0
    nodes: int = 0
    work: float = 0.0
    columns: int = 0
