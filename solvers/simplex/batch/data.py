"""The data of a batch: one sparsity pattern, and one or as many rows of each array as LPs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.simplex.batch.transfer.data import LpArrays

StatusArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class BatchData(LpArrays):
    """LPs, and a basis to start from.

    Parameters
    ----------
    basis : (count or 1, n + m) array, optional
        Statuses to start from, numbered as in ``solvers.core.outcome.BasisStatus``, of columns and
        then of rows; a basis that is singular, or not of m variables, is repaired by slacks.
        None is the slack basis.
    """

    basis: StatusArray | None = None
