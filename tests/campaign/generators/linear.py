"""Linear programs of every structure that presolve and simplex treat apart."""

from __future__ import annotations

import numpy as np

from solvers.core.problem import Problem
from tests.campaign.generators.shared import (
    INF,
    Random,
    box_with,
    decimals,
    sides_around,
    size,
    sparse,
)
from tests.properties.ugly import ugly_problem


def lp_sparse(rng: Random) -> Problem:
    """Rows, ranges and bounds of every sort around a point; costs that may have no limit."""
    m, n = size(rng), size(rng)
    A = sparse(rng, m, n)
    x = rng.integers(-3, 8, n).astype(float)
    low, high = sides_around(rng, A @ x)
    lower, upper = box_with(rng, x)
    cost = rng.integers(-5, 9, n).astype(float)
    return Problem.from_arrays(
        cost,
        A,
        low,
        high,
        lower=lower,
        upper=upper,
        offset=float(rng.integers(-9, 10)),
        maximize=bool(rng.random() < 0.3),
    )


def lp_decimal(rng: Random) -> Problem:
    """Decimal data, bounded, with costs that duals pay for."""
    m, n = size(rng), size(rng)
    A = decimals(rng, (m, n), int(rng.integers(0, 4)))
    x = decimals(rng, n).clip(0)
    low, high = sides_around(rng, A @ x)
    y = rng.uniform(0, 2, m).round(2) * np.where(np.isfinite(low), 1.0, -1.0)
    y[~np.isfinite(low) & ~np.isfinite(high)] = 0.0
    return Problem.from_arrays(A.T @ y + rng.uniform(0, 1, n).round(1), A, low, high)


def lp_degenerate(rng: Random) -> Problem:
    """Many rows through one vertex."""
    n = size(rng, 8)
    m = n + size(rng, 6)
    A = sparse(rng, m, n, 0, 3)
    x = rng.integers(0, 2, n).astype(float)
    return Problem.from_arrays(-rng.integers(0, 4, n), A, row_upper=A @ x, upper=3.0)


def lp_equations(rng: Random) -> Problem:
    """Equations only, some of them sums of others."""
    n = size(rng)
    m = int(rng.integers(1, n + 1))
    A = sparse(rng, m, n)
    if m > 1 and rng.random() < 0.4:
        A[-1] = A[:-1].sum(axis=0)
    side = A @ rng.integers(0, 5, n)
    if rng.random() < 0.15:
        side[-1] += 1.0
    return Problem.from_arrays(rng.integers(-2, 9, n), A, side, side, upper=20.0)


def lp_network(rng: Random) -> Problem:
    """A flow of least cost through a random network, sometimes more than its arcs can take."""
    nodes = int(rng.integers(2, 6))
    arcs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j and rng.random() < 0.6]
    arcs.append((0, nodes - 1))
    A = np.zeros((nodes, len(arcs)))
    for k, (i, j) in enumerate(arcs):
        A[i, k], A[j, k] = 1.0, -1.0
    supply = np.zeros(nodes)
    supply[0] = float(rng.integers(0, 30))
    supply[-1] -= supply[0]
    capacity = rng.integers(0, 20, len(arcs)).astype(float)
    return Problem.from_arrays(rng.integers(-1, 9, len(arcs)), A, supply, supply, upper=capacity)


def lp_infeasible(rng: Random) -> Problem:
    """A sum of rows that contradicts itself, by a little or by far."""
    m, n = size(rng, 6), size(rng, 8)
    A = sparse(rng, m, n)
    side = A @ rng.integers(0, 4, n)
    y = rng.integers(1, 4, m).astype(float)
    above = float(y @ side) + float(rng.choice([1.0, 0.01, 100.0]))
    return Problem.from_arrays(
        rng.integers(-4, 5, n),
        np.vstack([A, y @ A]),
        np.append(np.full(m, -INF), above),
        np.append(side, INF),
        lower=-INF if rng.random() < 0.3 else 0.0,
    )


def lp_unbounded(rng: Random) -> Problem:
    """A direction that every row allows and that the costs like."""
    m, n = size(rng, 6), size(rng, 8)
    A = sparse(rng, m, n)
    d = rng.integers(0, 3, n).astype(float)
    d[rng.integers(n)] = 1.0
    cost = rng.integers(-5, 6, n).astype(float)
    cost[np.flatnonzero(d)[0]] -= (cost @ d + rng.integers(1, 4)) / d[np.flatnonzero(d)[0]]
    x = rng.integers(0, 4, n)
    up = A @ d >= 0
    low, high = np.where(up, A @ x - 1.0, -INF), np.where(up, INF, A @ x + 1.0)
    return Problem.from_arrays(cost, A, low, high)


def lp_neither(rng: Random) -> Problem:
    """Infeasible, with a direction that would be unbounded; or with its dual infeasible too."""
    base = lp_unbounded(rng)
    m, n = base.num_rows, base.num_columns
    A = np.vstack([base.matrix.toarray(), np.zeros((2, n))])
    A[m:, rng.integers(n)] = 1.0
    low, high = np.append(base.row_lower, [3.0, -INF]), np.append(base.row_upper, [INF, 2.0])
    return Problem.from_arrays(base.cost, A, low, high)


def lp_empty_parts(rng: Random) -> Problem:
    """Empty rows and columns, free rows, rows of one column, twins and multiples."""
    base = lp_sparse(rng)
    A, low, high = base.matrix.toarray(), base.row_lower.copy(), base.row_upper.copy()
    A[:, rng.random(base.num_columns) < 0.3] = 0.0
    for i in range(base.num_rows):
        kind = int(rng.integers(6))
        if kind == 0:
            A[i] = 0.0
            low[i], high[i] = min(low[i], float(rng.choice([0.0, -1.0]))), max(high[i], 0.0)
        elif kind == 1:
            A[i, np.arange(base.num_columns) != rng.integers(base.num_columns)] = 0.0
        elif kind == 2:
            low[i], high[i] = -INF, INF
        elif kind == 3 and i:
            A[i], low[i], high[i] = 2.0 * A[i - 1], 2.0 * low[i - 1], 2.0 * high[i - 1]
    return Problem.from_arrays(
        base.cost, A, low, high, lower=base.lower, upper=base.upper, offset=base.offset
    )


def lp_nearly_parallel(rng: Random) -> Problem:
    """Pairs of rows that differ in the last digits."""
    m, n = size(rng, 4), int(rng.integers(2, 7))
    A = sparse(rng, m, n, 1, 9)
    near = A + rng.choice([1e-3, 1e-5, 1e-7, 1e-9, -1e-6], (m, n)) * (rng.random((m, n)) < 0.4)
    side = (A @ rng.integers(0, 5, n)).astype(float)
    other = side + rng.choice([0.0, 0.0, 1.0, 1e-3], m)
    return Problem.from_arrays(
        -rng.integers(0, 6, n), np.vstack([A, near]), row_upper=np.append(side, other), upper=50.0
    )


def lp_ugly(rng: Random) -> Problem:
    """Data as ugly as users have them."""
    while True:
        problem = ugly_problem(int(rng.integers(2**31)), most=int(rng.integers(2, 8)))
        if problem is not None:
            return problem


def lp_wide(rng: Random) -> Problem:
    """Some tens of rows and columns."""
    m, n = int(rng.integers(15, 30)), int(rng.integers(20, 45))
    A = sparse(rng, m, n) * (rng.random((m, n)) < 0.25)
    x = rng.integers(0, 5, n).astype(float)
    low, high = sides_around(rng, A @ x)
    return Problem.from_arrays(rng.integers(-3, 9, n), A, low, high, upper=20.0)


LINEAR = (
    lp_sparse,
    lp_decimal,
    lp_degenerate,
    lp_equations,
    lp_network,
    lp_infeasible,
    lp_unbounded,
    lp_neither,
    lp_empty_parts,
    lp_nearly_parallel,
    lp_ugly,
    lp_wide,
)
