"""The data of a batch: one sparsity pattern, and one or as many rows of each array as LPs."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.kernels.batch.data import LpArrays
from solvers.problem import FloatArray


@dataclass(frozen=True, eq=False)
class BatchData(LpArrays):
    """LPs, and points to start from.

    Parameters
    ----------
    x0 : (count or 1, n) array
        Points to start from.
    y0 : (count or 1, m) array
        Row duals to start from.
    """

    x0: FloatArray
    y0: FloatArray
