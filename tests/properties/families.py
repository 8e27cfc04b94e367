"""Small mixed-integer models with the structures that heuristics find hard, from a seed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.problem import Problem

INF = np.inf
Random = np.random.Generator


def fixed_charge_flow(rng: Random) -> Problem:
    """Balances of continuous flows, each of which needs its arc to be opened."""
    nodes = int(rng.integers(4, 8))
    arcs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j and rng.random() < 0.5]
    supply = rng.integers(-9, 10, nodes).astype(float)
    supply[-1] -= supply.sum()
    m = len(arcs)
    A = np.zeros((nodes + m, 2 * m))
    for k, (i, j) in enumerate(arcs):
        A[i, k], A[j, k] = 1.0, -1.0
        A[nodes + k, k], A[nodes + k, m + k] = 1.0, -float(rng.integers(3, 60))
    opened = np.arange(2 * m) >= m
    return Problem.from_arrays(
        np.where(opened, rng.integers(1, 30, 2 * m), rng.random(2 * m).round(2)),
        A,
        np.concatenate([supply, np.full(m, -INF)]),
        np.concatenate([supply, np.zeros(m)]),
        upper=np.where(opened, 1.0, INF),
        integrality=opened,
    )


def disjunctions(rng: Random) -> Problem:
    """Jobs on one machine, one before the other by a large constant."""
    jobs, big = int(rng.integers(3, 5)), 10.0 ** int(rng.integers(2, 7))
    takes = rng.integers(1, 9, jobs).astype(float)
    pairs = [(i, j) for i in range(jobs) for j in range(i)]
    n = jobs + 1 + len(pairs)
    rows, sides = [], []
    for k, (i, j) in enumerate(pairs):
        for first, second, sign, side in ((i, j, big, big), (j, i, -big, 0.0)):
            row = np.zeros(n)
            row[first], row[second], row[jobs + 1 + k] = 1.0, -1.0, sign
            rows.append(row)
            sides.append(side - takes[first])
    for i in range(jobs):
        row = np.zeros(n)
        row[i], row[jobs] = 1.0, -1.0
        rows.append(row)
        sides.append(-takes[i])
    ordered = np.arange(n) > jobs
    return Problem.from_arrays(
        np.arange(n) == jobs,
        np.array(rows),
        row_upper=sides,
        upper=np.where(ordered, 1.0, INF),
        integrality=ordered,
    )


def set_partition(rng: Random) -> Problem:
    """Each element in exactly one of the sets chosen; sometimes there is no way."""
    m = int(rng.integers(4, 9))
    A = (rng.random((m, 4 * m)) < 0.3).astype(float)
    return Problem.from_arrays(rng.integers(1, 30, 4 * m), A, 1.0, 1.0, upper=1.0, integrality=True)


def endless_integers(rng: Random) -> Problem:
    """Integers without upper bounds, some without lower ones; costs that duals pay for."""
    m, n = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    A = rng.integers(-5, 9, (m, n)).astype(float)
    lower = np.where(rng.random(n) < 0.5, 0.0, -INF)
    x = rng.integers(-10, 11, n)
    activity = A @ np.where(lower == 0.0, np.abs(x), x)
    kind = rng.integers(0, 3, m)
    duals = rng.integers(0, 4, m) * np.where(kind == 0, -1.0, 1.0)
    return Problem.from_arrays(
        A.T @ duals + np.where(lower == 0.0, rng.integers(0, 3, n), 0),
        A,
        np.where(kind == 0, -INF, activity),
        np.where(kind == 1, INF, activity),
        lower=lower,
        integrality=True,
    )


def no_costs(rng: Random) -> Problem:
    """Equations and narrow rows of general integers, and nothing to minimise."""
    m, n = int(rng.integers(2, 6)), int(rng.integers(5, 12))
    A = (rng.integers(-4, 5, (m, n)) * (rng.random((m, n)) < 0.6)).astype(float)
    activity = A @ rng.integers(0, 4, n)
    return Problem.from_arrays(
        np.zeros(n), A, activity, activity + rng.integers(0, 2, m), upper=5, integrality=True
    )


def free_objective(rng: Random) -> Problem:
    """All costs in one free continuous column, which an inequality ties to the integers."""
    m, n = int(rng.integers(2, 5)), int(rng.integers(4, 9))
    A = np.zeros((m + 1, n + 1))
    A[:m, :n] = rng.integers(0, 9, (m, n))
    A[m, :n], A[m, n] = -rng.integers(1, 9, n), 1.0
    whole = np.arange(n + 1) < n
    return Problem.from_arrays(
        np.where(whole, 0.0, 1.0),
        A,
        row_upper=np.append(np.floor(0.4 * A[:m, :n].sum(axis=1)), 7.5),
        lower=np.where(whole, 0.0, -INF),
        upper=np.where(whole, 3.0, INF),
        integrality=whole,
        maximize=True,
    )


def divisors(rng: Random) -> Problem:
    """One equation of even or odd numbers, which whole numbers may not be able to meet."""
    n = int(rng.integers(2, 6))
    A = rng.integers(2, 20, (1, n)) * 2.0
    side = float(rng.integers(20, 60))
    return Problem.from_arrays(rng.integers(-2, 5, n), A, side, side, upper=9.0, integrality=True)


def pigeons(rng: Random) -> Problem:
    """One more pigeon than holes."""
    holes = int(rng.integers(3, 5))
    birds = holes + 1
    each = np.kron(np.eye(birds), np.ones((1, holes)))
    hole = np.kron(np.ones((1, birds)), np.eye(holes))
    return Problem.from_arrays(
        rng.integers(0, 3, birds * holes),
        np.vstack([each, hole]),
        np.concatenate([np.ones(birds), np.full(holes, -INF)]),
        np.concatenate([np.full(birds, INF), np.ones(holes)]),
        upper=1.0,
        integrality=True,
    )


def huge_coefficients(rng: Random) -> Problem:
    """Rows that differ in size by six orders of magnitude."""
    m, n = int(rng.integers(2, 5)), int(rng.integers(4, 9))
    A = rng.integers(1, 9, (m, n)) * 10.0 ** rng.integers(0, 7, (m, 1))
    return Problem.from_arrays(
        rng.integers(1, 9, n) * 10.0 ** int(rng.integers(0, 7)),
        A * (rng.random((m, n)) < 0.7),
        np.floor(0.2 * A.sum(axis=1)),
        upper=rng.integers(2, 6, n),
        integrality=rng.random(n) < 0.8,
    )


def wide_integers(rng: Random) -> Problem:
    """Integers within fractional bounds of a million."""
    n = int(rng.integers(3, 6))
    A = rng.integers(-7, 8, (2, n)).astype(float)
    activity = A @ rng.integers(-900_000, 900_000, n)
    return Problem.from_arrays(
        rng.integers(-5, 6, n),
        A,
        activity - 5.0,
        activity + 5.0,
        lower=-1e6 - 0.5,
        upper=1e6 + 0.3,
        integrality=True,
    )


FAMILIES: tuple[Callable[[Random], Problem], ...] = (
    fixed_charge_flow,
    disjunctions,
    set_partition,
    endless_integers,
    no_costs,
    free_objective,
    divisors,
    pigeons,
    huge_coefficients,
    wide_integers,
)
