"""Points that walkers start from, and go back to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.gpu.layout import Layout

MOST_POINTS = 32
"""Points held on the device at once."""

POINT_NUMBERS = 8_000_000
"""Numbers in all of them together, so that huge models hold fewer."""

START_SHARES = (0.0, 0.0, 0.02, 0.1, 0.3, 0.5)
"""Shares of the columns that change at random where many walkers start from one point."""

NEAR_SHARES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05)
"""The same around a feasible point. A small part keeps more of what has been settled."""

ELSEWHERE = 4
"""One walker of so many starts anywhere although feasible points are known."""


def own_starts(layout: Layout) -> list[np.ndarray]:
    """Return zero within the bounds, and the best bounds of each column by its cost."""
    low, high = layout.bounds[0::2], layout.bounds[1::2]
    zero = np.clip(np.zeros(layout.columns), low, high).astype(layout.real)
    costs = layout.costs
    starts = [zero]
    if layout.objectives:
        narrow = high.astype(float) - low < 1e6  # a far bound is no place to start from
        best = np.where(narrow & (costs > 0.0), low, np.where(narrow & (costs < 0.0), high, zero))
        starts.append(best.astype(layout.real))
    return starts


@dataclass(frozen=True, eq=False)
class Places:
    """Points (P, n) in the layout's order; the first ``known`` are feasible, the best one first."""

    points: np.ndarray
    known: int


def gather_points(
    layout: Layout, starts: Iterable[FloatArray], known: Iterable[FloatArray] = ()
) -> Places:
    """Return points for walkers: known ones, own starts, and given ones, as many as fit.

    There is always room for the own starts; given points that are not finite everywhere stand for
    zero there.
    """
    own = own_starts(layout)
    most = max(len(own) + 1, min(MOST_POINTS, POINT_NUMBERS // max(1, layout.columns)))
    half = max(1, (most - len(own)) // 2)
    found = [layout.values_of(point) for point in islice(known, half)]
    room = most - len(own) - len(found)
    given = [layout.values_of(np.asarray(start, float)) for start in islice(starts, room)]
    return Places(np.ascontiguousarray(np.stack(found + own + given)), len(found))


def first_origins(walkers: int, places: Places, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return origins (W,) of walkers, weights (W,), and shares (W,) that change at random.

    Walkers take all points in turn, each point once as it is; where feasible ones are known most
    stay near those.
    """
    count = places.points.shape[0]
    turn = np.arange(walkers)
    chosen = turn % count
    shares = rng.choice(np.asarray(START_SHARES), size=walkers)
    if places.known:
        infeasible_points = turn % ELSEWHERE != 0
        others = places.known + turn // ELSEWHERE % (count - places.known)
        chosen = np.where(infeasible_points, turn % places.known, others)
        chosen[:count] = turn[:count] % count
        infeasible_points = chosen < places.known
        shares[infeasible_points] = rng.choice(
            np.asarray(NEAR_SHARES), size=int(infeasible_points.sum())
        )
    shares[:count] = 0.0
    return (walkers + chosen).astype(np.int32), np.zeros(walkers, dtype=np.int32), shares
