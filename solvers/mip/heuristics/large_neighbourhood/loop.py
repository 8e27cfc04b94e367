"""The loop of large-neighbourhood search: pick, build, solve, learn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.large_neighbourhood.arms import Tally
from solvers.mip.heuristics.large_neighbourhood.bandit import Bandit
from solvers.mip.heuristics.large_neighbourhood.catalogue import CATALOGUE
from solvers.mip.heuristics.large_neighbourhood.searcher import Searcher
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.relaxation import Relaxation
from solvers.mip.solutions.pool import Pool, Submit

WORTHWHILE = 0.6
"""Part of its time that has to be left of the turn for another sub-MIP to begin: what is cut short
within HiGHS's first rounds of cuts was for nothing."""

LEAST_WORK_LEFT = 0.5
"""Part of a turn's work that has to be left for another sub-MIP where no clock counts: what the
rest of a turn allows says nothing of how large neighbourhoods should be."""

PAUSE = 0.05
"""Seconds to wait when no neighbourhood can be made yet."""


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
    submit: Submit,
    budget: Budget,
    seed: int,
    *,
    bandit: Bandit | None = None,
    relaxation: Callable[[], Relaxation | None] = lambda: None,
    infeasible_point: Callable[[], FloatArray | None] = lambda: None,
    slot: int = 0,
    in_child: bool = False,
    log: Callable[[str], None] | None = None,
    implied: IndexArray | None = None,
) -> Counts:
    """Solve sub-MIPs around the pool's points until the budget is spent.

    Parameters
    ----------
    model : MipModel
    pool : Pool
        Where points come from; it may be empty.
    submit : Submit
        Where points go to.
    budget : Budget
        Without a time limit, sub-MIPs end by their nodes, gains are counted per unit of work, and
        the search ends when no neighbourhood can be made.
    seed : int
    bandit : Bandit, optional
        HeuristicContext by searches that run side by side; made here without one.
    relaxation : callable
        Asked before every sub-MIP for the relaxation's point, which may come late.
    infeasible_point : callable
        Asked for the least-violated point while the pool is empty.
    slot : int
        Number of this search among those side by side.
    in_child : bool
        Solve small sub-MIPs in child processes, too: for callers whose other threads are busy in
        Python, for which HiGHS would have to wait at every iteration.
    log : callable, optional
        Told of every sub-MIP in a line.
    implied : (d,) int32, optional
        Columns that equations define by others, which no neighbourhood fixes.
    """
    shared = make_bandit(model) if bandit is None else bandit
    search = Searcher(model, pool, submit, budget, shared, in_child, implied)
    rng = np.random.default_rng([seed, slot])
    out: set[int] = set()
    known: tuple[int, int, bool] | None = None
    length, work = budget.seconds_left, budget.work_left
    began = False
    while not budget.spent():
        situation = search.situation(relaxation(), infeasible_point())
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
        result = search.play(number, sub, int(rng.integers(2**31 - 1)), log, seconds)
        began = True
        nothing_better = result.status.is_proven and sub.cutoff >= situation.cutoff
        if nothing_better and search.is_whole(sub):
            return Counts(search.bandit.tallies, is_exhausted=True)
        if nothing_better and unfixed:
            out.add(number)  # it would be the same again, until there is another point
    return Counts(search.bandit.tallies)
