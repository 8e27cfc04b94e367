"""Models with a known feasible point, and shapes that propagation might stumble over."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import FloatArray, Problem
from solvers.mip.model import MipModel

INF = np.inf


def model_of(
    matrix: object,
    row_lower: object,
    row_upper: object,
    lower: object,
    upper: object,
    whole: object = True,
    cost: object = 0.0,
) -> MipModel:
    """Return a model from anything that broadcasts."""
    by_row = sp.csr_array(matrix)
    m, n = by_row.shape
    return MipModel.of(
        Problem.from_arrays(
            np.broadcast_to(np.asarray(cost, float), n).copy(),
            by_row,
            np.broadcast_to(np.asarray(row_lower, float), m).copy(),
            np.broadcast_to(np.asarray(row_upper, float), m).copy(),
            lower=np.broadcast_to(np.asarray(lower, float), n).copy(),
            upper=np.broadcast_to(np.asarray(upper, float), n).copy(),
            integrality=np.broadcast_to(np.asarray(whole, bool), n).copy(),
        )
    )


def random_model(
    seed: int, m: int, n: int, *, mixed: bool = False, density: float = 0.3
) -> tuple[MipModel, FloatArray]:
    """Return a model with binary, integer and (mixed) continuous columns, and a feasible point.

    Coefficients are whole; a mixed model has infinite bounds and fractional ones, too.
    """
    random = np.random.default_rng(seed)
    entries = random.integers(-5, 6, (m, n)) * (random.random((m, n)) < density)
    lower = random.integers(-3, 1, n).astype(float)
    upper = lower + random.integers(0, 5, n)
    binary = random.random(n) < 0.5
    lower[binary], upper[binary] = 0.0, 1.0
    whole = np.ones(n, dtype=bool)
    x = random.integers(lower, upper + 1).astype(float)
    if mixed:
        whole = binary | (random.random(n) < 0.3)
        x[~whole] = random.uniform(lower[~whole], upper[~whole] + 1e-3)
        upper[~whole] += 1e-3
        lower[~binary & (random.random(n) < 0.3)] = -INF
        upper[~binary & (random.random(n) < 0.3)] = INF
    activity = entries @ x
    slack = random.integers(0, 3, (2, m))
    sides = np.array([activity - slack[0], activity + slack[1]])
    sides[0, random.random(m) < 0.5] = -INF
    sides[1, random.random(m) < 0.2] = INF
    return model_of(entries, sides[0], sides[1], lower, upper, whole, random.normal(size=n)), x


def _long_row() -> MipModel:
    n = 100_000
    ones = np.ones(n)
    ones[:3] = [3.0, 70_000.0, -2.0]
    return model_of(ones[None, :], 1.0, 60_000.0, 0.0, 1.0)


def _long_column() -> MipModel:
    m = 5_000
    matrix = sp.hstack([np.full((m, 1), 2.0), sp.eye_array(m), -sp.eye_array(m)])
    return model_of(matrix, -INF, 3.0, 0.0, np.r_[5.0, np.ones(2 * m)])


def _rows_of_all_lengths() -> MipModel:
    random = np.random.default_rng(3)
    lengths = [0, 1, 2, 4, 5, 31, 32, 33, 128, 129, 255, 256, 257, 513, 1024, 16_384, 16_385]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    n = starts[-1]
    values = random.integers(1, 4, n) * random.choice([-1.0, 1.0], n)
    matrix = sp.csr_array((values, random.permutation(n), starts), (len(lengths), n))
    lower = np.where(np.arange(n) % 3 == 0, -2.0, 0.0)
    upper = np.where(np.arange(n) % 3 == 0, 4.0, 1.0)
    most = matrix.maximum(0) @ upper + matrix.minimum(0) @ lower
    return model_of(matrix, most - 2.0, INF, lower, upper)


AWKWARD = {
    "no rows": lambda: model_of(np.zeros((0, 4)), 0.0, 0.0, 0.0, 3.0),
    "no columns": lambda: model_of(np.zeros((3, 0)), -1.0, 1.0, 0.0, 0.0),
    "empty rows": lambda: model_of(np.zeros((5, 3)), -1.0, 1.0, 0.0, 2.0),
    "empty row that cannot hold": lambda: model_of(np.zeros((2, 1)), [0, 1], INF, 0.0, 1.0),
    "one column": lambda: model_of([[2.0], [-3.0]], -INF, [7.0, 4.0], -9.0, 9.0),
    "free columns": lambda: model_of([[1.0, 1.0], [1.0, -1.0]], 2.0, 2.0, -INF, INF, False),
    "one infinite term": lambda: model_of(
        [[1.0, 2.0, -1.0]], -INF, 4.0, [-INF, 0.0, 0.0], [INF, 3.0, 5.0], False
    ),
    "two infinite terms": lambda: model_of([[1.0, -2.0]], 0.0, 4.0, 0.0, INF, False),
    "equality chain": lambda: model_of(
        sp.diags_array([1.0, -1.0], offsets=[0, 1], shape=(40, 41)),
        0.0,
        0.0,
        np.r_[3.0, np.zeros(40)],
        np.r_[np.full(40, 9.0), 5.0],
    ),
    "big-M": lambda: model_of(
        [[1.0, -1e6], [1.0, 0.0]], [-INF, 0.5], [0.0, INF], 0.0, [1e9, 1.0], [False, True]
    ),
    "tiny entry": lambda: model_of([[1e-10, 1.0]], -INF, 1.0, 0.0, 10.0, False),
    "crossing within tolerance": lambda: model_of(
        [[1.0], [1.0]], [2.0, -INF], [INF, 2.0 - 5e-7], 0.0, 9.0, False
    ),
    "row of 100,000": _long_row,
    "column of 5,000": _long_column,
    "rows of all lengths": _rows_of_all_lengths,
}
