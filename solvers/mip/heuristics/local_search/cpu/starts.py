"""Where walks begin: clamped zeros, bounds by the objective, random points, perturbed ones."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.cpu.settings import Origin
from solvers.mip.model import MipModel

RANDOM_RANGE = 100.0
"""Random values of a column stay within this distance of its bound (or zero) at which it would
start otherwise: domains are often far wider than what is sensible in them."""


def starting_point(
    model: MipModel, origin: Origin, x: FloatArray | None, rng: np.random.Generator
) -> FloatArray:
    """Return a point (n,) within bounds, integer columns whole.

    Where ``x`` is given, only its values that are not finite come from ``origin``.
    """
    if x is not None and np.isfinite(x).all():
        return model.rounded(x)
    zero = np.clip(np.zeros(model.num_columns), model.lower, model.upper)
    point = zero
    if origin == "objective":
        wanted = np.where(model.cost > 0.0, model.lower, model.upper)
        point = np.where((model.cost != 0.0) & np.isfinite(wanted), wanted, zero)
    elif origin == "random":
        point = _drawn(model, zero, rng)
    if x is not None:
        point = np.where(np.isfinite(x), x, point)
    return model.rounded(point)


def perturbed(
    model: MipModel, point: FloatArray, part: float, rng: np.random.Generator
) -> FloatArray:
    """Return the point with about ``part`` of its integer columns drawn anew, one at least."""
    columns = model.integers if model.integers.size else np.arange(model.num_columns)
    if columns.size == 0:
        return point
    chosen = columns[rng.random(columns.size) < part]
    if chosen.size == 0:
        chosen = columns[rng.integers(columns.size, size=1)]
    changed = point.copy()
    changed[chosen] = _drawn(model, point, rng)[chosen]
    return model.rounded(changed)


def _drawn(model: MipModel, infeasible_points: FloatArray, rng: np.random.Generator) -> FloatArray:
    low = np.maximum(model.lower, infeasible_points - RANDOM_RANGE)
    high = np.minimum(model.upper, infeasible_points + RANDOM_RANGE)
    point: FloatArray = low + rng.random(model.num_columns) * (high - low)
    return point
