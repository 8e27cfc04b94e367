"""Models of a few sums, and what is best of them by trying everything."""

from __future__ import annotations

import itertools

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.model import MipModel


def market_split(
    seed: int, rows: int, columns: int, *, counts: int = 2, both_ways: bool = False
) -> MipModel:
    """Return a model that asks for sums, and counts what is missing, or also what is too much."""
    rng = np.random.default_rng(seed)
    coefficients = rng.integers(0, 100, size=(rows, columns)).astype(float)
    side = np.floor(coefficients.sum(axis=1) * (counts - 1) / 2)
    slacks = np.hstack([np.eye(rows), -np.eye(rows)]) if both_ways else np.eye(rows)
    matrix = np.hstack([coefficients, slacks])
    more = slacks.shape[1]
    problem = Problem.from_arrays(
        np.concatenate([np.zeros(columns), 1.0 + np.arange(more) % 2]),
        matrix,
        side,
        side,
        lower=0.0,
        upper=np.concatenate([np.full(columns, counts - 1.0), np.full(more, np.inf)]),
        integrality=np.concatenate([np.ones(columns), np.zeros(more)]).astype(bool),
    )
    return MipModel.of(problem)


def best_by_trying(model: MipModel, columns: int) -> float:
    """Return the least objective of a market split: inf if there is no point."""
    rows = model.num_rows
    matrix = model.problem.matrix.toarray()
    values = [np.arange(model.upper[j] + 1.0) for j in range(columns)]
    every = np.array(list(itertools.product(*values)))
    left = model.row_lower - every @ matrix[:, :columns].T
    up, down = np.maximum(left, 0.0), np.maximum(-left, 0.0)
    price = model.cost[columns:]
    total = up @ price[:rows]
    if price.size > rows:
        total = total + down @ price[rows:]
    else:
        total[np.any(down > 0.0, axis=1)] = np.inf
    return float(total.min())
