"""Generated models that are hard, or large, by construction."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.highs.task import Model, Task


def market_split(m: int = 4, n: int = 30, seed: int = 0) -> Problem:
    """Return a market split model (Cornuejols and Dawande, 1999): minutes of branch and bound."""
    random = np.random.default_rng(seed)
    A = random.integers(0, 100, (m, n)).astype(float)
    half = np.floor(A.sum(axis=1) / 2)
    return Problem.from_arrays(
        np.r_[np.zeros(n), np.ones(2 * m)],
        np.hstack([A, np.eye(m), -np.eye(m)]),
        half,
        half,
        upper=np.r_[np.ones(n), np.full(2 * m, np.inf)],
        integrality=np.r_[np.ones(n), np.zeros(2 * m)],
    )


def covering(m: int, n: int, seed: int = 0, *, integer: bool = False) -> Problem:
    """Return a random covering problem with at least two entries in every row."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(m), 4)
    columns = random.integers(0, n, rows.size)
    A = sp.csr_array((random.integers(1, 9, rows.size).astype(float), (rows, columns)), (m, n))
    return Problem.from_arrays(
        random.integers(1, 20, n),
        A,
        random.integers(1, 9, m).astype(float),
        upper=9.0,
        integrality=integer,
    )


def packing(m: int, n: int, seed: int = 0) -> Problem:
    """Return a random packing problem with a twentieth of its entries: many simplex steps."""
    random = np.random.default_rng(seed)
    A = np.where(random.random((m, n)) < 0.05, random.integers(1, 20, (m, n)), 0)
    room = 0.4 * A.sum(axis=1) + 1.0
    return Problem.from_arrays(-random.integers(1, 50, n), A, row_upper=room, upper=3.0)


def transport(sources: int, sinks: int, seed: int = 0) -> Problem:
    """Return a balanced transportation problem, degenerate as they are."""
    random = np.random.default_rng(seed)
    supply = np.full(sources, float(sinks))
    demand = np.full(sinks, float(sources))
    by_source = sp.kron(sp.eye_array(sources), np.ones((1, sinks)))
    by_sink = sp.kron(np.ones((1, sources)), sp.eye_array(sinks))
    sides = np.concatenate([supply, demand])
    cost = random.integers(1, 100, sources * sinks)
    return Problem.from_arrays(cost, sp.vstack([by_source, by_sink]), sides, sides)


def task_of(problem: Problem) -> Task:
    """Return the task of solving a problem without presolve, from zero."""
    A = problem.matrix
    model = Model(
        problem.cost,
        problem.offset,
        problem.lower,
        problem.upper,
        problem.row_lower,
        problem.row_upper,
        A.indptr,
        A.indices,
        A.data,
        problem.integrality.astype(np.int8),
    )
    return Task(model, {"threads": 1, "presolve": "off"}, x=np.zeros(problem.num_columns))
