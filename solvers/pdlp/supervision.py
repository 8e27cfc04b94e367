"""What watches a solve from outside its loop: for points to hand out, and for the end of progress.

At a limit the last point still has to come back from the device and through presolve, which takes
seconds on models of millions of coefficients, and an engine may just then be busy with a crossover.
So a point is handed out whenever it is much nearer than the last one, and so seldom that it costs
next to nothing. A caller may also ask for the first point within a looser tolerance (a milestone).

A scaling, or the whole solve, may make no progress any more. Errors of a solve whose primal weight
swings fall and rise by decades, and a fall to where it has been before is no progress. So what
counts is the least error so far, and for the solve as a whole the decades that were left at the
least (``termination.decades_left``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from solvers.core.device import Device
from solvers.core.lp_answer import LpErrors, Norms
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.feasibility_polishing import PolishingSchedule
from solvers.pdlp.settings import LOOK_GROWTH, PROGRESS, AlternationSettings, StagnationSettings
from solvers.pdlp.termination import Criteria, decades_left

FROM_SECONDS = 1.0
"""Seconds of a solve before the first point is handed out: what ends sooner needs none."""

SHARE = 0.02
"""Part of the time that handing out may take."""

RETRY = 0.7
"""Where a point of a part misses a milestone on the whole problem, the part's error has to fall to
this of what it was before the next trial."""


class IntermediatePoints:
    """Decides when to hand out a point, and measures what that costs.

    Parameters
    ----------
    hand_out : callable
        Takes an outcome of the original problem that is not optimal yet.
    wanted : callable, optional
        Whether somebody waits for a point, and gets any that is nearer than the last one.

    Attributes
    ----------
    seconds : float
        What handing out the last point took: the last one at a limit will take as long.
    latest : Start or None
        The last point, of the problem that the engine was given, if the solve is resumable.
    """

    def __init__(
        self, hand_out: Callable[[Outcome], None], wanted: Callable[[], bool] = lambda: False
    ) -> None:
        self._hand_out = hand_out
        self._wanted = wanted
        self._undo: Callable[[Outcome], Outcome] | None = None
        self._error = math.inf
        self.seconds = 0.0
        self.latest: Start | None = None
        self._next = time.perf_counter() + FROM_SECONDS

    def through(self, undo: Callable[[Outcome], Outcome] | None) -> IntermediatePoints:
        """Take the outcomes of a reduced problem from now on, which ``undo`` brings back."""
        self._undo, self.latest = undo, None
        return self

    def is_due(self, statistics: LpErrors) -> bool:
        """Whether a point of these errors is near enough to be handed out, and it is time."""
        if statistics.worst < self._error and self._wanted():
            return True
        near = statistics.worst <= PROGRESS * self._error
        return near and time.perf_counter() >= self._next

    def keep(self, make: Callable[[], tuple[Outcome, float]], *, resumable: bool = True) -> None:
        """Hand out what ``make`` returns, an outcome and its largest error, if it is nearer.

        Where the solve is ``resumable`` elsewhere from its latest point, that is kept.
        """
        began = time.perf_counter()
        outcome, error = make()
        if error < self._error:
            self._error = error
            if resumable:
                # the candidate has the point's place until it is feasible; the duals belong to it
                point = outcome.x if outcome.candidate is None else outcome.candidate
                self.latest = Start(x=point, row_dual=outcome.row_dual)
            found = outcome if self._undo is None else self._undo(outcome)
            # who takes it verifies it and computes these, which take as much memory as the point
            self._hand_out(replace(found, row_activity=None, reduced_cost=None))
        now = time.perf_counter()
        self.seconds = now - began
        self._next = now + self.seconds / SHARE


@dataclass(frozen=True)
class Milestone:
    """What to do when all three errors are within ``tolerance`` for the first time.

    ``reached`` gets an outcome that is optimal at that tolerance; crossover can start from it
    while the solve goes on to a tighter one.
    """

    tolerance: float
    reached: Callable[[Outcome], None]


class MilestoneWatch:
    """Decides when a point may have reached a milestone, which happens once."""

    def __init__(self, milestone: Milestone) -> None:
        self.tolerance = milestone.tolerance
        self._reached: Callable[[Outcome], None] | None = milestone.reached
        self._retry_below = math.inf

    def begin(self) -> None:
        """Begin to watch another run."""
        self._retry_below = math.inf

    def is_due(self, statistics: LpErrors) -> bool:
        """Whether a point of these errors is to be judged."""
        wanted = min(self.tolerance, self._retry_below)
        return self._reached is not None and statistics.worst <= wanted

    def miss(self, error: float) -> None:
        """Note the error of a part whose point misses the milestone on the whole problem."""
        self._retry_below = RETRY * error

    def reach(self, outcome: Outcome) -> None:
        """Hand the point out; there will be no other."""
        if self._reached is not None:
            reached, self._reached = self._reached, None
            reached(outcome)


@dataclass(eq=False)
class Stagnation:
    """Gives a solve up that was no nearer for two thirds of very many iterations.

    On some models the method never arrives, however long it runs: where numbers of very different
    size meet, the primal weight swings from one extreme to the other, or the errors that are left
    are those of rounding. Given up, a solve ends with its best point and with numerical trouble,
    and its caller may go on from there by crossover or ask another engine.

    ``least`` decades were left at ``progress_at`` iterations, when the solve had last come nearer
    by ``settings.decades``. One object watches over all scalings of a solve.
    """

    settings: StagnationSettings
    criteria: Criteria
    least: float = math.inf
    progress_at: int = 0

    def is_over(self, iterations: int, statistics: LpErrors) -> bool:
        """Record the errors after so many iterations in all; return whether to give up."""
        left = decades_left(statistics, self.criteria)
        if self.least - left >= self.settings.decades:
            self.least, self.progress_at = left, iterations
        since = self.settings.growth * self.progress_at
        return iterations >= max(self.settings.from_iterations, since)


@dataclass(eq=False)
class ScalingStagnation:
    """Decides at ``length`` iterations, and at every 1.5 times as many, whether a scaling stays.

    It does if the least error so far has fallen to ``settings.progress`` of what it was a look
    earlier, or the least residual: the gap may stay at 1 until both residuals are small, whatever
    they do. And it stays for good if it has come nearer by ``settings.decades_to_keep``
    (``decades_left``) than ``left_before``, where the other scaling ended: then this scaling is the
    right one.
    """

    settings: AlternationSettings
    length: float
    criteria: Criteria
    left_before: float = -math.inf
    left: float = math.inf
    least: tuple[float, float] = (math.inf, math.inf)
    least_then: tuple[float, float] = (math.inf, math.inf)
    next_look: float = 0.0

    def __post_init__(self) -> None:
        self.next_look = self.length / LOOK_GROWTH

    def is_over(self, iterations: int, statistics: LpErrors) -> bool:
        """Record the errors after so many iterations; return whether the scaling gets nowhere."""
        error, residual = self.least
        self.least = (min(error, statistics.worst), min(residual, statistics.worst_residual))
        self.left = min(self.left, decades_left(statistics, self.criteria))
        if iterations < self.next_look:
            return False
        if self.left <= self.left_before - self.settings.decades_to_keep:
            self.next_look = math.inf
            return False
        falls = any(
            now < self.settings.progress * then
            for now, then in zip(self.least, self.least_then, strict=True)
        )
        self.least_then = self.least
        self.next_look *= LOOK_GROWTH
        return iterations >= self.length and not falls


@dataclass(frozen=True, eq=False)
class Supervision:
    """What a run takes from the solve that it is a part of; by default it is all of the solve."""

    earlier: int = 0
    """Iterations in other states: they are added to those that are told, and are none of the
    limit's."""
    stagnation: Stagnation | None = None
    """May end the run by numerical trouble."""
    scaling_stagnation: ScalingStagnation | None = None
    """May end the run as at a limit on iterations."""
    polishing: PolishingSchedule | None = None
    """May end the run by a feasible point near by."""
    milestone: MilestoneWatch | None = None
    points: IntermediatePoints | None = None
    """Are given points on the way."""


@dataclass(frozen=True, eq=False)
class SolveRequest:
    """What is solved, where, and from which point, as :func:`solvers.pdlp.solve` explains it."""

    device: Device
    problem: Problem
    options: EngineOptions
    progress: Progress
    start: Start | None = None
    norms: Norms | None = None
    milestone: Milestone | None = None
    points: IntermediatePoints | None = None

    @property
    def iteration_limit(self) -> float:
        """Iterations at the most; inf for no limit."""
        limit = self.options.iteration_limit
        return math.inf if limit is None else limit
