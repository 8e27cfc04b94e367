"""A model without the columns that others define, and the ways between it and the whole one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray
from solvers.mip.model import FEASIBILITY_TOLERANCE, IndexArray, MipModel
from solvers.mip.solutions.pool import Submit

InfeasibleTaker = Callable[[FloatArray, int], None]
"""Takes a point with whole integers and the number of rows that it violates."""


@dataclass(frozen=True, eq=False)
class Aggregated:
    """What is left of a model of n columns when d of them are defined by the other k.

    Parameters
    ----------
    model : MipModel
        Of the k columns that stay, with the bounds of the others as rows.
    kept, implied : (k,), (d,) int32
        Their numbers in the whole model.
    matrix : (d, k) csr
    constant : (d,) float64
        The implied columns are ``constant - matrix @ x``.
    whole : MipModel
        The whole model.
    """

    model: MipModel
    kept: IndexArray
    implied: IndexArray
    matrix: sp.csr_array
    constant: FloatArray
    whole: MipModel

    def to_whole(self, x: FloatArray) -> FloatArray:
        """Return the whole model's point (n,) for one of the model (k,)."""
        point = np.empty(self.whole.num_columns)
        point[self.kept] = x
        point[self.implied] = self.constant - self.matrix @ x
        return point

    def from_whole(self, x: FloatArray) -> FloatArray:
        """Return the model's point (k,) for one of the whole model (n,)."""
        part: FloatArray = x[self.kept]
        return part

    def submit_to(self, submit: Submit) -> Submit:
        """Return a submit for points of the model, which hands whole points on."""

        def full_submit(x: FloatArray, source: str) -> bool:
            return submit(self.to_whole(x), source)

        return full_submit

    def infeasible_to(self, infeasible_points: InfeasibleTaker) -> InfeasibleTaker:
        """Return what takes infeasible points of the model and hands whole points on.

        A defined column out of its bounds is put on the nearest one, and the rows that are
        violated then are counted anew.
        """

        def full_infeasible(x: FloatArray, violated_rows: int) -> None:
            point = self.whole.rounded(self.to_whole(x))
            activity = self.whole.activity(point)
            outside = np.maximum(self.whole.row_lower - activity, activity - self.whole.row_upper)
            infeasible_points(point, int(np.count_nonzero(outside > FEASIBILITY_TOLERANCE)))

        return full_infeasible
