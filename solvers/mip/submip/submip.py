"""What to search: a box within the model's, with whatever is added to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray


@dataclass(frozen=True, eq=False)
class ExtraRow:
    """A row ``lower <= values @ x[columns] <= upper``; columns are distinct, (k,) int32."""

    columns: IndexArray
    values: FloatArray
    lower: float
    upper: float


def _no_rows() -> IndexArray:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class SubMip:
    """A part of a model of m rows and n columns.

    Parameters
    ----------
    lower, upper : (n,) float64
        Bounds within the model's; columns where they are equal are fixed.
    extra : tuple of ExtraRow
        Rows beside the model's.
    cost : (n,) float64, optional
        Another objective than the model's, without constant.
    cutoff : float
        Points whose *model* objective, offset included, is above this are of no use.
    elastic : (k,) int32
        Rows that may be violated. Then the objective is the sum of their violations, each divided
        by the row's largest coefficient, in place of ``cost``.
    """

    lower: FloatArray
    upper: FloatArray
    extra: tuple[ExtraRow, ...] = ()
    cost: FloatArray | None = None
    cutoff: float = np.inf
    elastic: IndexArray = field(default_factory=_no_rows)

    @property
    def has_own_objective(self) -> bool:
        """Whether something else than the model's objective is minimised."""
        return self.cost is not None or self.elastic.size > 0


# How a sub-MIP ended, and what it found.


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
