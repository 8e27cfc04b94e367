"""Whole-GPU walkers of a test, and models with lines that one warp does not read alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.mip.heuristics.local_search.grid_wide import GridWideState, make_grid_wide
from solvers.mip.heuristics.local_search.kernels.grid_walk import GRID_WALK, WALK_GRID
from solvers.mip.heuristics.local_search.kernels.walk import RESTART, WALKS
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.restarts import gather_points
from solvers.mip.model import MipModel
from tests.mip.heuristics.local_search.cases import CASES as SMALL
from tests.mip.heuristics.local_search.cases import INF, model_of

SEED = 3
Launcher = Callable[[Any, str, tuple[Any, ...]], None]
"""Runs a kernel of a family: (family, name, arguments)."""


def run_family(family: Any, name: str, values: tuple[Any, ...]) -> None:
    family[name](*values, threads=1)


def restart(arguments: tuple[Any, ...]) -> None:
    """Restart on the device of the arrays; on the CPU, which has 64 bits only, in copies."""

    def is_short(one: Any) -> bool:
        return isinstance(one, np.ndarray) and one.dtype == np.float32

    wide = tuple(one.astype(np.float64) if is_short(one) else one for one in arguments)
    run_family(WALKS, "restart", wide)
    for short, long in zip(arguments, wide, strict=True):
        if is_short(short):
            short[...] = long


@dataclass(frozen=True, eq=False)
class Whole:
    """A walker, with what it needs to be launched."""

    layout: Layout
    device: Device
    model: dict[str, Any]
    state: GridWideState
    launcher: Launcher
    blocks: int

    def walk(self, steps: int) -> None:
        often = {"blocks": self.blocks, "steps": steps, "seed": SEED}
        arguments = WALK_GRID.arguments_of(self.state, **self.model, **often)
        self.launcher(GRID_WALK, "walk_grid", arguments)

    def host(self, name: str) -> np.ndarray:
        return self.device.to_host(getattr(self.state, name))

    @property
    def record(self) -> np.ndarray:
        return self.host("records")

    def point(self) -> np.ndarray:
        return self.layout.point_of(self.host("values")[0::2])

    def kept(self) -> np.ndarray:
        return self.layout.point_of(self.host("kept"))

    def set_record(self, field: int, value: float) -> None:
        self.state.records[field] = value


def start_grid_wide(
    layout: Layout,
    teams: int = 5,
    device: Device | None = None,
    launcher: Launcher = run_family,
    blocks: int = 2,
    share: float = 0.3,
) -> Whole:
    """Return a walker at zero, with a share of its columns changed at random."""
    where = cpu() if device is None else device
    model, state = layout.on(where), make_grid_wide(layout, where, teams, SEED)
    place = where.to_device
    others = {
        "points": place(gather_points(layout, []).points.ravel()),
        "origins": place(np.array([1], np.int32)),
        "weights": place(np.array([0], np.int32)),
        "shares": place(np.array([share], layout.real)),
        "seed": SEED,
        "number": 0,
    }
    restart(RESTART.arguments_of(state, **model, **others))
    return Whole(layout, where, model, state, launcher, blocks)


def long_line() -> MipModel:
    """A row over all columns and a column in all rows, both of several chunks."""
    size = 10_000
    diagonal = sp.eye(size, format="csr")
    column = sp.csr_matrix((np.ones(size), (np.arange(size), np.zeros(size, int))), (size, size))
    matrix = sp.vstack([diagonal + 2.0 * column, sp.csr_matrix(np.ones((1, size)))]).tocsr()
    lower = np.r_[np.ones(size), -INF]
    cost = np.r_[9_000.0, np.ones(size - 1)]
    return model_of(cost, matrix, lower, np.r_[np.full(size, INF), 6_000.0])


def huge_row(size: int = 100_000) -> MipModel:
    """One equality over a hundred thousand weighted columns, and a few short rows."""
    rng = np.random.default_rng(7)
    weights = rng.integers(1, 9, size).astype(float)
    short = sp.random(50, size, 3e-4, format="csr", rng=rng, data_rvs=np.ones)
    matrix = sp.vstack([sp.csr_matrix(weights), short]).tocsr()
    side = float(np.round(weights.sum() / 3.0))
    lower = np.r_[side, np.ones(50)]
    return model_of(rng.integers(1, 50, size), matrix, lower, np.r_[side, np.full(50, INF)])


def free_integers() -> MipModel:
    """Integers without bounds in equalities, beside continuous columns and rows with two sides."""
    rng = np.random.default_rng(8)
    matrix = sp.random(30, 40, 0.2, format="csr", rng=rng)
    matrix.data = np.round(matrix.data * 12.0) - 6.0
    inside = rng.integers(-20, 20, 40).astype(float)
    activity = matrix @ inside
    equal = np.arange(30) % 2 == 0
    lower = np.where(equal, activity, activity - 3.0)
    upper = np.where(equal, activity, activity + 3.5)
    integrality = np.arange(40) % 4 != 0
    return model_of(rng.normal(size=40), matrix, lower, upper, -INF, INF, integrality)


def covering(
    rows: int, columns: int, length: int, seed: int = 1, most: float | None = None
) -> MipModel:
    """Rows of ones over random columns, each to be covered once, at whole costs.

    ``most`` adds a row over all columns: no more than so many may be taken.
    """
    rng = np.random.default_rng(seed)
    places = rng.integers(0, columns, (rows, length))
    entries = (np.ones(places.size), (np.repeat(np.arange(rows), length), places.ravel()))
    matrix = sp.csr_matrix(entries, (rows, columns))
    matrix.data[:] = 1.0
    lower, upper = np.ones(rows), np.full(rows, INF)
    if most is not None:
        matrix = sp.vstack([matrix, sp.csr_matrix(np.ones((1, columns)))]).tocsr()
        lower, upper = np.r_[lower, -INF], np.r_[upper, most]
    return model_of(rng.integers(1, 100, columns).astype(float), matrix, lower, upper)


CASES = SMALL | {
    "long line": long_line,
    "free integers": free_integers,
    "wide covering": lambda: covering(3000, 2000, 8),
}
