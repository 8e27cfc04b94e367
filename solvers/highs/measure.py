"""Errors of a point on the model that was handed to HiGHS; NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.highs.task import FloatArray, Model
from solvers.vectors import inner


@dataclass(frozen=True, eq=False)
class Priced:
    """Row duals (m,) and what follows from them: reduced costs, the dual objective they prove.

    Parameters
    ----------
    reduced_cost : (n,) array
    wrong : float
        The largest part of a row dual or reduced cost that no finite side supports.
    row_wrong : bool
        Whether a row dual has such a part, so that the duals prove nothing.
    objective : float
        Dual objective without these parts and without the model's offset.
    """

    reduced_cost: FloatArray
    wrong: float
    row_wrong: bool
    objective: float


@dataclass(frozen=True, eq=False)
class Measured:
    """A primal-dual point's row activities (m,), its prices and its largest relative error."""

    activity: FloatArray
    prices: Priced
    error: float


def priced(model: Model, row_dual: FloatArray) -> Priced:
    """Return what row duals (m,) say of a model."""
    z = model.reduced_cost(row_dual)
    low, high = model.sides
    multiplier = np.concatenate((row_dual, z))
    wrong = unsupported(multiplier, low, high)
    if not wrong.any():
        return Priced(z, 0.0, False, dual_objective(low, high, multiplier))
    return Priced(
        z,
        float(np.abs(wrong).max()),
        bool(wrong[: model.num_rows].any()),
        dual_objective(low, high, multiplier - wrong),
    )


def measured(model: Model, x: FloatArray, row_dual: FloatArray) -> Measured:
    """Return the errors of a primal-dual point, and what they were computed from.

    Each violation is taken over max(1, |side| or |cost|), the duality gap over
    1 + |primal| + |dual|.
    """
    activity, prices = model.activity(x), priced(model, row_dual)
    primal, dual = inner(model.cost, x), prices.objective
    error = max(
        violation(np.concatenate((activity, x)), *model.sides),
        prices.wrong / (1.0 + float(np.max(np.abs(model.cost), initial=0.0))),
        abs(primal - dual) / (1.0 + abs(primal) + abs(dual)),
    )
    return Measured(activity, prices, error)


def lp_errors(model: Model, x: FloatArray, row_dual: FloatArray) -> float:
    """Return the largest relative error of a primal-dual point."""
    return measured(model, x, row_dual).error


def violation(values: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the largest violation of a side over max(1, |side|)."""
    below, above = low - values, values - high
    if (np.maximum(below, above) <= 0.0).all():  # false for NaN
        return 0.0
    below /= np.maximum(1.0, np.where(np.isfinite(low), np.abs(low), 1.0))
    above /= np.maximum(1.0, np.where(np.isfinite(high), np.abs(high), 1.0))
    return float(np.max(np.maximum(below, above), initial=0.0))


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
