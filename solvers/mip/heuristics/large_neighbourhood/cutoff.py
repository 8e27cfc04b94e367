"""By how much a new point has to be better, for a sub-MIP not to waste its time on trifles."""

from __future__ import annotations

import numpy as np

from solvers.mip.model import MipModel

SMALLEST_GAIN = 1e-4
"""Relative, that of the gap at which a model counts as solved."""

SMALLEST_STEP = 1e-6
"""Absolute, for objectives near zero."""

STEP_MARGIN = 1e-6
"""Part of an objective's step by which the cutoff stays away from the next value."""

LARGEST_WHOLE = 2.0**40
"""Whole costs up to here are trusted to be whole."""


def objective_step(model: MipModel) -> float:
    """Return a number of which all objective values (less the offset) are multiples; 0 if unknown.

    That is the greatest common divisor where all costs are whole and on integer columns.
    """
    costly = np.flatnonzero(model.cost)
    cost = np.abs(model.cost[costly])
    whole = np.all(cost == np.round(cost)) and np.all(model.is_integer[costly] == 1)
    if not costly.size or not whole or cost.max() > LARGEST_WHOLE:
        return 0.0
    return float(np.gcd.reduce(cost.astype(np.int64)))


def cutoff_below(objective: float, step: float) -> float:
    """Return the objective that an improving point has to reach; inf where there is none yet.

    Parameters
    ----------
    objective : float
        Of the best point, offset included; inf without one.
    step : float
        See :func:`objective_step`.
    """
    if not np.isfinite(objective):
        return np.inf
    least = max(SMALLEST_GAIN * abs(objective), SMALLEST_STEP)
    return objective - max(least, step * (1.0 - STEP_MARGIN))
