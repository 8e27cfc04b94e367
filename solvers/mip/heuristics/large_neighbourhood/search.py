"""The loop of large-neighbourhood search: pick a neighbourhood, build its sub-MIP, solve, learn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from solvers.core.progress import LOOK_AGAIN
from solvers.mip.budget import Budget
from solvers.mip.heuristics.large_neighbourhood.bandit import Arm, Bandit, Play
from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import (
    CATALOGUE,
    Neighbourhood,
    Situation,
    cutoff_below,
)
from solvers.mip.model import SAME, IndexArray, MipModel, Relaxation, Submit
from solvers.mip.portfolio.credit import Kind, Source
from solvers.mip.portfolio.heuristic import UNFINISHED, Heuristic, HeuristicContext, Needs, Report
from solvers.mip.solutions.incumbents import Pool
from solvers.mip.submip import SubMip, SubMipResult, solve_submip

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
        best = self.pool.best
        cutoff = cutoff_below(np.inf if best is None else best.objective, self._step)
        return Situation(self.model, best, relaxation, cutoff, self._implied)

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
    if situation.best is None or situation.relaxation is None:
        return situation.cutoff
    best = situation.best.objective
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
    """Solve sub-MIPs around the pool's best point until the budget is spent, or all is searched.

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
    known: tuple[int, bool] | None = None
    length, work = budget.seconds_left, budget.work_left
    began = False
    while not budget.spent():
        situation = search.situation(relaxation())
        now = pool.version, situation.relaxation is not None
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
