"""The data of a batch: one sparsity pattern, and one or as many rows of each array as LPs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from solvers.core.problem import FloatArray

StatusArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class BatchData:
    """LPs ``min c'x, row_lower <= A x <= row_upper, lower <= x <= upper``.

    Every array but ``pattern`` has as many rows as there are LPs, or one row for all of them;
    all are contiguous. Infinite sides and bounds are infinities, and none are crossed.

    Parameters
    ----------
    count : int
        LPs.
    pattern : (m, n) CSR
        Where coefficients may stand, with 32-bit indices; its values are not read.
    values : (count or 1, nnz) array
        Coefficients in the order of ``pattern``; zeros are fine.
    cost, lower, upper : (count or 1, n) arrays
    row_lower, row_upper : (count or 1, m) arrays
    basis : (count or 1, n + m) array, optional
        Statuses to start from, numbered as in ``solvers.core.outcome.BasisStatus``, of columns and
        then of rows; a basis that is singular, or not of m variables, is repaired by slacks.
        None is the slack basis.
    offset : (count or 1, 1) array, optional
        Constants of the objectives; zero.
    """

    count: int
    pattern: sp.csr_array
    values: FloatArray
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    row_lower: FloatArray
    row_upper: FloatArray
    basis: StatusArray | None = None
    offset: FloatArray = field(default_factory=lambda: np.zeros((1, 1)), kw_only=True)
