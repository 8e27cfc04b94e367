"""Random and awkward models, each with a feasible point."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.model import MipModel

INF = np.inf


def model_of(cost, matrix, row_lower=-INF, row_upper=INF, **more) -> MipModel:
    return MipModel.of(
        Problem.from_arrays(cost, np.atleast_2d(matrix), row_lower, row_upper, **more)
    )


def random_model(seed: int, *, m=0, n=0, continuous=0.3, density=0.5, infinite=0.1):
    """Return a model and a feasible point: equations, one-sided rows, free columns, no cost."""
    rng = np.random.default_rng(seed)
    m = m or int(rng.integers(1, 6))
    n = n or int(rng.integers(2, 6))
    whole = rng.random(n) >= continuous
    lower = rng.integers(-2, 1, n).astype(float)
    upper = np.where(rng.random(n) < 0.5, lower + 1, lower + rng.integers(0, 5, n))
    x = lower + (upper - lower) * rng.random(n)
    x = np.where(whole, np.round(x), x)
    matrix = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < density)
    activity = matrix @ x
    row_lower = activity - rng.integers(0, 3, m) * (rng.random(m) < 0.7)
    row_upper = activity + rng.integers(0, 3, m) * (rng.random(m) < 0.7)
    row_lower[rng.random(m) < 0.4] = -INF
    row_upper[rng.random(m) < 0.4] = INF
    lower[rng.random(n) < infinite] = -INF
    upper[rng.random(n) < infinite] = INF
    cost = rng.integers(-4, 5, n)
    model = model_of(
        cost, matrix, row_lower, row_upper, lower=lower, upper=upper, integrality=whole
    )
    return model, x


def awkward_models():
    """Yield (name, model, feasible point) of shapes that trip loops."""
    rng = np.random.default_rng(0)
    yield "no rows", *_at_zero(model_of([1.0, -1.0], np.zeros((0, 2)), [], [], upper=3.0))
    yield "one column", *_at_zero(model_of([-1.0], [[2.0]], -INF, 7.0, integrality=True))
    yield (
        "empty rows",
        *_at_zero(
            model_of([-1.0] * 3, [[0, 0, 0], [1, 1, 0]], -INF, [0, 1], upper=1, integrality=True)
        ),
    )
    n = 100_000
    weights = rng.integers(1, 9, n).astype(float)
    yield (
        "long row",
        *_at_zero(
            model_of(
                -rng.integers(1, 50, n).astype(float), weights, 0, 5, upper=1, integrality=True
            )
        ),
    )
    block = np.kron(np.eye(33), np.ones((1, 31)))
    model = model_of(rng.integers(-9, 9, 33 * 31), block, 1, 1, upper=1, integrality=True)
    x = np.zeros(33 * 31)
    x[::31] = 1.0
    yield "partitions", model, x
    yield "unbounded", *_at_zero(model_of([-1.0, 1.0], [[1, -1]], -INF, INF, lower=-INF))
    yield "large", *random_model(3, m=300, n=500, density=0.03)


def _at_zero(model):
    return model, np.zeros(model.num_columns)
