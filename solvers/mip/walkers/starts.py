"""Points that walkers start from, and go back to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from solvers.mip.pool import Pool
from solvers.mip.walkers.layout import Layout
from solvers.problem import FloatArray

MOST_POINTS = 32
"""Points held on the device at once."""

POINT_NUMBERS = 8_000_000
"""Numbers in all of them together, so that huge models hold fewer."""

START_SHARES = (0.0, 0.0, 0.02, 0.1, 0.3, 0.5)
"""Shares of the columns that change at random where many walkers start from one point."""


def own_starts(layout: Layout) -> list[np.ndarray]:
    """Return zero within the bounds, and the best bounds of each column by its cost."""
    low, high = layout.arrays["bounds"][0::2], layout.arrays["bounds"][1::2]
    zero = np.clip(np.zeros(layout.columns), low, high).astype(layout.real)
    costs = layout.arrays["costs"]
    starts = [zero]
    if layout.objectives:
        narrow = high.astype(float) - low < 1e6  # a far bound is no place to start from
        best = np.where(narrow & (costs > 0.0), low, np.where(narrow & (costs < 0.0), high, zero))
        starts.append(best.astype(layout.real))
    return starts


def gather_points(layout: Layout, starts: Iterable[FloatArray], pool: Pool | None) -> np.ndarray:
    """Return points (P, n) for walkers: own starts, given ones, and the pool's, as many as fit.

    There is always room for the own starts; given points that are not finite everywhere stand for
    zero there.
    """
    points = own_starts(layout)
    most = max(len(points) + 1, min(MOST_POINTS, POINT_NUMBERS // max(1, layout.columns)))
    found = [] if pool is None else [layout.values_of(one.x) for one in pool.points()]
    given = [layout.values_of(np.asarray(start, dtype=float)) for start in starts]
    half = max(1, (most - len(points)) // 2)
    points += found[:half]
    points += given[: most - len(points)]
    return np.ascontiguousarray(np.stack(points))


def first_origins(walkers: int, points: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return origins (W,) of walkers in turn over all points, weights (W,), and shares (W,)."""
    origins = (walkers + np.arange(walkers) % points).astype(np.int32)
    shares = rng.choice(np.asarray(START_SHARES), size=walkers)
    shares[:points] = 0.0
    return origins, np.zeros(walkers, dtype=np.int32), shares
