"""Models with values that nobody should write, and that somebody does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from tests.campaign.generators.linear import lp_equations, lp_sparse
from tests.campaign.generators.mixed import mip_general, mip_mixed, mip_sets
from tests.campaign.generators.shared import INF, Random

DECENT = (lp_sparse, lp_equations, mip_general, mip_mixed, mip_sets)


def _decent(rng: Random) -> Problem:
    return DECENT[int(rng.integers(len(DECENT)))](rng)


def hostile_duplicates(rng: Random) -> Problem:
    """Entries given in two parts, explicit zeros, and negative zeros everywhere."""
    base = _decent(rng)
    A = base.matrix.tocoo()
    parts = (np.concatenate([A.data * 0.5, A.data * 0.5, [0.0, -0.0]]),)
    rows = np.concatenate([A.row, A.row, [0, 0]])
    columns = np.concatenate([A.col, A.col, [0, base.num_columns - 1]])
    halves = sp.coo_array((*parts, (rows, columns)), shape=A.shape)
    return replace(
        base,
        matrix=halves,
        cost=np.where(base.cost == 0, -0.0, base.cost),
        lower=np.where(base.lower == 0, -0.0, base.lower),
        upper=np.where(base.upper == 0, -0.0, base.upper),
        offset=-0.0 if rng.random() < 0.5 else base.offset,
    )


def hostile_infinities(rng: Random) -> Problem:
    """Infinity written as 1e20 to 1e30, and bounds just below."""
    base = _decent(rng)
    big = float(rng.choice([1e20, 1e25, 1e30, 1e308]))
    near = float(rng.choice([big, big, 9.9e19, 1e19, 1e18]))
    whole = base.integrality
    return replace(
        base,
        row_lower=np.where(np.isinf(base.row_lower), -big, base.row_lower),
        row_upper=np.where(np.isinf(base.row_upper), near, base.row_upper),
        upper=np.where(np.isinf(base.upper), np.where(whole, big, near), base.upper),
        lower=np.where(np.isinf(base.lower), -big, base.lower),
    )


def hostile_crossings(rng: Random) -> Problem:
    """Bounds and sides that cross by 1e-9, or lie as close."""
    base = _decent(rng)
    by = float(rng.choice([1e-9, 5e-9, -1e-9, -1e-7, -1e-6]))
    lower, upper = base.lower.copy(), base.upper.copy()
    row_lower, row_upper = base.row_lower.copy(), base.row_upper.copy()
    j = int(rng.integers(base.num_columns))
    if np.isfinite(lower[j]) and not base.integrality[j]:
        upper[j] = lower[j] - by
    i = int(rng.integers(base.num_rows))
    if np.isfinite(row_upper[i]):
        row_lower[i] = row_upper[i] + by
    return replace(base, lower=lower, upper=upper, row_lower=row_lower, row_upper=row_upper)


def hostile_fractional_bounds(rng: Random) -> Problem:
    """Whole-number columns within fractional bounds, some with nothing between."""
    base = mip_general(rng)
    n = base.num_columns
    shift = rng.choice([0.0, 0.5, 0.25, 1e-3, 0.999], n)
    upper = base.upper + shift
    lower = base.lower - rng.choice([0.0, 0.5, 0.75, 1e-3], n)
    if rng.random() < 0.1:
        lower[0], upper[0] = base.lower[0] + 0.2, base.lower[0] + 0.8
    return replace(base, lower=lower, upper=upper)


def hostile_offset(rng: Random) -> Problem:
    """A constant in the objective that hides what the columns add."""
    base = _decent(rng)
    return replace(base, offset=float(rng.choice([1e6, -1e9, 1e12, 123456789.123])))


def hostile_no_objective(rng: Random) -> Problem:
    """Nothing to minimise."""
    base = _decent(rng)
    return replace(base, cost=np.zeros(base.num_columns))


def hostile_small_pieces(rng: Random) -> Problem:
    """No rows, one column, or all columns fixed."""
    kind = int(rng.integers(3))
    n = int(rng.integers(1, 5))
    cost = rng.integers(-3, 4, n).astype(float)
    integrality = rng.random(n) < 0.5
    if kind == 0:
        lower = np.where(rng.random(n) < 0.2, -INF, -2.5)
        upper = np.where(rng.random(n) < 0.2, INF, 3.5)
        return Problem.from_arrays(cost, lower=lower, upper=upper, integrality=integrality)
    x = rng.integers(-2, 3, n).astype(float)
    A = rng.integers(-3, 4, (2, n)).astype(float)
    miss = float(rng.choice([0.0, 0.0, 1.0]))
    if kind == 1:
        low = A @ x + miss
        return Problem.from_arrays(
            cost, A, low, A @ x + 1.0, lower=x, upper=x, integrality=integrality
        )
    A, side = A[:, :1], A[:, 0] * x[0] + np.array([0.0, miss])
    return Problem.from_arrays(cost[:1], A, side - 1.0, side, lower=-5, integrality=integrality[:1])


HOSTILE = (
    hostile_duplicates,
    hostile_infinities,
    hostile_crossings,
    hostile_fractional_bounds,
    hostile_offset,
    hostile_no_objective,
    hostile_small_pieces,
)
