"""What a thread runs: a walker in slices, with changes of style, restarts and submissions.

A round is one walk from one start, until it has gone too long without a better point. The next
round starts from the best points known, from the least violated one, or afresh, perturbed, and
with another style, so that threads side by side and rounds after each other differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.budget import SLICE, Budget
from solvers.mip.heuristics.local_search.cpu.layout import (
    BALANCED,
    FAST,
    JUMP,
    V1,
    V2,
    Origin,
    WalkerSettings,
    drawn,
)
from solvers.mip.heuristics.local_search.cpu.walker import Report, Walker
from solvers.mip.model import FEASIBILITY_TOLERANCE, MipModel, ShowInfeasible, Submit
from solvers.mip.portfolio.credit import WALKS
from solvers.mip.solutions.incumbents import Pool, is_nearly_feasible

Place = Callable[[int], "FloatArray | None"]
"""Returns where a round starts, NaN where nothing is known, or None."""

STYLES = (BALANCED, JUMP, FAST, V2, BALANCED, JUMP, V1)
"""Settings by turns, of which every round draws its own. Of fifteen walks of 100 million entries on
mipcc26-18, mipcc26-28, traininstance2, neos-3656078-kumeu and tbfp-network, with three seeds each,
eleven found a first point that began with BALANCED, eleven with V2 (not the same ones), eight with
FAST and two with JUMP, which on rococoB10-011000 improves points the most if it comes second."""

APART = 3
"""Places between the first styles of walks side by side: BALANCED, V2, V1, FAST, and JUMP last."""

ORIGINS: tuple[Origin, ...] = ("zero", "objective", "zero", "random")
"""Where rounds start that start afresh, by turns."""

LONGEST_SLICE = 16
"""Slices taken together while point after point is found, so that fewer are submitted."""

FIRST_NEAR = 8
"""Slices of a walk before an infeasible point is submitted; twice as many before the next."""

PERTURBATIONS = (0.0, 0.002, 0.01, 0.05)
"""Parts of the integer columns changed at a restart from a known point. A small part
keeps more of what thousands of steps have settled."""

FRESH_CHANCE, HOPELESS_CHANCE = 0.15, 0.4
"""Chances that a round starts afresh: with a feasible point to go on from, and without."""

ELITE_CHANCE = 0.3
"""Chance that a round takes any point of the pool, not the best."""

KEPT_WEIGHTS = 0.5
"""Part of the weights kept over a restart from a known point: they say what is hard."""


@dataclass
class Counts:
    """What a walk came to: rounds, slices, moves, entries visited, points found and submitted."""

    rounds: int = 0
    slices: int = 0
    moves: int = 0
    work: int = 0
    found: int = 0
    infeasible_points: int = 0
    fewest_violated: int = -1


def walk(
    model: MipModel,
    submit: Submit,
    budget: Budget,
    seed: int,
    *,
    pool: Pool | None = None,
    start: FloatArray | None = None,
    show_infeasible: ShowInfeasible | None = None,
) -> Counts:
    """Search until the budget is spent, or a point is found and no objective is left to improve.

    Parameters
    ----------
    submit : callable
        Gets every feasible point that beats all before, and now and then a nearly feasible one
        whose violated rows have continuous columns, for the LP behind it to complete.
    budget : Budget
        Asked after every slice.
    seed : int
        Also chooses the first style, so that threads differ.
    pool : Pool, optional
        Its best objective is what points have to beat; rounds start from its points.
    start : (n,) array, optional
        Where the first round starts; NaN where nothing is known.
    show_infeasible : callable, optional
        Gets the least violated point of rounds that found none.

    Returns
    -------
    Counts
    """
    places = None if start is None else [start]

    def first_place(number: int) -> FloatArray | None:
        return places.pop() if places else None

    return Walk(
        model,
        submit,
        seed,
        pool=pool,
        place=first_place,
        show_infeasible=show_infeasible,
    ).run(budget)


class Walk:
    """A walk that goes on where its last turn ended; for one thread at a time.

    The parameters are those of :func:`walk`, but for two. ``place`` is asked, with a number that
    rises, where a round is to start that starts afresh; None for a start of the walk's own.
    ``turn`` is the place of the first style, by default the seed: a walk alone had better begin
    with the first style of all, which finds a first point more often than any other.
    """

    def __init__(
        self,
        model: MipModel,
        submit: Submit,
        seed: int,
        *,
        pool: Pool | None = None,
        place: Place | None = None,
        show_infeasible: ShowInfeasible | None = None,
        turn: int | None = None,
    ) -> None:
        self._model = model
        self._submit = submit
        self._budget = Budget(work=0.0)
        self._pool = pool
        self._place = place
        self._show_infeasible = show_infeasible
        self._round_is_over = True
        self._slices = 0
        self._next_infeasible = FIRST_NEAR
        self.is_done = False
        self._rng = np.random.default_rng(seed)
        self._turn = seed if turn is None else turn
        self._walker = Walker(model, self._next_settings(), seed)
        self._best: FloatArray | None = None
        self._objective = np.inf
        self._open_rows = _rows_with_continuous(model)
        self.counts = Counts()

    def run(self, budget: Budget) -> Counts:
        """Walk round after round until the budget is spent; return all counts so far."""
        self._budget = budget
        while not self.is_done and not budget.spent():
            if self._round_is_over:
                self._begin_round()
            self.is_done = self._round()
        return self.counts

    def _begin_round(self) -> None:
        walker, rng = self._walker, self._rng
        first = self.counts.rounds == 0
        self.counts.rounds += 1
        self._round_is_over, self._slices, self._next_infeasible = False, 0, FIRST_NEAR
        if first:
            self._start_afresh(first=True)
            return
        walker.settings = self._next_settings()
        known = self._known_point()
        chance = HOPELESS_CHANCE if np.isinf(self._cutoff()) else FRESH_CHANCE
        if rng.random() < chance:
            self._start_afresh()
        else:
            walker.start(known, weights=KEPT_WEIGHTS, perturbation=float(rng.choice(PERTURBATIONS)))

    def _start_afresh(self, *, first: bool = False) -> None:
        place = None if self._place is None else self._place(self.counts.rounds - 1)
        if place is not None:
            self._walker.start(place)
        elif not first:  # where a new walker is anyway
            self._walker.start()

    def _next_settings(self) -> WalkerSettings:
        settings = drawn(STYLES[self._turn % len(STYLES)], self._rng)
        origin = ORIGINS[self._turn // len(STYLES) % len(ORIGINS)]
        self._turn += 1
        return replace(settings, origin=origin)

    def _cutoff(self) -> float:
        """Return the objective to beat, inf without a point."""
        return min(self._objective, np.inf if self._pool is None else self._pool.objective)

    def _known_point(self) -> FloatArray:
        """Return the point from which to go on: a feasible one, or the least violated."""
        points = self._pool.points() if self._pool is not None else ()
        if points:
            place = 0
            if self._rng.random() < ELITE_CHANCE:
                place = int(self._rng.integers(len(points)))
            if place or points[0].objective < self._objective:
                return points[place].x
        if self._best is not None:
            return self._best
        return self._walker.least_violated[0]

    def _round(self) -> bool:
        """Walk from one start; return whether nothing is left to do."""
        length = 1
        while not self._budget.spent():
            work = int(min(length * SLICE, max(1.0, self._budget.work_left)))
            report = self._walker.run(work, self._cutoff())
            self._count(report)
            self._slices += length
            if report.x is not None:
                self._take(report, report.x)
                length = min(2 * length, LONGEST_SLICE)
                if report.done:
                    return True
                continue
            length = 1
            if self._best is None and self._slices >= self._next_infeasible:
                self._next_infeasible = 2 * self._slices
                self._submit_infeasible()
            if report.stale:
                self._round_is_over = True
                break
        return False

    def _count(self, report: Report) -> None:
        counts = self.counts
        self._budget.charge(report.work)
        counts.slices += 1
        counts.moves += report.moves
        counts.work += report.work
        if report.violated <= self._model.num_rows:
            fewest = counts.fewest_violated
            counts.fewest_violated = report.violated if fewest < 0 else min(fewest, report.violated)

    def _take(self, report: Report, x: FloatArray) -> None:
        """Submit a feasible point, and go on from where the LP behind it has taken it."""
        self.counts.found += 1
        self._best, self._objective = x, report.objective
        self._submit(x, WALKS)
        best = self._pool.best if self._pool is not None else None
        if best is not None and best.objective < report.objective:
            self._best, self._objective = best.x, best.objective
            self._walker.start(best.x, weights=1.0)

    def _submit_infeasible(self) -> None:
        """Hand out the least violated point, to the LP where it may complete it."""
        x, violated = self._walker.least_violated
        if violated == 0:
            return
        point = self._model.rounded(x)
        if self._show_infeasible is not None:
            self._show_infeasible(point, violated)
        if not is_nearly_feasible(violated, self._model.num_rows):
            return
        if self._open_rows[self._model.outside(point) > FEASIBILITY_TOLERANCE].all():
            self.counts.infeasible_points += 1
            self._submit(point, WALKS)


def _rows_with_continuous(model: MipModel) -> BoolArray:
    """Return which rows (m,) have a continuous column that is not fixed."""
    free = (model.is_integer == 0) & (model.lower < model.upper)
    return np.asarray(model.rows.count(free[model.rows.indices]) > 0)
