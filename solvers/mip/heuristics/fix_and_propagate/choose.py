"""What the value that a column is fixed to is chosen by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray, MipModel


class Guide(NamedTuple):
    """What values are chosen by: costs, locks and a point, each (n,).

    A column's up-locks are the rows that its rising can break, its down-locks those that its
    falling can break.
    """

    cost: FloatArray
    up_locks: IndexArray
    down_locks: IndexArray
    reference: FloatArray


def guide_of(model: MipModel, reference: FloatArray | None) -> Guide:
    """Count the locks of a model; without a reference point, zero stands for it."""
    up, down = _locks(
        model.column_start,
        model.column_row,
        model.column_value,
        np.isfinite(model.row_lower),
        np.isfinite(model.row_upper),
    )
    point = np.zeros(model.num_columns) if reference is None else np.array(reference, np.float64)
    return Guide(np.array(model.cost), up, down, point)


def _locks(
    start: IndexArray,
    row: IndexArray,
    value: FloatArray,
    has_lower: np.ndarray,
    has_upper: np.ndarray,
) -> tuple[IndexArray, IndexArray]:
    column = np.repeat(np.arange(start.size - 1), np.diff(start))
    rises = value > 0.0
    blocks_up = np.where(rises, has_upper[row], has_lower[row])
    blocks_down = np.where(rises, has_lower[row], has_upper[row])
    n = start.size - 1
    up = np.bincount(column[blocks_up], minlength=n).astype(np.int32)
    down = np.bincount(column[blocks_down], minlength=n).astype(np.int32)
    return up, down
