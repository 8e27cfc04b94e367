"""Models of equations that have integer solutions."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.model import MipModel


def model_of(matrix, right, *, cost=0.0, lower=0.0, upper=np.inf, more=None, integrality=True):
    """Return min cost'x with A x = right, and rows (A, low, high) more."""
    A = np.atleast_2d(np.asarray(matrix, dtype=float))
    low = high = np.asarray(right, dtype=float)
    if more is not None:
        A = np.vstack([A, more[0]])
        low, high = np.concatenate([low, more[1]]), np.concatenate([high, more[2]])
    costs = np.broadcast_to(np.asarray(cost, dtype=float), (A.shape[1],))
    return MipModel.of(
        Problem.from_arrays(costs, A, low, high, lower=lower, upper=upper, integrality=integrality)
    )


def random_system(seed: int, rows: int, columns: int, largest: int = 9, mean: float = 3.0):
    """Return A (rows, columns) with whole numbers from 0, and b = A x for a hidden x."""
    rng = np.random.default_rng(seed)
    A = rng.integers(1, largest + 1, (rows, columns)) * (rng.random((rows, columns)) < 0.7)
    A[:, A.any(axis=0) == 0] = 1  # every column occurs
    hidden = rng.poisson(mean, columns)
    return A.astype(float), (A @ hidden).astype(float), hidden.astype(float)
