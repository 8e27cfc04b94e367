"""Models for the pump's tests, and what keeps the points that an LP can make feasible."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.run import ALPHAS, Pumps
from solvers.mip.heuristics.feasibility_pump.steps import Counts
from solvers.mip.heuristics.feasibility_pump.trajectory import Manner
from solvers.mip.inference.relaxation import root_relaxation
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import Found, Pool, Submit
from solvers.mip.solutions.polish import Polisher


def random_mip(seed: int, rows: int, columns: int, density: float = 0.3) -> MipModel:
    """Return a feasible, bounded model with binary, general and continuous columns."""
    generator = np.random.default_rng(seed)
    A = sp.random_array((rows, columns), density=density, format="csr", rng=generator)
    A.data = np.round(generator.uniform(-5.0, 5.0, A.nnz))
    kind = generator.integers(0, 3, columns)  # binary, general, continuous
    lower = np.where(kind == 0, 0.0, -4.0)
    upper = np.where(kind == 0, 1.0, 6.0)
    point = np.where(kind == 0, generator.integers(0, 2, columns), 0.0)
    point = np.where(kind == 1, generator.integers(-3, 6, columns), point)
    point = np.where(kind == 2, generator.uniform(-3.0, 5.0, columns), point)
    activity = A @ point
    room = generator.integers(0, 4, rows)
    low = np.where(room == 0, -np.inf, activity - 2.0 * generator.random(rows))
    high = np.where(room == 1, np.inf, activity + 2.0 * generator.random(rows))
    return MipModel.of(
        Problem(
            generator.integers(-9, 10, columns).astype(float),
            A,
            low,
            high,
            lower,
            upper,
            kind < 2,
            offset=2.0,
        )
    )


def knapsack(seed: int, columns: int) -> MipModel:
    """Return a knapsack with small whole weights, to be minimised."""
    generator = np.random.default_rng(seed)
    weight = generator.integers(3, 30, columns).astype(float)
    value = weight + generator.integers(-2, 6, columns)
    return MipModel.of(
        Problem.from_arrays(
            -value, weight[None, :], -np.inf, weight.sum() // 2, upper=1.0, integrality=True
        )
    )


class Keeper:
    """A submit that gives the continuous columns of a point their best values."""

    def __init__(self, model: MipModel) -> None:
        self.model = model
        self.pool = Pool(20, model.integers)
        self.polisher = Polisher(model, "cpu")
        self.submitted: list[tuple[np.ndarray, str]] = []

    def __call__(self, x: np.ndarray, source: str) -> bool:
        self.submitted.append((x.copy(), source))
        found = self.polisher.polish(x)
        if found.x is None:
            return False
        return self.pool.add(Found(found.x, found.objective, 0.0, source))


def pumps_of(model: MipModel, submit: Submit, seed: int = 0, width: int = 1, **more: Any) -> Pumps:
    """Return pumps whose seeds count on from one."""
    manners = [Manner(seed + k, ALPHAS[k % len(ALPHAS)]) for k in range(width)]
    return Pumps(model, submit, root_relaxation(model, Budget(work=1e7)), manners, **more)


def pump_batch(model: MipModel, submit: Submit, budget: Budget, seed: int, **more: Any) -> Counts:
    """Run several pumps in lockstep, in one turn."""
    with closing(pumps_of(model, submit, seed, **{"width": 8, **more})) as pumps:
        return pumps.run(budget)
