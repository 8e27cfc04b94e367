"""Small models of integers with all their points, for comparison with what a search concludes."""

from __future__ import annotations

import itertools

import numpy as np

from solvers.mip.model import MipModel
from tests.mip.inference.domain.models import INF, model_of


def small_model(seed: int, kind: str) -> MipModel:
    """Return a model with up to a few thousand points; it may have no feasible one.

    ``kind``: 'binary', 'general', 'decimal' (rows of decimal fractions) or 'real' (costs that have
    no common step).
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    n = int(rng.integers(3, 10)) if kind == "binary" else int(rng.integers(2, 6))
    lower = np.zeros(n) if kind == "binary" else rng.integers(-2, 2, n).astype(float)
    upper = np.ones(n) if kind == "binary" else lower + rng.integers(1, 5, n)
    matrix = rng.integers(-5, 6, (m, n)) * (rng.random((m, n)) < 0.7)
    middle = matrix @ np.round(lower + (upper - lower) * rng.random(n))
    row_lower = np.where(rng.random(m) < 0.4, -INF, middle - rng.integers(0, 4, m))
    row_upper = np.where(rng.random(m) < 0.4, INF, middle + rng.integers(-1, 4, m))
    row_lower = np.minimum(row_lower, row_upper)
    cost = rng.integers(-9, 10, n).astype(float)
    if kind == "decimal":
        matrix, row_lower, row_upper = matrix / 10.0, row_lower / 10.0, row_upper / 10.0
        cost = cost * 0.25
    if kind == "real":
        cost = cost + rng.random(n)
    return model_of(
        cost,
        matrix,
        row_lower,
        row_upper,
        lower=lower,
        upper=upper,
        integrality=True,
        offset=float(rng.integers(-5, 6)),
    )


def feasible_points(model: MipModel) -> np.ndarray:
    """Return every feasible point, (k, n)."""
    ranges = [
        np.arange(low, high + 1.0) for low, high in zip(model.lower, model.upper, strict=True)
    ]
    points = np.array(list(itertools.product(*ranges)))
    activity = points @ model.problem.matrix.toarray().T
    keeps = (activity >= model.row_lower - 1e-6) & (activity <= model.row_upper + 1e-6)
    return points[keeps.all(axis=1)]
