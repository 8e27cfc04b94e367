"""Models of awkward shapes, and fleets of walkers on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.core.problem import Problem
from solvers.mip.heuristics.local_search.kernels.walk import RECORD, RESTART, WALK, WALKS
from solvers.mip.heuristics.local_search.layout import Layout, State, make_state
from solvers.mip.heuristics.local_search.restarts import first_origins, gather_points
from solvers.mip.model import MipModel

INF = np.inf
Launcher = Callable[[Any, str, tuple[Any, ...]], None]
"""Runs a kernel of a family: (family, name, arguments)."""


def run_twin(family: Any, name: str, values: tuple[Any, ...]) -> None:
    family[name](*values, threads=1)


@dataclass(frozen=True, eq=False)
class Fleet:
    """Walkers of a test, with what they need to be launched."""

    layout: Layout
    device: Device
    model: dict[str, Any]
    state: State

    def arguments(self, steps: int, seed: int) -> tuple[Any, ...]:
        """Return the arguments of either kernel of walkers."""
        return WALK.arguments_of(self.state, **self.model, steps=steps, seed=seed)

    @property
    def records(self) -> np.ndarray:
        return self.device.to_host(self.state.records).reshape(-1, RECORD)

    def host(self, name: str) -> np.ndarray:
        return self.device.to_host(getattr(self.state, name)).reshape(self.state.walkers, -1)


def start_fleet(
    layout: Layout,
    walkers: int = 5,
    seed: int = 3,
    device: Device | None = None,
    launch: Launcher = run_twin,
) -> Fleet:
    """Return walkers at their starts, some of them perturbed."""
    where = cpu() if device is None else device
    fleet = Fleet(layout, where, layout.on(where), make_state(layout, where, walkers, seed))
    places = gather_points(layout, [])
    origins, weights, shares = first_origins(walkers, places, np.random.default_rng(seed))
    restart(fleet, places.points, origins, weights, shares, seed, launch)
    return fleet


def restart(
    fleet: Fleet,
    points: np.ndarray,
    origins: np.ndarray,
    weights: np.ndarray,
    shares: np.ndarray,
    seed: int,
    launch: Launcher = run_twin,
) -> None:
    place = fleet.device.to_device
    others = {
        "points": place(points.ravel()),
        "origins": place(origins.astype(np.int32)),
        "weights": place(weights.astype(np.int32)),
        "shares": place(shares.astype(fleet.layout.real)),
        "seed": seed,
        "number": 0,
    }
    launch(WALKS, "restart", RESTART.arguments_of(fleet.state, **fleet.model, **others))


def model_of(
    cost: Any,
    matrix: Any,
    row_lower: Any,
    row_upper: Any,
    lower: Any = 0.0,
    upper: Any = 1.0,
    integrality: Any = True,
) -> MipModel:
    return MipModel.of(
        Problem.from_arrays(
            cost, matrix, row_lower, row_upper, lower=lower, upper=upper, integrality=integrality
        )
    )


def covering() -> MipModel:
    """Whole numbers and binaries only, which fits numbers of 32 bits."""
    rng = np.random.default_rng(1)
    matrix = sp.random(60, 45, 0.1, format="csr", rng=rng, data_rvs=lambda k: np.ones(k))
    matrix = sp.vstack([matrix, sp.csr_matrix(np.ones((1, 45)))]).tocsr()
    lower = np.r_[np.minimum(1, np.diff(matrix.indptr))[:60], -INF]
    return model_of(rng.integers(1, 9, 45), matrix, lower, np.r_[np.full(60, INF), 30])


def mixed() -> MipModel:
    """All kinds of rows, sides and columns, and empty ones of both."""
    rng = np.random.default_rng(2)
    matrix = sp.random(40, 33, 0.15, format="lil", rng=rng)
    matrix = sp.csr_matrix(matrix.multiply(8.0)).tolil()
    matrix[:, rng.random((40, 33))[0] < 0.5] *= -1.0
    matrix[7] = 0.0
    matrix[:, 5] = 0.0
    matrix = sp.csr_matrix(matrix)
    inside = rng.integers(0, 3, 33).astype(float)
    activity = matrix @ inside
    kind = np.arange(40) % 4
    lower = np.where(kind == 0, -INF, activity - (kind == 3) * 1.5)
    upper = np.where(kind == 1, INF, activity + (kind == 3) * 0.5)
    lower[0] = -INF
    upper[0] = INF
    integrality = np.arange(33) % 3 != 0
    low = np.where(np.arange(33) % 5 == 1, -INF, -1.0)
    high = np.where(np.arange(33) % 5 == 2, INF, 5.0)
    low[3:6], high[3:6] = 0.0, 1.0
    return model_of(rng.normal(size=33), matrix, lower, upper, low, high, integrality)


def long_lines() -> MipModel:
    """Rows and columns that a lane does not read alone, and some that are short."""
    rng = np.random.default_rng(3)
    matrix = sp.random(700, 600, 0.004, format="lil", rng=rng, data_rvs=lambda k: np.ones(k))
    matrix[0] = 1.0
    matrix[1, :300] = rng.normal(size=300)
    matrix[:, 0] = 1.0
    matrix[:400, 1] = rng.normal(size=(400, 1))
    matrix = sp.csr_matrix(matrix)
    activity = matrix @ (rng.random(600) < 0.3)
    lower = np.where(np.arange(700) % 2 == 0, activity, -INF)
    integrality = np.arange(600) != 1
    return model_of(rng.normal(size=600), matrix, lower, activity + 0.25, 0.0, 1.0, integrality)


def partition() -> MipModel:
    """Assignment rows, on which single moves cannot walk."""
    size = 6
    ones = np.ones((1, size))
    matrix = sp.vstack([sp.kron(sp.eye(size), ones), sp.kron(ones, sp.eye(size))])
    cost = np.random.default_rng(4).integers(1, 30, size * size)
    return model_of(cost, sp.csr_matrix(matrix), 1.0, 1.0)


def single() -> MipModel:
    """One integer column and one row."""
    return model_of([1.0], [[3.0]], [7.0], [INF], -10.0, 10.0)


def no_rows() -> MipModel:
    return model_of([1.0, -2.0, 0.0], None, -INF, INF, -3.0, 4.0)


def no_objective() -> MipModel:
    rng = np.random.default_rng(6)
    matrix = sp.csr_matrix(rng.integers(-3, 4, (8, 12)).astype(float))
    activity = matrix @ rng.integers(0, 2, 12)
    return model_of(np.zeros(12), matrix, activity - 1.0, activity)


CASES = {
    "covering": covering,
    "mixed": mixed,
    "long lines": long_lines,
    "partition": partition,
    "single": single,
    "no rows": no_rows,
    "no objective": no_objective,
}
