"""The loop of large-neighbourhood search: pick, build, solve, learn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.neighbourhoods.bandit import Bandit, Play, Tally
from solvers.mip.neighbourhoods.catalogue import CATALOGUE, Neighbourhood
from solvers.mip.neighbourhoods.cutoff import cutoff_below, objective_step
from solvers.mip.neighbourhoods.situation import Situation
from solvers.mip.pool import Offer, Pool
from solvers.mip.relaxation import Relaxation
from solvers.mip.submip import Limits, SubMip, SubMipResult, solve_submip
from solvers.problem import FloatArray

SHARE_OF_REST = 0.1
"""Part of the time left that one sub-MIP may take."""

LEAST_SECONDS, MOST_SECONDS = 1.0, 20.0
"""What a sub-MIP gets at least and at most (notes, section 6.1: 3 to 20 s)."""

WORK_UNIT = 1e6
"""Entries visited that count like a second where time has no say."""

PAUSE = 0.05
"""Seconds to wait when no neighbourhood can be made yet."""

QUICK_SHARE = 0.2
"""A search that ends within this part of its time was too small."""

TINY = 1e-9
"""Keeps divisions by objectives and efforts from failing."""


@dataclass(frozen=True)
class Counts:
    """What a search did: a tally for each neighbourhood, by its name.

    ``is_exhausted`` says that the whole model was searched: no point is better than the best by
    more than the cutoff's margin.
    """

    tallies: Mapping[str, Tally]
    is_exhausted: bool = False

    @property
    def plays(self) -> int:
        """Number of sub-MIPs."""
        return sum(one.plays for one in self.tallies.values())


def make_bandit(model: MipModel) -> Bandit:
    """Return a bandit over all neighbourhoods of a model, to be shared by its searches."""
    integers = model.integers
    wide = int(np.count_nonzero(model.lower[integers] < model.upper[integers]))
    return Bandit([one.name for one in CATALOGUE], wide)


def search_neighbourhoods(
    model: MipModel,
    pool: Pool,
    offer: Offer,
    budget: Budget,
    seed: int,
    *,
    bandit: Bandit | None = None,
    relaxation: Callable[[], Relaxation | None] = lambda: None,
    near: Callable[[], FloatArray | None] = lambda: None,
    slot: int = 0,
    apart: bool = False,
    log: Callable[[str], None] | None = None,
    defined: IndexArray | None = None,
) -> Counts:
    """Solve sub-MIPs around the pool's points until the budget is spent.

    Parameters
    ----------
    model : MipModel
    pool : Pool
        Where points come from; it may be empty.
    offer : Offer
        Where points go to.
    budget : Budget
        Without a time limit, sub-MIPs end by their nodes, gains are counted per unit of work, and
        the search ends when no neighbourhood can be made.
    seed : int
    bandit : Bandit, optional
        Shared by searches that run side by side; made here without one.
    relaxation : callable
        Asked before every sub-MIP for the relaxation's point, which may come late.
    near : callable
        Asked for the least-violated point while the pool is empty.
    slot : int
        Number of this search among those side by side.
    apart : bool
        Solve small sub-MIPs in child processes, too: for callers whose other threads are busy in
        Python, for which HiGHS would have to wait at every iteration.
    log : callable, optional
        Told of every sub-MIP in a line.
    defined : (d,) int32, optional
        Columns that equations define by others, which no neighbourhood fixes.
    """
    shared = make_bandit(model) if bandit is None else bandit
    search = _Search(model, pool, offer, budget, shared, apart, defined)
    rng = np.random.default_rng([seed, slot])
    out: set[int] = set()
    known: tuple[int, int, bool] | None = None
    while not budget.spent():
        situation = search.situation(relaxation(), near())
        now = pool.version, len(situation.points), situation.relaxation is not None
        if now != known:
            known, out = now, set()
        number = search.bandit.pick(out)
        if number is None:
            if not budget.is_timed:
                break
            time.sleep(PAUSE)
            out = set()
            continue
        sub = search.make(number, situation, rng)
        if sub is None:
            search.bandit.put_back(number)
            out.add(number)
            continue
        unfixed = search.bandit.arms[number].free >= 1.0
        result = search.play(number, sub, int(rng.integers(2**31 - 1)), log)
        if result.status.is_proven and search.is_whole(sub):
            return Counts(search.bandit.tallies, is_exhausted=True)
        if result.status.is_proven and unfixed:
            out.add(number)  # it would be the same again, until there is another point
    return Counts(search.bandit.tallies)


class _Search:
    """What one search keeps from sub-MIP to sub-MIP."""

    def __init__(
        self,
        model: MipModel,
        pool: Pool,
        offer: Offer,
        budget: Budget,
        bandit: Bandit,
        apart: bool,
        defined: IndexArray | None,
    ) -> None:
        self.model = model
        self.pool = pool
        self.offer = offer
        self.budget = budget
        self.bandit = bandit
        self._apart = apart
        self._defined = np.empty(0, dtype=np.int32) if defined is None else defined
        self._step = objective_step(model)
        self._table: dict[str, Neighbourhood] = {one.name: one for one in CATALOGUE}
        self._mended: FloatArray | None = None

    def situation(self, relaxation: Relaxation | None, near: FloatArray | None) -> Situation:
        """Look at what is known now."""
        points = self.pool.points()
        objective = points[0].objective if points else np.inf
        cutoff = cutoff_below(objective, self._step)
        near = self._less_violated(near)
        return Situation(self.model, points, relaxation, near, cutoff, self._defined)

    def make(self, number: int, situation: Situation, rng: np.random.Generator) -> SubMip | None:
        """Build an arm's neighbourhood, if the situation has what it needs."""
        arm = self.bandit.arms[number]
        return self._table[arm.name].make(situation, rng, arm.rate)

    def play(
        self, number: int, sub: SubMip, seed: int, log: Callable[[str], None] | None
    ) -> SubMipResult:
        """Search a neighbourhood and let the bandit learn from it."""
        arm = self.bandit.arms[number]
        before, rate = self.pool.objective, arm.rate
        seconds = arm.patience * max(LEAST_SECONDS, SHARE_OF_REST * self.budget.seconds_left)
        seconds = min(seconds, MOST_SECONDS)
        result = solve_submip(
            self.model,
            sub,
            self.offer,
            self.budget,
            seconds=seconds,
            limits=Limits(solutions=self._table[arm.name].solutions),
            source=arm.name,
            seed=seed,
            apart=self._apart,
        )
        gain = _gain(before, min(self.pool.objective, before)) if result.improved else 0.0
        timed = self.budget.is_timed
        play = Play(
            gain=gain,
            effort=max(TINY, result.seconds if timed else result.work / WORK_UNIT),
            proven=result.status.is_proven,
            quick=not timed or result.seconds < QUICK_SHARE * seconds,
        )
        self.bandit.record(number, play)
        self._learn_point(sub, result)
        if log is not None:
            log(_line(arm.name, rate, result, before, self.pool.objective))
        return result

    def is_whole(self, sub: SubMip) -> bool:
        """Whether a neighbourhood leaves nothing of the model out."""
        return (
            not sub.extra
            and not sub.has_own_objective
            and np.array_equal(sub.lower, self.model.lower)
            and np.array_equal(sub.upper, self.model.upper)
        )

    def _less_violated(self, near: FloatArray | None) -> FloatArray | None:
        """Return the given point or the one that a repair has led to."""
        if near is None or self._mended is None:
            return self._mended if near is None else near
        given, mended = (_violation(self.model, x) for x in (near, self._mended))
        return near if given < mended else self._mended

    def _learn_point(self, sub: SubMip, result: SubMipResult) -> None:
        """Keep the less violated point of a repair to go on from there."""
        if sub.elastic.size and result.x is not None:
            self._mended = result.x


def _violation(model: MipModel, x: FloatArray) -> float:
    activity = model.activity(x)
    outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
    return float(np.sum(np.maximum(outside, 0.0)))


def _gain(before: float, after: float) -> float:
    """Return the relative improvement, 1 for a first point."""
    if not np.isfinite(before):
        return 1.0 if np.isfinite(after) else 0.0
    return min(1.0, (before - after) / max(abs(before), abs(after), TINY))


def _line(name: str, rate: float, result: SubMipResult, before: float, after: float) -> str:
    return (
        f"{name} at {rate:.3f}: {result.status.name.lower()}, {result.columns} columns free, "
        f"{result.nodes} nodes, {result.seconds:.2f} s, {before:.8g} -> {after:.8g}"
    )
