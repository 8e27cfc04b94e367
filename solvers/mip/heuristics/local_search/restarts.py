"""Who starts again, and from where, when walkers exchange what they know.

Without a feasible point the bottom quarter follows the best tenth, or known points. Once there is
one, a walker is worth something near the best points only: it walks for a while, its patience, and
starts again from a known point, changed a little; when a better point has turned up anywhere, half
of the walkers go there at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.local_search.kernels.walk import (
    NONE,
    Field,
    Weights,
)
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.solutions.incumbents import CAPACITY

POINT_NUMBERS = 8_000_000
"""Numbers in all points together that are held on the device at once, so that huge models hold
fewer than the pool."""

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
    most = max(len(own) + 1, min(CAPACITY, POINT_NUMBERS // max(1, layout.columns)))
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
        near = turn % ELSEWHERE != 0
        others = places.known + turn // ELSEWHERE % (count - places.known)
        chosen = np.where(near, turn % places.known, others)
        chosen[:count] = turn[:count] % count
        near = chosen < places.known
        shares[near] = rng.choice(np.asarray(NEAR_SHARES), size=int(near.sum()))
    shares[:count] = 0.0
    return (walkers + chosen).astype(np.int32), np.zeros(walkers, dtype=np.int32), shares


BOTTOM = 4
"""One walker of so many starts again in a round."""

TOP = 10
"""One of so many is followed."""

POINT_SHARE = 0.25
"""Part of the restarts that take a known point instead of a better walker's."""

LEAST_CHANGE, MOST_CHANGE = 0.02, 0.10
"""Share of the columns that change at random in a restart without a feasible point."""

FIRST_ROUND, LONGEST_ROUND, GROWTH = 2000, 10_000, 1.25
"""Steps of the first round, of the longest, and by how much each is longer than the one
before: what is found spreads at once while much is found."""

PATIENCES = (4000, 8000, 16_000, 32_000, 64_000)
"""Steps that a walker goes on without a better point, drawn at each restart."""

FOLLOW = 0.5
"""Part of the walkers that leave for the known points when there is a better one."""

BEST_SHARE, FRESH_SHARE = 0.6, 0.1
"""Parts of the restarts that take the best point, and that take one not known to be feasible."""

Restarts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Origins, weights and shares (W,) for the kernel ``restart``: walkers that go on have origin -1;
those that follow walker v have v, and those that take point p have W + p."""


def ranking(records: np.ndarray) -> np.ndarray:
    """Return the walkers (W,), best first: by objective if they kept a point, else by violation."""
    has_point = records[:, Field.BEST] < NONE
    violated = np.where(has_point, 0.0, records[:, Field.VIOLATED])
    weighted = np.where(has_point, 0.0, records[:, Field.WEIGHTED])
    objective = np.where(has_point, records[:, Field.BEST], records[:, Field.OBJECTIVE])
    return np.lexsort((objective, weighted, violated, ~has_point))


def restarts(records: np.ndarray, points: int, rng: np.random.Generator) -> Restarts:
    """Return who starts again from where while no feasible point is known."""
    walkers: int = records.shape[0]
    origins = np.full(walkers, -1, dtype=np.int32)
    weights = np.full(walkers, Weights.HALVE, dtype=np.int32)
    shares = rng.uniform(LEAST_CHANGE, MOST_CHANGE, size=walkers)
    if walkers < 2:
        return origins, weights, shares
    order = ranking(records)
    bottom = order[-max(1, walkers // BOTTOM) :]
    top = order[: max(1, walkers // TOP)]
    origins[bottom] = rng.choice(top, size=bottom.size)
    weights[bottom] = rng.choice((Weights.KEEP, Weights.HALVE), size=bottom.size)
    elsewhere = bottom[rng.random(bottom.size) < (POINT_SHARE if points else 0.0)]
    origins[elsewhere] = walkers + rng.integers(0, max(1, points), size=elsewhere.size)
    weights[elsewhere] = Weights.HALVE
    return origins, weights, shares


class Lives:
    """When each walker last started or improved, and how long it may go on.

    Parameters
    ----------
    rng : numpy.random.Generator
        Drawn from at each call, in the same order whatever the clock says.
    """

    def __init__(self, walkers: int, rng: np.random.Generator) -> None:
        self._rng = rng
        self._since = np.zeros(walkers)
        self._patience = rng.choice(np.asarray(PATIENCES, dtype=float), size=walkers)

    def note(self, improved: np.ndarray, records: np.ndarray) -> None:
        """Let the walkers that have found a better point (k,) go on from now."""
        self._since[improved] = records[improved, Field.STEP]

    def restarts(
        self, records: np.ndarray, places: Places, incumbent: float, *, renewed: bool
    ) -> Restarts:
        """Return who starts again from where once there are feasible points.

        Parameters
        ----------
        records : (W, RECORD)
        places : Places
            With at least one feasible point.
        incumbent : float
            The best objective; a walker that has reached it goes on.
        renewed : bool
            Whether there is a better point than at the last call.
        """
        walkers, rng = records.shape[0], self._rng
        steps = records[:, Field.STEP]
        again = steps - self._since[:walkers] > self._patience[:walkers]
        follows = rng.random(walkers) < FOLLOW
        if renewed:
            again |= follows
        again &= records[:, Field.BEST] > incumbent
        chosen = self._choose(walkers, places)
        origins = np.where(again, walkers + chosen, -1).astype(np.int32)
        weights = np.where(chosen < places.known, Weights.HALVE, Weights.RESET).astype(np.int32)
        shares = rng.choice(np.asarray(NEAR_SHARES), size=walkers)
        patience = rng.choice(np.asarray(PATIENCES, dtype=float), size=walkers)
        self._patience[:walkers] = np.where(again, patience, self._patience[:walkers])
        self._since[:walkers] = np.where(again, steps, self._since[:walkers])
        return origins, weights, shares

    def _choose(self, walkers: int, places: Places) -> np.ndarray:
        """Return a point for each walker: the best, another feasible one, or any other."""
        rng, known, points = self._rng, places.known, len(places.points)
        kind = rng.random(walkers)
        feasible = np.where(kind < BEST_SHARE, 0, rng.integers(0, known, size=walkers))
        fresh = rng.integers(min(known, points - 1), points, size=walkers)
        return np.where(kind >= 1.0 - FRESH_SHARE, fresh, feasible)
