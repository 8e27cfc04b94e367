"""Proofs of infeasibility and unboundedness."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.highs.measure import dual_objective
from solvers.highs.task import FloatArray, Model

RAY_SLOPE = 1e-7
"""A ray within [-1, 1] must improve the objective, scaled to size one, by more than this."""


def farkas_orientation(model: Model, ray: FloatArray) -> FloatArray | None:
    """Return the multipliers or their negative, whichever separates; None if neither does."""
    for y in (ray, -ray):
        demand = dual_objective(model.row_lower, model.row_upper, y)
        reach = -dual_objective(model.lower, model.upper, model.reduced_cost(y) - model.cost)
        if demand > reach:
            return y
    return None


def recession_cone(model: Model) -> Model:
    """Return the model whose points are directions that keep every bound for ever.

    They are cut by the box [-1, 1], so it always has an optimum, which is negative exactly when
    the objective improves along one of them.
    """
    size = float(np.max(np.abs(model.cost), initial=0.0)) or 1.0
    return replace(
        model,
        cost=model.cost / size,
        offset=0.0,
        lower=np.where(np.isneginf(model.lower), -1.0, 0.0),
        upper=np.where(np.isposinf(model.upper), 1.0, 0.0),
        row_lower=np.where(np.isneginf(model.row_lower), -np.inf, 0.0),
        row_upper=np.where(np.isposinf(model.row_upper), np.inf, 0.0),
    )
