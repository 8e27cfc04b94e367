"""Values that columns are to have before a search knows better."""

from __future__ import annotations

import numpy as np

from solvers.mip.dives.orders import count_locks
from solvers.mip.model import MipModel
from solvers.problem import BoolArray, FloatArray


def plain_wishes(model: MipModel) -> tuple[FloatArray, ...]:
    """Return points (n,) at ends of the bounds: where many a model has something feasible.

    The ends that the objective wants; all upper; all lower; and those with fewer rows in the way.
    An infinite end gives way to the other one, or to zero.
    """
    up_locks, down_locks = count_locks(model)
    everywhere = np.ones(model.num_columns, dtype=bool)
    return (
        _ends(model, model.cost < 0.0),
        _ends(model, everywhere),
        _ends(model, ~everywhere),
        _ends(model, up_locks < down_locks),
    )


def _ends(model: MipModel, at_upper: BoolArray) -> FloatArray:
    end = np.where(at_upper, model.upper, model.lower)
    other = np.where(at_upper, model.lower, model.upper)
    end = np.where(np.isfinite(end), end, other)
    return np.where(np.isfinite(end), end, 0.0)
