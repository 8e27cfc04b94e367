"""One step of large-neighbourhood search: what is known, a neighbourhood of it, and its sub-MIP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.large_neighbourhood.arms import Arm, Play
from solvers.mip.heuristics.large_neighbourhood.bandit import Bandit
from solvers.mip.heuristics.large_neighbourhood.catalogue import CATALOGUE, Neighbourhood
from solvers.mip.heuristics.large_neighbourhood.cutoff import cutoff_below, objective_step
from solvers.mip.heuristics.large_neighbourhood.situation import Situation
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.relaxation import Relaxation
from solvers.mip.solutions.pool import Pool, Submit
from solvers.mip.submip import Limits, SubMip, SubMipResult, solve_submip

SHARE_OF_TURN = 0.35
"""Part of a turn that one sub-MIP may take. Turns get longer as the solve goes on: sub-MIPs have a
second at first and five after five minutes."""

LEAST_SECONDS, MOST_SECONDS = 1.0, 20.0
"""What a sub-MIP gets at least and at most."""

WORK_UNIT = 1e6
"""Entries visited that count like a second where time has no say."""

QUICK_SHARE = 0.2
"""A search that ends within this part of its time was too small."""

TINY = 1e-9
"""Keeps divisions by objectives and efforts from failing."""


class Searcher:
    """What one search keeps from sub-MIP to sub-MIP."""

    def __init__(
        self,
        model: MipModel,
        pool: Pool,
        submit: Submit,
        budget: Budget,
        bandit: Bandit,
        in_child: bool,
        implied: IndexArray | None,
    ) -> None:
        self.model = model
        self.pool = pool
        self.submit = submit
        self.budget = budget
        self.bandit = bandit
        self._in_child = in_child
        self._implied = np.empty(0, dtype=np.int32) if implied is None else implied
        self._step = objective_step(model)
        self._decidable = Situation(model, implied=self._implied).decidable
        self._table: dict[str, Neighbourhood] = {one.name: one for one in CATALOGUE}
        self._mended: FloatArray | None = None

    def situation(
        self, relaxation: Relaxation | None, infeasible_point: FloatArray | None
    ) -> Situation:
        """Look at what is known now."""
        points = self.pool.points()
        objective = points[0].objective if points else np.inf
        cutoff = cutoff_below(objective, self._step)
        infeasible_point = self._less_violated(infeasible_point)
        return Situation(self.model, points, relaxation, infeasible_point, cutoff, self._implied)

    def make(self, number: int, situation: Situation, rng: np.random.Generator) -> SubMip | None:
        """Build an arm's neighbourhood, if the situation has what it needs."""
        arm = self.bandit.arms[number]
        one = self._table[arm.name]
        is_new = arm.proven_at < (0 if one.needs_no_point else self.pool.version)
        situation = replace(situation, keeps_agreement=is_new, cutoff=_ambitious(situation, arm))
        return one.make(situation, rng, arm.rate)

    def seconds(self, number: int, turn: float) -> float:
        """Return the time of an arm's sub-MIP in a turn of so many seconds."""
        seconds = self.bandit.arms[number].patience * max(LEAST_SECONDS, SHARE_OF_TURN * turn)
        return min(seconds, MOST_SECONDS)

    def play(
        self,
        number: int,
        sub: SubMip,
        seed: int,
        log: Callable[[str], None] | None,
        seconds: float,
    ) -> SubMipResult:
        """Search a neighbourhood and let the bandit learn from it."""
        arm = self.bandit.arms[number]
        before, rate, version = self.pool.objective, arm.rate, self.pool.version
        result = solve_submip(
            self.model,
            sub,
            self.submit,
            self.budget,
            seconds=seconds,
            limits=Limits(solutions=self._table[arm.name].solutions),
            source=arm.name,
            seed=seed,
            in_child=self._in_child,
        )
        gain = _gain(before, min(self.pool.objective, before)) if result.improved else 0.0
        timed = self.budget.is_timed
        play = Play(
            gain=gain,
            effort=max(TINY, result.seconds if timed else result.work / WORK_UNIT),
            proven=result.status.is_proven,
            quick=not timed or result.seconds < QUICK_SHARE * seconds,
            hopeless=not result.status.is_proven and not result.nodes,
        )
        self.bandit.record(number, play, self._free_share(sub), version)
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

    def _free_share(self, sub: SubMip) -> float:
        """Return the share of the columns that may be fixed which a neighbourhood leaves free."""
        open_ones = self._decidable
        if not open_ones.size:
            return 1.0
        return float(np.mean(sub.lower[open_ones] < sub.upper[open_ones]))

    def _less_violated(self, infeasible_point: FloatArray | None) -> FloatArray | None:
        """Return the given point or the one that a repair has led to."""
        if infeasible_point is None or self._mended is None:
            return self._mended if infeasible_point is None else infeasible_point
        given, mended = (_violation(self.model, x) for x in (infeasible_point, self._mended))
        return infeasible_point if given < mended else self._mended

    def _learn_point(self, sub: SubMip, result: SubMipResult) -> None:
        """Keep the less violated point of a repair to go on from there."""
        if sub.elastic.size and result.x is not None:
            self._mended = result.x


def _ambitious(situation: Situation, arm: Arm) -> float:
    """Return the objective to reach: better by a part of the way to the relaxation's."""
    if not situation.points or situation.relaxation is None:
        return situation.cutoff
    best = situation.points[0].objective
    way = max(0.0, best - situation.relaxation.objective)
    return min(situation.cutoff, best - arm.ambition * way)


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
