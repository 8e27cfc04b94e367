"""Models with feasible points and relaxations for the tests of neighbourhoods."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from solvers.core.problem import Problem
from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import (
    Situation,
    cutoff_below,
)
from solvers.mip.model import MipModel, Relaxation, is_feasible
from solvers.mip.solutions.incumbents import Found


def packing(seed: int = 0, columns: int = 60, rows: int = 25) -> MipModel:
    """Return a packing model of binaries, integers and continuous columns; 0 is feasible."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 9, (rows, columns)) * (rng.random((rows, columns)) < 0.15)
    kind = rng.choice(3, columns, p=[0.6, 0.2, 0.2])
    upper = np.where(kind == 0, 1.0, np.where(kind == 1, 5.0, 2.5))
    problem = Problem.from_arrays(
        -rng.integers(1, 20, columns),
        sp.csr_array(matrix.astype(float)),
        np.full(rows, -np.inf),
        0.3 * matrix @ upper,
        upper=upper,
        integrality=kind < 2,
        offset=7.0,
    )
    return MipModel.of(problem)


def greedy(model: MipModel, rng: np.random.Generator) -> np.ndarray:
    """Return a feasible point of a packing model, by raising columns in random order."""
    x = np.zeros(model.num_columns)
    for j in rng.permutation(model.num_columns):
        x[j] = model.upper[j]
        while x[j] > 0 and not is_feasible(model, x):
            x[j] = max(0.0, x[j] - 1.0)
    return x


def relaxation_of(model: MipModel) -> Relaxation:
    bounds = np.column_stack([model.lower, model.upper])
    answer = linprog(model.cost, A_ub=model.problem.matrix, b_ub=model.row_upper, bounds=bounds)
    reduced = model.cost - model.problem.matrix.T @ answer.ineqlin.marginals
    return Relaxation(answer.x, reduced, answer.fun + model.offset, is_exact=True)


def found(model: MipModel, x: np.ndarray) -> Found:
    return Found(x, model.objective_at(x), 0.0, "test")


def situation(seed: int = 0, points: int = 4) -> Situation:
    model = packing(seed)
    rng = np.random.default_rng(seed)
    pool = [found(model, greedy(model, rng)) for _ in range(points)]
    pool.sort(key=lambda one: one.objective)
    objective = pool[0].objective if pool else np.inf
    cutoff = cutoff_below(objective, model.objective_step)
    return Situation(model, pool[0] if pool else None, relaxation_of(model), cutoff)
