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
    """Return the guide of a model; without a reference point, zero stands for it."""
    point = np.zeros(model.num_columns) if reference is None else np.array(reference, np.float64)
    return Guide(np.array(model.cost), *model.locks, point)
