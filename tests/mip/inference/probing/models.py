"""Small models whose feasible points can be counted."""

from __future__ import annotations

import itertools

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.model import MipModel

INF = np.inf


def model_of(matrix, row_lower=-INF, row_upper=INF, **more) -> MipModel:
    matrix = np.atleast_2d(np.asarray(matrix, dtype=float))
    more = {"lower": 0.0, "upper": 1.0, "integrality": True, **more}
    return MipModel.of(
        Problem.from_arrays(np.zeros(matrix.shape[1]), matrix, row_lower, row_upper, **more)
    )


def random_model(seed: int) -> MipModel:
    """Return a pure integer model with at most 6 columns in small boxes, feasible or not."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 7)), int(rng.integers(2, 7))
    upper = np.where(rng.random(n) < 0.7, 1, rng.integers(1, 6, n)).astype(float)
    lower = np.where(rng.random(n) < 0.2, -1.0, 0.0)
    matrix = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.6)
    middle = matrix @ np.round(lower + (upper - lower) * rng.random(n))
    low = middle - rng.integers(0, 2, m) + (rng.random(m) < 0.1)
    high = np.maximum(low, middle + rng.integers(0, 2, m))
    low = np.where(rng.random(m) < 0.5, -INF, low)
    return model_of(matrix, low, high, lower=lower, upper=upper)


def feasible_points(model: MipModel) -> np.ndarray:
    """Return all points (p, n) of a pure integer model with finite bounds."""
    ranges = [np.arange(a, b + 1) for a, b in zip(model.lower, model.upper, strict=True)]
    points = np.array(list(itertools.product(*ranges)), dtype=float)
    activity = points @ model.problem.matrix.toarray().T
    inside = (activity >= model.row_lower - 1e-6) & (activity <= model.row_upper + 1e-6)
    return points[inside.all(axis=1)]
