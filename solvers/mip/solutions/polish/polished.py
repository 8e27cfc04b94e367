"""What came of polishing a point."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray


class PolishStatus(Enum):
    """What is known about the integers of a point that was polished."""

    OPTIMAL = "the continuous columns are optimal for these integers"
    FEASIBLE = "the point is feasible; its continuous columns may not be the best"
    INFEASIBLE = "no values of the continuous columns fit these integers"
    LIMIT = "time was up before anything was known"
    FAILED = "what the LP returned misses the tolerances"

    @property
    def has_point(self) -> bool:
        """Whether a feasible point comes with this status."""
        return self in (PolishStatus.OPTIMAL, PolishStatus.FEASIBLE)


def _no_rows() -> IndexArray:
    return np.empty(0, dtype=np.int32)


def _no_entries() -> FloatArray:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Polished:
    """A polished point.

    Parameters
    ----------
    status : PolishStatus
    x : (n,) float64, optional
        A point that passes :func:`~solvers.mip.model.is_feasible`, integers exactly whole.
    objective : float
        c'x + offset there; inf without a point.
    conflict : (k,) int32
        Where infeasible: rows that cannot hold together for these integers (those of a Farkas
        ray), or that cannot hold each by itself. Local search may raise their weights.
    iterations : int
        Simplex iterations taken.
    ray : (k,) float64
        Entries of the Farkas ray in the rows of ``conflict``, of either sign as a whole; empty
        where there is none.
    """

    status: PolishStatus
    x: FloatArray | None = None
    objective: float = np.inf
    conflict: IndexArray = field(default_factory=_no_rows)
    iterations: int = 0
    ray: FloatArray = field(default_factory=_no_entries)
