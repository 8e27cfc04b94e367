"""Random models with a known feasible point, and the plainest possible propagation."""

from __future__ import annotations

import math

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.model import MipModel

INF = np.inf


def model_of(cost, matrix, row_lower, row_upper, **more) -> MipModel:
    return MipModel.of(Problem.from_arrays(cost, matrix, row_lower, row_upper, **more))


def random_model(seed: int, *, continuous: float = 0.0, infinite: float = 0.0):
    """Return a model and a feasible point; some rows are equations, some one-sided."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 9)), int(rng.integers(1, 11))
    whole = rng.random(n) >= continuous
    lower = rng.integers(-4, 2, n).astype(float)
    upper = lower + rng.integers(0, 6, n)
    x = lower + (upper - lower) * rng.random(n)
    x = np.where(whole, np.round(x), x)
    matrix = rng.integers(-5, 6, (m, n)) * (rng.random((m, n)) < 0.5)
    if continuous:
        matrix = matrix * np.where(rng.random((m, n)) < 0.2, 1e3 * rng.random((m, n)), 1.0)
    activity = matrix @ x
    row_lower = activity - rng.integers(0, 3, m) * (rng.random(m) < 0.7)
    row_upper = activity + rng.integers(0, 3, m) * (rng.random(m) < 0.7)
    row_lower[rng.random(m) < 0.3] = -INF
    row_upper[rng.random(m) < 0.3] = INF
    lower[rng.random(n) < infinite] = -INF
    upper[rng.random(n) < infinite] = INF
    return (
        model_of(
            rng.integers(-3, 4, n),
            matrix,
            row_lower,
            row_upper,
            lower=lower,
            upper=upper,
            integrality=whole,
        ),
        x,
    )


def naive_fixed_point(model: MipModel, lower: np.ndarray, upper: np.ndarray):
    """Tighten integer bounds by every row until nothing changes; None if a row is contradicted."""
    lower, upper = lower.copy(), upper.copy()
    A = model.problem.matrix.toarray()
    changed = True
    while changed:
        changed = False
        for i in range(model.num_rows):
            for sign, side in ((1.0, model.row_upper[i]), (-1.0, -model.row_lower[i])):
                if not np.isfinite(side):
                    continue
                a = sign * A[i]
                smallest = float(np.minimum(a * lower, a * upper).sum())
                if smallest > side + 1e-6:
                    return None
                for j in np.flatnonzero(a):
                    own = min(a[j] * lower[j], a[j] * upper[j])
                    bound = (side - (smallest - own)) / a[j]
                    if a[j] > 0 and math.floor(bound + 1e-6) < upper[j]:
                        upper[j] = math.floor(bound + 1e-6)
                    elif a[j] < 0 and math.ceil(bound - 1e-6) > lower[j]:
                        lower[j] = math.ceil(bound - 1e-6)
                    else:
                        continue
                    if lower[j] > upper[j]:
                        return None
                    changed = True
                    smallest = float(np.minimum(a * lower, a * upper).sum())
    return lower, upper
