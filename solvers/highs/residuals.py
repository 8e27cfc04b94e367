"""Errors of a point on the model that was handed to HiGHS; NumPy only."""

from __future__ import annotations

import numpy as np

from solvers.core.vectors import inner
from solvers.highs.task import FloatArray, Model


def lp_errors(model: Model, x: FloatArray, row_dual: FloatArray) -> float:
    """Return the largest relative error of a primal-dual point.

    Each violation is taken over max(1, |side| or |cost|), the duality gap over
    1 + |primal| + |dual|.
    """
    activity = model.activity(x)
    z = model.reduced_cost(row_dual)
    wrong = dual_violation(row_dual, model.row_lower, model.row_upper)
    supported = z - unsupported(z, model.lower, model.upper)
    primal = inner(model.cost, x)
    y = row_dual - unsupported(row_dual, model.row_lower, model.row_upper)
    dual = dual_objective(model.row_lower, model.row_upper, y)
    dual += dual_objective(model.lower, model.upper, supported)
    return max(
        violation(activity, model.row_lower, model.row_upper),
        violation(x, model.lower, model.upper),
        wrong / (1.0 + float(np.max(np.abs(model.cost), initial=0.0))),
        dual_violation(z, model.lower, model.upper)
        / (1.0 + float(np.max(np.abs(model.cost), initial=0.0))),
        abs(primal - dual) / (1.0 + abs(primal) + abs(dual)),
    )


def violation(values: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the largest violation of a side over max(1, |side|)."""
    below = (low - values) / np.maximum(1.0, np.where(np.isfinite(low), np.abs(low), 1.0))
    above = (values - high) / np.maximum(1.0, np.where(np.isfinite(high), np.abs(high), 1.0))
    return float(np.max(np.maximum(below, above), initial=0.0))


def dual_violation(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the largest part of a multiplier that no finite side supports."""
    return float(np.max(np.abs(unsupported(multiplier, low, high)), initial=0.0))


def dual_objective(low: FloatArray, high: FloatArray, multiplier: FloatArray) -> float:
    """Return the sum of each multiplier times the side it leans on; -inf if one has none."""
    side = np.where(multiplier > 0, low, high)
    used = multiplier != 0
    return float(np.sum(multiplier[used] * side[used]))


def unsupported(multiplier: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the part of each multiplier that no finite side supports."""
    wrong: FloatArray = np.where(np.isfinite(low), 0.0, np.maximum(multiplier, 0.0))
    wrong += np.where(np.isfinite(high), 0.0, np.minimum(multiplier, 0.0))
    return wrong
