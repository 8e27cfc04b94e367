"""Mixed-integer programs of the structures that people model."""

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
    whole,
)
from tests.properties.families import FAMILIES
from tests.properties.ugly import ugly_problem


def mip_sets(rng: Random) -> Problem:
    """Set cover, packing or partition."""
    m, n = int(rng.integers(2, 8)), int(rng.integers(3, 13))
    A = (rng.random((m, n)) < 0.4).astype(float)
    cost = rng.integers(1, 20, n)
    kind = int(rng.integers(3))
    low, high = [(1.0, INF), (-INF, 1.0), (1.0, 1.0)][kind]
    return whole(cost, A, low, high, maximize=kind == 1)


def mip_assignment(rng: Random) -> Problem:
    """An assignment, sometimes with a pair forbidden or a budget."""
    k = int(rng.integers(2, 4))
    each = np.vstack([np.kron(np.eye(k), np.ones(k)), np.kron(np.ones(k), np.eye(k))])
    cost = rng.integers(0, 30, k * k).astype(float)
    upper = (rng.random(k * k) < 0.85).astype(float)
    A = np.vstack([each, rng.integers(0, 9, k * k)])
    budget = float(rng.integers(2, 9) * k)
    low, high = np.append(np.ones(2 * k), -INF), np.append(np.ones(2 * k), budget)
    return whole(cost, A, low, high, upper=upper)


def mip_fixed_charge(rng: Random) -> Problem:
    """Demands met by what is opened, with a big-M from tight to 1e6."""
    plants = int(rng.integers(2, 6))
    demand = float(rng.integers(5, 40))
    big = rng.integers(5, 40, plants) * 10.0 ** int(rng.integers(0, 5))
    A = np.zeros((plants + 1, 2 * plants))
    A[0, :plants] = 1.0
    A[1:, :plants], A[1:, plants:] = np.eye(plants), -np.diag(big)
    opened = np.arange(2 * plants) >= plants
    cost = np.where(opened, rng.integers(1, 50, 2 * plants), rng.integers(0, 9, 2 * plants) / 4)
    return Problem.from_arrays(
        cost,
        A,
        np.append(demand, np.full(plants, -INF)),
        np.append(INF, np.zeros(plants)),
        upper=np.where(opened, 1.0, INF),
        integrality=opened,
    )


def mip_lot_sizing(rng: Random) -> Problem:
    """Make, stock and set up over some periods."""
    T = int(rng.integers(2, 5))
    demand = rng.integers(0, 20, T).astype(float)
    capacity = float(demand.sum() + rng.integers(-3, 5))
    A = np.zeros((2 * T, 3 * T))  # made, stock, set up
    for t in range(T):
        A[t, t], A[t, T + t] = 1.0, -1.0
        if t:
            A[t, T + t - 1] = 1.0
        A[T + t, t], A[T + t, 2 * T + t] = 1.0, -max(capacity, 1.0)
    setup = np.arange(3 * T) >= 2 * T
    cost = np.concatenate([rng.integers(0, 4, T), rng.integers(1, 4, T), rng.integers(5, 40, T)])
    return Problem.from_arrays(
        cost,
        A,
        np.append(demand, np.full(T, -INF)),
        np.append(demand, np.zeros(T)),
        upper=np.where(setup, 1.0, INF),
        integrality=setup,
    )


def mip_general(rng: Random) -> Problem:
    """General integers with negative bounds, and rows of every sort around a point."""
    m, n = size(rng, 5), int(rng.integers(1, 7))
    A = sparse(rng, m, n)
    x = rng.integers(-4, 6, n).astype(float)
    low, high = sides_around(rng, A @ x)
    if rng.random() < 0.2:
        high = np.where(np.isfinite(high), high + 0.5, high)
    return whole(
        rng.integers(-6, 7, n),
        A,
        low,
        high,
        lower=x - rng.integers(0, 5, n),
        upper=x + rng.integers(0, 5, n),
        maximize=bool(rng.random() < 0.5),
    )


def mip_equality(rng: Random) -> Problem:
    """Equality knapsacks, some of which no whole numbers meet."""
    n = int(rng.integers(2, 8))
    weight = rng.integers(2, 40, n) * float(rng.choice([1, 2, 3]))
    upper = rng.integers(1, 5, n).astype(float)
    side = float(weight @ rng.integers(0, upper + 1)) + float(rng.choice([0, 0, 0, 1, 2]))
    return whole(rng.integers(-5, 15, n), weight, side, side, upper=upper)


def mip_market_split(rng: Random) -> Problem:
    """Some equations over binaries, half of the sum of each."""
    n, m = int(rng.integers(8, 14)), int(rng.integers(2, 4))
    A = rng.integers(0, 60, (m, n)).astype(float)
    side = np.floor(A.sum(axis=1) / 2)
    if rng.random() < 0.4:
        side = A @ rng.integers(0, 2, n)
    return whole(rng.integers(0, 2, n), A, side, side)


def mip_infeasible(rng: Random) -> Problem:
    """Whole numbers that miss what the relaxation meets."""
    n = int(rng.integers(2, 9))
    A = 2.0 * rng.integers(-3, 7, (1, n))
    odd = float(2 * rng.integers(-4, 12) + 1)
    room = float(rng.choice([0.0, 0.25, 0.9]))
    extra = sparse(rng, 2, n)
    return whole(
        rng.integers(-5, 6, n),
        np.vstack([A, extra]),
        np.append(odd - room, [-INF, -INF]),
        np.append(odd + room, [25.0, 40.0]),
        lower=-2.0,
        upper=4.0,
    )


def mip_unbounded(rng: Random) -> Problem:
    """Integers without bounds along a direction that the costs like, or just do not."""
    m, n = size(rng, 4), int(rng.integers(1, 6))
    A = sparse(rng, m, n)
    d = rng.integers(0, 3, n).astype(float)
    d[0] = 1.0
    up = A @ d >= 0
    x = rng.integers(0, 4, n)
    cost = rng.integers(-5, 6, n).astype(float)
    cost[0] -= cost @ d + float(rng.choice([1, 0, 1, -1]))
    low, high = np.where(up, A @ x - 1.0, -INF), np.where(up, INF, A @ x + 1.0)
    integrality = rng.random(n) < 0.7
    integrality[0] = True
    return Problem.from_arrays(cost, A, low, high, integrality=integrality)


def mip_mixed(rng: Random) -> Problem:
    """Integers among free, fixed and boxed columns with decimal data."""
    m, n = size(rng, 6), int(rng.integers(2, 9))
    A = decimals(rng, (m, n), int(rng.integers(0, 3))) * (rng.random((m, n)) < 0.6)
    x = rng.integers(-3, 6, n).astype(float)
    low, high = sides_around(rng, A @ x)
    lower, upper = box_with(rng, x)
    integrality = rng.random(n) < 0.5
    lower = np.where(integrality, np.maximum(lower, x - 6), lower)
    upper = np.where(integrality, np.minimum(upper, x + 6), upper)
    y = rng.integers(0, 3, m) * np.where(np.isfinite(low), 1.0, -1.0)
    y[~np.isfinite(low) & ~np.isfinite(high)] = 0.0
    cost = A.T @ y + np.where(np.isfinite(lower), rng.integers(0, 4, n), 0)
    return Problem.from_arrays(
        cost,
        A,
        low,
        high,
        lower=lower,
        upper=upper,
        integrality=integrality,
        maximize=False,
        offset=float(rng.integers(-3, 4)) / 4,
    )


def mip_indicators(rng: Random) -> Problem:
    """At most two neighbours of a chain switched on, each of which lets a column go."""
    k = int(rng.integers(3, 7))
    big = float(rng.choice([10, 100, 1e4]))
    rows, sides = [], []
    for j in range(k):
        row = np.zeros(2 * k)
        row[j], row[k + j] = 1.0, -big
        rows.append(row)
        sides.append(0.0)
        for i in range(j + 2, k):
            apart = np.zeros(2 * k)
            apart[k + i] = apart[k + j] = 1.0
            rows.append(apart)
            sides.append(1.0)
    shared = np.append(rng.integers(1, 6, k), np.zeros(k)).astype(float)
    rows.append(shared)
    sides.append(float(rng.integers(3, 30)))
    switch = np.arange(2 * k) >= k
    return Problem.from_arrays(
        np.where(switch, -rng.integers(0, 3, 2 * k), rng.integers(-2, 12, 2 * k)),
        np.array(rows),
        row_upper=sides,
        upper=np.where(switch, 1.0, 9.0),
        integrality=switch,
        maximize=True,
    )


def mip_family(rng: Random) -> Problem:
    """One of the families of the property tests."""
    return FAMILIES[int(rng.integers(len(FAMILIES)))](rng)


def mip_ugly(rng: Random) -> Problem:
    """Data as ugly as users have them."""
    while True:
        seed, most = int(rng.integers(2**31)), int(rng.integers(2, 6))
        problem = ugly_problem(seed, integer=True, most=most)
        if problem is not None:
            return problem


def mip_wide(rng: Random) -> Problem:
    """Some tens of binaries and rows."""
    m, n = int(rng.integers(8, 25)), int(rng.integers(20, 60))
    A = sparse(rng, m, n, 0, 9) * (rng.random((m, n)) < 0.3)
    cost = rng.integers(1, 40, n)
    return whole(cost, A, row_upper=np.floor(0.4 * A.sum(axis=1)), maximize=True)


MIXED = (
    mip_sets,
    mip_assignment,
    mip_fixed_charge,
    mip_lot_sizing,
    mip_general,
    mip_equality,
    mip_market_split,
    mip_infeasible,
    mip_unbounded,
    mip_mixed,
    mip_indicators,
    mip_family,
    mip_ugly,
    mip_wide,
)
