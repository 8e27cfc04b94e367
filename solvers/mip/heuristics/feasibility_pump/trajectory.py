"""One pump's way: what it asks to be projected, and what it makes of the answer.

The loop is that of arXiv 2510.20499, section 2.5 and appendix 2. Project the rounded point on the
relaxation; if the projection is integral, it is a solution; round it, every integer anew; look
for a solution near the rounded point by local search for a fifth of the time, and throw away what
that found unless it is one; leave circles by a long local search or by force; and let the
objective's share of the projection fall.

Projecting is left to the caller, so that one pump and several in lockstep are the same code.

A circle is the same rounded point again, or no progress for long. A pump leaves it by changing the
rounded point by force (Fischetti, Glover and Lodi 2005).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.heuristics.feasibility_pump.projection import Augmented
from solvers.mip.heuristics.feasibility_pump.steps import (
    ACCEPTED,
    Counts,
    Neighbourhood,
    Proposals,
    Rounder,
    Roundings,
    Target,
)
from solvers.mip.inference.relaxation import TOLERANCE, LpPoint, Request, Root
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import Pool, Submit

REMEMBERED = 30
"""Rounded points that are compared with the present one (arXiv 2510.20499)."""

WINDOW = 70
"""Distances whose mean the present one is compared with (ibid.)."""

IMPROVEMENT = 0.9
"""Part of that mean that the distance has to fall below (ibid.: by more than a tenth)."""

SAME_ALPHA = 0.005
"""Shares of the objective nearer than this count as the same: with another objective, the same
rounded point may lead elsewhere (Achterberg and Berthold 2007)."""


class Cycle(Enum):
    """What kind of circle it is."""

    NONE = "no circle"
    STUCK = "the rounded point did not change"
    REPEAT = "an earlier rounded point came back"
    STALL = "the distance does not fall any more"


class Cycles:
    """The memory that tells circles."""

    def __init__(self) -> None:
        self._points: deque[tuple[int, float]] = deque(maxlen=REMEMBERED)
        self._distances: deque[float] = deque(maxlen=WINDOW)

    def note(self, rounded: FloatArray, alpha: float, distance: float) -> Cycle:
        """Take the point down that a projection was rounded to, and say what it means.

        Parameters
        ----------
        rounded : (k,) float64
            Values of the columns that count.
        alpha : float
            Share of the objective in the projection.
        distance : float
            Of the projection from the point it started from.
        """
        key = hash((rounded + 0.0).tobytes())  # without the sign of zeros
        alike = [other == key and abs(alpha - then) <= SAME_ALPHA for other, then in self._points]
        stuck, repeated = bool(alike) and alike[-1], any(alike)
        full = len(self._distances) == WINDOW
        stalled = full and distance > IMPROVEMENT * sum(self._distances) / WINDOW
        self._points.append((key, alpha))
        self._distances.append(distance)
        if stuck:
            return Cycle.STUCK
        if repeated:
            return Cycle.REPEAT
        return Cycle.STALL if stalled else Cycle.NONE

    def forget_distances(self) -> None:
        """Begin anew to watch the distance, after the point was changed by force."""
        self._distances.clear()

    def forget(self) -> None:
        """Begin anew."""
        self._points.clear()
        self._distances.clear()


FEWEST, MOST = 10, 30
"""Columns that a small change flips, drawn between these."""

SHIFT_FROM, SHIFT_TO = -0.3, 0.7
"""Range of the number that a large change adds to each column's distance, if positive."""

FLIP_FROM = 0.5
"""Distance from which a large change flips a column."""

SHARE = 0.1
"""Part of the columns that a shaken point has other values of."""


def flipped(
    model: MipModel,
    rounded: FloatArray,
    x: FloatArray,
    columns: IndexArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Move the columns that are farthest from ``x`` by one towards it.

    Parameters
    ----------
    rounded, x : (n,) float64
        The point to change, and its projection.
    columns : (k,) int
        Those that count.
    """
    count = min(int(generator.integers(FEWEST, MOST + 1)), columns.size)
    distance = np.abs(x - rounded)[columns]
    # those as near as each other are taken at random
    order = np.lexsort((generator.random(columns.size), -distance))
    return _moved(model, rounded, x, columns[order[:count]], generator)


def shifted(
    model: MipModel,
    rounded: FloatArray,
    x: FloatArray,
    columns: IndexArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Move each column whose distance, plus a random number if that is positive, passes 1/2."""
    bonus = np.maximum(generator.uniform(SHIFT_FROM, SHIFT_TO, columns.size), 0.0)
    chosen = np.abs(x - rounded)[columns] + bonus > FLIP_FROM
    return _moved(model, rounded, x, columns[chosen], generator)


def shaken(
    model: MipModel, rounded: FloatArray, columns: IndexArray, generator: np.random.Generator
) -> FloatArray:
    """Move a tenth of the columns by one, at random."""
    count = max(1, int(SHARE * columns.size))
    chosen = generator.choice(columns, size=min(count, columns.size), replace=False)
    return _moved(model, rounded, rounded, chosen, generator)


def _moved(
    model: MipModel,
    rounded: FloatArray,
    x: FloatArray,
    columns: IndexArray,
    generator: np.random.Generator,
) -> FloatArray:
    """Move columns by one towards x, or either way where x is no guide, within bounds."""
    moved = rounded.copy()
    value, low, high = rounded[columns], model.lower[columns], model.upper[columns]
    either = np.where(generator.random(columns.size) < 0.5, -1.0, 1.0)
    step = np.where(x[columns] == value, either, np.sign(x[columns] - value))
    step = np.where(value + step > high, -1.0, np.where(value + step < low, 1.0, step))
    moved[columns] = np.clip(value + step, low, high)
    return moved


FIRST_ALPHA = 0.99
"""Share of the objective in the first projection (arXiv 2510.20499)."""

ALPHA_FACTOR = 0.9
"""Factor on that share at each iteration, and once more for each circle (ibid.)."""

LEAST_ALPHA = 1e-3
"""Below this the objective is left out: what remains of it is less than rounding."""

INTEGRAL = 1e-3
"""Distance up to which one integer counts as whole where precision is chosen."""

TOLERANCES = ((0.8, 0.1), (0.93, 0.01), (0.97, 1e-3))
"""Share of integers that are whole, and the relative tolerance of projections below it, which
need not be exact while their points are far from integral (from cuOpt's source)."""

FIRST_STAGE, SECOND_STAGE = 100, 500
"""Iterations with the columns of two values alone, and with all (Bertacco et al. 2007)."""

FIRST_STAGE_SHARE = 1 / 3
"""Part of the budget for the first stage, at the most."""


@dataclass(frozen=True)
class Manner:
    """What makes one pump differ from another on the same model."""

    seed: int = 0
    alpha: float = FIRST_ALPHA
    name: str = "pump"


class Trajectory:
    """A pump between two projections.

    Parameters
    ----------
    augmented : Augmented
    root : Root
    submit : Submit
    manner : Manner
    rounder : Rounder
        The careful one; where it takes too long, points are rounded to the nearest.
    neighbourhood : Neighbourhood
        Looks around rounded points.
    target : Target
        May be shared between pumps.
    pool : Pool, optional
        Points to start again from.
    """

    def __init__(
        self,
        augmented: Augmented,
        root: Root,
        submit: Submit,
        manner: Manner,
        *,
        rounder: Rounder,
        neighbourhood: Neighbourhood,
        target: Target,
        pool: Pool | None = None,
    ) -> None:
        self._augmented = augmented
        self._model = augmented.model
        self._root = root
        self._budget = Budget()
        self._manner = manner
        self._roundings = Roundings(self._model, rounder)
        self._neighbourhood = neighbourhood
        self._target = target
        self._pool = pool
        self._generator = np.random.default_rng(manner.seed)
        self._cycles = Cycles()
        self._stages = _stages(augmented)
        self._stage = 0
        self._in_stage = 0
        self._alpha = manner.alpha
        self._tolerance = TOLERANCES[0][1]
        self._x = root.relaxation.x
        self._rounded = self._x
        self._restarting = True
        self.counts = Counts()
        self._proposals = Proposals(self._model, submit, manner.name, target, self.counts)
        self._has_begun = False
        self.is_over = False

    def resume(self, budget: Budget) -> None:
        """Take the budget of the next turn; the first one begins the way."""
        self._budget = budget
        if not self._has_begun:
            self._has_begun = True
            self._begin()

    def _begin(self) -> None:
        """Round the relaxation's point and look around it, then around zero."""
        self._choose_tolerance(self._stages[0])
        found = self._proposals.try_integral(self._x)
        found |= self._round_and_look(0.0)
        if not found and self._neighbourhood.is_there:
            zero = self._model.rounded(np.zeros(self._model.num_columns))
            self._look_from(zero, self._neighbourhood.around(zero, self._budget))
        self._check_end()

    def request(self) -> Request:
        """Return the next projection."""
        augmented, active = self._augmented, self._stages[self._stage]
        alpha = self._alpha if self._alpha >= LEAST_ALPHA else 0.0
        asked = augmented.projection(self._rounded, active, alpha, self._target.cutoff)
        x, y = None, None
        if self._restarting:
            x, y = augmented.start(
                self._root.relaxation.x,
                self._root.row_dual,
                self._rounded,
                augmented.objective_scale(active, alpha),
            )
            self._restarting = False
        return replace(asked, tolerance=self._tolerance, x=x, y=y)

    def receive(self, projection: LpPoint, effort: float) -> None:
        """Go on from a projection that took so many seconds, or so much work."""
        counts = self.counts
        counts.projections += 1
        counts.converged += projection.is_converged
        if projection.is_empty:
            self.is_over = True  # nothing is better than the cut-off, or nothing is there at all
            return
        model, active = self._model, self._stages[self._stage]
        self._x = x = projection.x[: model.num_columns]
        distance = float(np.sum(np.abs(x - self._rounded)[active]))
        self._choose_tolerance(active)
        self._in_stage += 1
        found = self._proposals.try_integral(x)
        arrived = distance < ACCEPTED and self._stage + 1 < len(self._stages)
        alpha = self._alpha
        found |= self._round_and_look(effort)
        self._alpha *= ALPHA_FACTOR
        if found:
            self._cycles.forget()
        elif not arrived:
            self._leave_circles(alpha, distance)
        self._change_stage(arrived)
        self._check_end()

    def _check_end(self) -> None:
        self.is_over |= self._target.is_out_of_reach

    def _choose_tolerance(self, active: BoolArray) -> None:
        values = self._x[active]
        whole = np.count_nonzero(np.abs(values - np.round(values)) <= INTEGRAL)
        share = whole / max(1, values.size)
        steps = [tolerance for least, tolerance in TOLERANCES if share < least]
        self._tolerance = steps[0] if steps else TOLERANCE

    def _round_and_look(self, effort: float) -> bool:
        """Round the projection, look around, and submit what may be a solution."""
        budget, counts = self._budget, self.counts
        seed = int(self._generator.integers(2**31))
        rounded, effort = self._roundings.round(self._x, budget, seed, effort)
        self._rounded = rounded.x
        counts.consistent += rounded.is_consistent
        found = self._proposals.try_rounded(rounded.x, rounded.is_consistent)
        if found or not self._neighbourhood.is_there:
            return found
        self._neighbourhood.account(effort)
        near = self._neighbourhood.near(rounded.x, budget, effort)
        return self._look_from(rounded.x, near, keep=True)

    def _look_from(
        self, start: FloatArray, seen: tuple[FloatArray, bool], keep: bool = False
    ) -> bool:
        """Take what local search found: a solution, or else where to go on unless ``keep``."""
        point, is_solution = seen
        self.counts.searches += 1
        if is_solution:
            return self._proposals.propose(point, "search")
        if not keep:
            self._rounded = self._model.rounded(point)
        return False

    def _leave_circles(self, alpha: float, distance: float) -> None:
        active = np.flatnonzero(self._stages[self._stage]).astype(np.int32)
        before = self._rounded[active]
        cycle = self._cycles.note(before, alpha, distance)
        if cycle is Cycle.NONE:
            return
        self.counts.cycles += 1
        self._alpha *= ALPHA_FACTOR
        self._cycles.forget_distances()
        if self._neighbourhood.may_search_long:
            seen = self._neighbourhood.around(self._rounded, self._budget)
            self._look_from(self._rounded, seen)
            if not np.array_equal(before, self._rounded[active]):
                return
        arguments = (self._model, self._rounded, self._x, active, self._generator)
        if cycle is Cycle.STALL:
            self._rounded = shaken(self._model, self._rounded, active, self._generator)
        else:
            self._rounded = (shifted if cycle is Cycle.REPEAT else flipped)(*arguments)

    def _change_stage(self, arrived: bool) -> None:
        first = self._stage + 1 < len(self._stages)
        budget = self._budget
        late = (
            first
            and budget.is_timed
            and budget.seconds_left
            < ((1.0 - FIRST_STAGE_SHARE) * (budget.seconds_left + budget.seconds))
        )
        if first and (arrived or late or self._in_stage >= FIRST_STAGE):
            self._stage, self._in_stage = self._stage + 1, 0
            self._cycles.forget()
        elif self._in_stage >= SECOND_STAGE:
            self._restart()

    def _restart(self) -> None:
        """Begin again near the relaxation's point or a known solution, shaken."""
        self.counts.restarts += 1
        self._stage, self._in_stage = 0, 0
        self._restarting = True
        self._cycles.forget()
        self._alpha = self._manner.alpha * float(self._generator.random())
        best = None if self._pool is None else self._pool.best
        from_best = best is not None and self._generator.random() < 0.5
        start = best.x if best is not None and from_best else self._root.relaxation.x
        columns = np.flatnonzero(self._stages[-1]).astype(np.int32)
        rounded = self._model.rounded(start)
        self._rounded = shaken(self._model, rounded, columns, self._generator)


def _stages(augmented: Augmented) -> list[BoolArray]:
    """Return the columns that count in each stage: those of two values first, then all."""
    binary, movable = augmented.binary, augmented.movable
    if binary.any() and augmented.general.size:
        return [binary, movable]
    return [movable]
