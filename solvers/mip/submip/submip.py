"""What to search: a box within the model's, with whatever is added to it."""

from __future__ import annotations

from dataclasses import dataclass, field

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
