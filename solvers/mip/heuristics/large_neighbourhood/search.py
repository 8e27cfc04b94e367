"""The loop of large-neighbourhood search: pick a neighbourhood, build its sub-MIP, solve, learn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.core.progress import LOOK_AGAIN
from solvers.mip.budget import Budget
from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import (
    CATALOGUE,
    Neighbourhood,
    Situation,
    cutoff_below,
)
from solvers.mip.model import SAME, IndexArray, MipModel, Relaxation
from solvers.mip.portfolio.credit import Kind, Source
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.incumbents import Pool, Submit
from solvers.mip.submip import SubMip, SubMipResult, solve_submip

# Which neighbourhood to search next, and how large: by what each has gained per second so far.
#
# An arm is a neighbourhood in one of two sizes, whose share of free columns then adapts: it shrinks
# where time runs out without success and grows where the search ends with a proof. Arms are picked
# by an upper confidence bound (Auer, Cesa-Bianchi, Fischer 2002) on gain per second; old gains
# fade, because what helps at first is not what helps later.


SHRINK, SHRINK_FAST, GROW, GROW_FAST = 0.7, 0.5, 1.3, 2.0
"""Factors of the free share: after running out of time without a better point, the same before the
root node was through, after a proof that nothing better is there, and after one in a small part of
the time. In between lies what pays."""

MOST_FREED, NEARLY_NOTHING = 0.5, 0.05
"""Part of the fixed columns that stays fixed at least when a neighbourhood grows, and the share of
all columns up to which none does: a step from three fifths to everything is a leap in the dark."""

FORGIVING = 1.3
"""Factor of the share that has failed, each time that a smaller one is proven to hold nothing."""

AMBITION, LEAST_AMBITION = 0.02, 1e-3
"""Part of the gap that an arm's next point has to close at first; it is halved whenever that was
too much, down to the second, below which any better point will do."""

PATIENCE, MOST_PATIENCE = 1.5, 8.0
"""Factor of an arm's time after running out of it at its smallest size, and its limit."""


@dataclass(eq=False)
class Arm:
    """A neighbourhood in one size; changed by :class:`Bandit` only.

    ``free`` is the share of columns left free, ``patience`` multiplies the time of its searches;
    ``gain`` and ``effort`` fade, ``spent`` is all the effort there was; ``failed`` is the share of
    the last search that ran out of time without a better point, and ``proven_at`` the version of
    the pool of which the last proof was.
    """

    name: str
    size: int
    free: float
    patience: float = 1.0
    plays: int = 0
    pending: int = 0
    gain: float = 0.0
    effort: float = 0.0
    spent: float = 0.0
    failed: float = np.inf
    proven_at: int = -1
    ambition: float = AMBITION

    @property
    def rate(self) -> float:
        """Share of columns to fix."""
        return 1.0 - self.free


@dataclass(frozen=True)
class Play:
    """What came of one search.

    Parameters
    ----------
    gain : float
        Relative improvement of the best objective, at most 1.
    effort : float
        Seconds, or units of work where time has no say.
    proven : bool
        Whether the neighbourhood holds nothing better any more.
    quick : bool
        Whether that took a small part of the time allowed.
    hopeless : bool
        Whether time ran out at the root node.
    """

    gain: float
    effort: float
    proven: bool
    quick: bool = False
    hopeless: bool = False


def resize(arm: Arm, play: Play, least: float) -> None:
    """Let an arm's next neighbourhood be larger or smaller, and more or less ambitious.

    ``least`` is the smallest free share that says anything.
    """
    if play.gain > 0:
        arm.ambition = min(AMBITION, max(2.0 * arm.ambition, LEAST_AMBITION))
    else:
        arm.ambition = 0.5 * arm.ambition if arm.ambition > LEAST_AMBITION else 0.0
    if play.proven:
        arm.free = _grown(arm, play)
        arm.patience = max(1.0, arm.patience / PATIENCE)
    elif play.gain <= 0:
        arm.failed = arm.free
        if arm.free <= least:
            arm.patience = min(MOST_PATIENCE, arm.patience * PATIENCE)
        arm.free = max(least, arm.free * (SHRINK_FAST if play.hopeless else SHRINK))


def _grown(arm: Arm, play: Play) -> float:
    """Return the free share after a proof."""
    if play.gain > 0:
        return arm.free  # what pays goes on
    factor = GROW_FAST if play.quick else GROW
    fixed = arm.rate * MOST_FREED
    larger = min(arm.free * factor, 1.0 - fixed if fixed > NEARLY_NOTHING else 1.0)
    if arm.free < arm.failed <= larger:
        # what has failed is not tried again at once, but between the two
        larger = float(np.sqrt(arm.free * arm.failed))
        arm.failed *= FORGIVING
    return larger


START_FREE = (0.3, 0.1)
"""Share of free columns that the two sizes of a neighbourhood begin with."""

MOST_FREE_AT_FIRST = 30_000
"""Free columns to begin with, at the most, so that a large model's first sub-MIPs end in time."""

FEWEST_FREE = 5
"""Free columns below which a neighbourhood says nothing."""

FADING = 0.6
"""What remains of an arm's gains and efforts when a new one is counted: five times without success
leave less than a tenth of an early stroke of luck."""

EXPLORATION = 0.5
"""Weight of the confidence term beside gains that are scaled to at most one."""

PRIOR = 0.7
"""Gain of an arm not tried yet, beside the best arm's one: it comes before a poor arm, but a good
one may go on for a few searches first, which counts where time is short."""

LEAST_TRIED = 1e-3
"""Typical plays that an arm counts at least, however quick its searches were."""


class Bandit:
    """Picks arms and learns from what they gain; safe to share between threads.

    Parameters
    ----------
    names : sequence of str
        The neighbourhoods, most promising first.
    columns : int
        Columns that they may free.
    """

    def __init__(self, names: Sequence[str], columns: int) -> None:
        most = min(1.0, MOST_FREE_AT_FIRST / max(1, columns))
        self._least = min(1.0, FEWEST_FREE / max(1, columns))
        self._arms = [
            Arm(name, size, max(self._least, min(free, most * 0.5**size)))
            for size, free in enumerate(START_FREE)
            for name in names
        ]
        self._lock = threading.Lock()

    @property
    def arms(self) -> tuple[Arm, ...]:
        """All arms, in the order in which they are first tried."""
        return tuple(self._arms)

    def pick(self, without: set[int] | None = None) -> int | None:
        """Return the number of the arm to play, which counts as under way; None if all are out.

        ``without`` holds the numbers of arms that cannot be played now.
        """
        with self._lock:
            playable = [k for k in range(len(self._arms)) if not without or k not in without]
            if not playable:
                return None
            chosen = max(playable, key=self._score)
            self._arms[chosen].pending += 1
            return chosen

    def put_back(self, number: int) -> None:
        """Take a pick back: the arm could not be played."""
        with self._lock:
            self._arms[number].pending -= 1

    def record(self, number: int, play: Play, free: float = 1.0, version: int = 0) -> None:
        """Learn from a search that ended.

        Parameters
        ----------
        number : int
            The arm.
        free : float
            Share of columns that was free, where that was less than the arm's.
        version : int
            Of the pool from which the neighbourhood was made.
        """
        with self._lock:
            arm = self._arms[number]
            arm.pending -= 1
            arm.plays += 1
            # the root keeps a first large step from outweighing all the small ones to come
            arm.gain = FADING * arm.gain + float(np.sqrt(play.gain))
            arm.effort = FADING * arm.effort + play.effort
            arm.spent += play.effort
            arm.free = max(self._least, min(arm.free, free))
            if play.proven:
                arm.proven_at = version
            resize(arm, play, self._least)
            self._tell_sizes(arm)

    def _tell_sizes(self, played: Arm) -> None:
        """Let the other sizes of a neighbourhood begin with what this one has learned."""
        for arm in self._arms:
            if arm.name == played.name and not arm.plays:
                share = START_FREE[arm.size] / START_FREE[played.size]
                arm.free = min(1.0, max(self._least, share * played.free))

    def _score(self, number: int) -> tuple[float, int]:
        """Return what the highest is picked by; ties go to the arm that comes first."""
        arm = self._arms[number]
        plays = sum(one.plays for one in self._arms)
        typical = sum(one.spent for one in self._arms) / plays if plays else 1.0
        # effort in typical plays, so that an arm whose searches end at once is soon tried again
        tried = arm.spent / typical + arm.pending
        best = max(_pace(one) for one in self._arms)
        if arm.plays + arm.pending:
            mean = _pace(arm) / best if best > 0 else 0.0
        else:
            mean, tried = PRIOR, 1.0
        doubt = np.sqrt(np.log(2.0 + plays) / max(tried, LEAST_TRIED))
        return mean + EXPLORATION * float(doubt), -number


def _pace(arm: Arm) -> float:
    return arm.gain / arm.effort if arm.effort > 0 else 0.0


# The loop.


SHARE_OF_TURN = 0.35
"""Part of a turn that one sub-MIP may take. Turns get longer as the solve goes on: sub-MIPs have a
second at first and five after five minutes."""

LEAST_SECONDS, MOST_SECONDS = 1.0, 20.0
"""What a sub-MIP gets at least and at most."""

WORK_UNIT = 1e6
"""Entries visited that count like a second where time has no say."""

QUICK_SHARE = 0.2
"""A search that ends within this part of its time was too small."""


class Searcher:
    """What one search keeps from sub-MIP to sub-MIP."""

    def __init__(
        self,
        model: MipModel,
        pool: Pool,
        submit: Submit,
        budget: Budget,
        bandit: Bandit,
        implied: IndexArray | None,
    ) -> None:
        self.model = model
        self.pool = pool
        self.submit = submit
        self.budget = budget
        self.bandit = bandit
        self._implied = np.empty(0, dtype=np.int32) if implied is None else implied
        self._step = model.objective_step
        self._decidable = Situation(model, implied=self._implied).decidable
        self._table: dict[str, Neighbourhood] = {one.name: one for one in CATALOGUE}

    def situation(self, relaxation: Relaxation | None) -> Situation:
        """Look at what is known now."""
        points = self.pool.points()
        objective = points[0].objective if points else np.inf
        cutoff = cutoff_below(objective, self._step)
        return Situation(self.model, points, relaxation, cutoff, self._implied)

    def make(self, number: int, situation: Situation, rng: np.random.Generator) -> SubMip | None:
        """Build an arm's neighbourhood, if the situation has what it needs."""
        arm = self.bandit.arms[number]
        one = self._table[arm.name]
        is_new = arm.proven_at < self.pool.version
        situation = replace(situation, keeps_agreement=is_new, cutoff=_ambitious(situation, arm))
        return one.make(situation, rng, arm.rate)

    def seconds(self, number: int, turn: float) -> float:
        """Return the time of an arm's sub-MIP in a turn of so many seconds."""
        seconds = self.bandit.arms[number].patience * max(LEAST_SECONDS, SHARE_OF_TURN * turn)
        return min(seconds, MOST_SECONDS)

    def play(self, number: int, sub: SubMip, seed: int, seconds: float) -> SubMipResult:
        """Search a neighbourhood and let the bandit learn from it."""
        arm = self.bandit.arms[number]
        before, version = self.pool.objective, self.pool.version
        result = solve_submip(
            self.model,
            sub,
            self.submit,
            self.budget,
            seconds=seconds,
            source=Source(arm.name, Kind.NEIGHBOURHOODS),
            seed=seed,
        )
        gain = _gain(before, min(self.pool.objective, before)) if result.improved else 0.0
        timed = self.budget.is_timed
        play = Play(
            gain=gain,
            effort=max(SAME, result.seconds if timed else result.work / WORK_UNIT),
            proven=result.status.is_proven,
            quick=not timed or result.seconds < QUICK_SHARE * seconds,
            hopeless=not result.status.is_proven and not result.nodes,
        )
        self.bandit.record(number, play, self._free_share(sub), version)
        return result

    def is_whole(self, sub: SubMip) -> bool:
        """Whether a neighbourhood leaves nothing of the model out."""
        lower, upper = self.model.lower, self.model.upper
        return np.array_equal(sub.lower, lower) and np.array_equal(sub.upper, upper)

    def _free_share(self, sub: SubMip) -> float:
        """Return the share of the columns that may be fixed which a neighbourhood leaves free."""
        open_ones = self._decidable
        if not open_ones.size:
            return 1.0
        return float(np.mean(sub.lower[open_ones] < sub.upper[open_ones]))


def _ambitious(situation: Situation, arm: Arm) -> float:
    """Return the objective to reach: better by a part of the way to the relaxation's."""
    if not situation.points or situation.relaxation is None:
        return situation.cutoff
    best = situation.points[0].objective
    way = max(0.0, best - situation.relaxation.objective)
    return min(situation.cutoff, best - arm.ambition * way)


def _gain(before: float, after: float) -> float:
    """Return the relative improvement, 1 for a first point."""
    if not np.isfinite(before):
        return 1.0 if np.isfinite(after) else 0.0
    return min(1.0, (before - after) / max(abs(before), abs(after), SAME))


WORTHWHILE = 0.6
"""Part of its time that has to be left of the turn for another sub-MIP to begin: what is cut short
within HiGHS's first rounds of cuts was for nothing."""

LEAST_WORK_LEFT = 0.5
"""Part of a turn's work that has to be left for another sub-MIP where no clock counts: what the
rest of a turn allows says nothing of how large neighbourhoods should be."""


def make_bandit(model: MipModel) -> Bandit:
    """Return a bandit over all neighbourhoods of a model, to be shared by its searches."""
    integers = model.integers
    wide = int(np.count_nonzero(model.lower[integers] < model.upper[integers]))
    return Bandit([one.name for one in CATALOGUE], wide)


def search_neighbourhoods(
    model: MipModel,
    pool: Pool,
    submit: Submit,
    budget: Budget,
    seed: int,
    *,
    bandit: Bandit | None = None,
    relaxation: Callable[[], Relaxation | None] = lambda: None,
    implied: IndexArray | None = None,
) -> None:
    """Solve sub-MIPs around the pool's points until the budget is spent, or all is searched.

    Parameters
    ----------
    pool : Pool
        Where points come from; it may be empty.
    submit : Submit
        Where points go to.
    budget : Budget
        Without a time limit, sub-MIPs end by their nodes, gains are counted per unit of work, and
        the search ends when no neighbourhood can be made.
    bandit : Bandit, optional
        Shared by searches that run side by side; made here without one.
    relaxation : callable
        Asked before every sub-MIP for the relaxation's point, which may come late.
    implied : (d,) int32, optional
        Columns that equations define by others, which no neighbourhood fixes.
    """
    shared = make_bandit(model) if bandit is None else bandit
    search = Searcher(model, pool, submit, budget, shared, implied)
    rng = np.random.default_rng(seed)
    out: set[int] = set()
    known: tuple[int, int, bool] | None = None
    length, work = budget.seconds_left, budget.work_left
    began = False
    while not budget.spent():
        situation = search.situation(relaxation())
        now = pool.version, len(situation.points), situation.relaxation is not None
        if now != known:
            known, out = now, set()
        number = search.bandit.pick(out)
        if number is None:
            if not budget.is_timed:
                break
            time.sleep(LOOK_AGAIN)
            out = set()
            continue
        seconds = search.seconds(number, length)
        is_short = budget.seconds_left < WORTHWHILE * seconds
        if began and (is_short or budget.work_left < LEAST_WORK_LEFT * work):
            search.bandit.put_back(number)
            break
        sub = search.make(number, situation, rng)
        if sub is None:
            search.bandit.put_back(number)
            out.add(number)
            continue
        unfixed = search.bandit.arms[number].free >= 1.0
        result = search.play(number, sub, int(rng.integers(2**31 - 1)), seconds)
        began = True
        nothing_better = result.status.is_proven and sub.cutoff >= situation.cutoff
        if nothing_better and search.is_whole(sub):
            return
        if nothing_better and unfixed:
            out.add(number)  # it would be the same again, until there is another point


class Neighbourhoods(Heuristic[HeuristicContext, HeuristicContext]):
    """Large-neighbourhood search; all turns share one bandit, which chooses what to search."""

    name = "neighbourhood"
    needs = Needs(relaxation=True, pool_size=1)

    def run(self, state: HeuristicContext, budget: Budget, seed: int) -> Report:
        """Search one neighbourhood after the other."""
        search_neighbourhoods(
            state.model,
            state.acceptance.pool,
            state.submit,
            budget,
            seed,
            bandit=state.once(make_bandit, lambda: make_bandit(state.model)),
            relaxation=lambda: state.relaxation,
            implied=state.implied,
        )
        return UNFINISHED
