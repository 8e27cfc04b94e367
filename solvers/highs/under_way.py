"""A branch and bound under way in this process, which whoever knows more may go on with.

A small problem is begun with before anything is known of how long it takes. What ends within
moments has met nobody; what does not goes on where it is, and from then on it asks and tells those
who work beside it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import replace

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, PoolSolution, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.highs.in_process import Begun, ProgressChannel, wait_for_reply
from solvers.highs.model import Prepared, to_outcome
from solvers.highs.run import run
from solvers.highs.task import Model, Offers, Setting, Task, WhileItRuns

QUIET: dict[str, Setting] = {"threads": 1, "output_flag": False}

WORTH_A_JUMP = 200
"""Coefficients from which it begins with HiGHS's feasibility jump.

That takes 2.8 ms of the 3.5 that a model of 18 coefficients takes. Of 49 random and MIPLIB models
with fewer, HiGHS 1.16 settled 37 in a quarter of a second with the jump and 39 without, in the
median in 0.4 of the processor time, and found points of as many others. Of 184 with up to 5,000 it
found points of 106 that it did not settle with the jump, and of 98 without."""


class UnderWay:
    """A branch and bound of a small problem, on one core.

    Parameters
    ----------
    prepared : Prepared
        The model of the problem.
    task : Task
        What to do with it.
    progress : Progress
        Keeps the time limit; told of nothing.
    """

    def __init__(
        self,
        problem: Problem,
        options: EngineOptions,
        prepared: Prepared,
        task: Task,
        progress: Progress,
    ) -> None:
        self._problem = problem
        self._options = options
        self._prepared = prepared
        self._channel = channel = _Channel(progress)
        self._begun = Begun(lambda: run(task, channel), channel, kept=True)

    def fits(self, problem: Problem, options: EngineOptions) -> bool:
        """Whether it is the branch and bound of a problem with these options."""
        return problem is self._problem and options is self._options

    def wait(self, seconds: float) -> bool:
        """Return whether it has ended, as soon as it has."""
        try:
            return self._begun.wait(seconds)
        except BaseException:  # Ctrl-C
            self.abandon()
            raise

    def end(self, patience: float = math.inf) -> Outcome:
        """Wait for the end and return the answer, with all points on the way as its pool.

        ``patience`` is for how many seconds it is waited for after it should have stopped.

        Raises
        ------
        EngineError
            HiGHS fails without an answer.
        """
        reply = wait_for_reply(self._begun, self._prepared.model, patience)
        return to_outcome(reply, self._prepared, self._pool())

    def so_far(self) -> Outcome:
        """Return what is known while it goes on."""
        reply = self._channel.told.reply(self._prepared.model, StopReason.TIME_LIMIT)
        return to_outcome(reply, self._prepared, self._pool())

    def go_on(self, progress: Progress, offers: Offers | None) -> Outcome:
        """Go on and return the answer; whoever is at work beside it is asked and told.

        Parameters
        ----------
        progress : Progress
            Told of incumbents, also those so far, bounds and log lines; says when to stop.
        offers : callable, optional
            Asked at times; returns a feasible point found elsewhere, or None.

        Raises
        ------
        EngineError
            HiGHS fails without an answer.
        """
        self._channel.hand_over(progress, offers)
        return to_outcome(wait_for_reply(self._begun, self._prepared.model), self._prepared)

    def rest(self) -> None:
        """Let it wait at its next node, while others are at work on the same core."""
        self._channel.may_go_on.clear()
        self._channel.ask()

    def resume(self) -> None:
        """Let it go on after a rest."""
        self._channel.may_go_on.set()

    def abandon(self) -> None:
        """Stop it if it has not ended: nobody wants its answer."""
        if not self._begun.wait(0.0):
            self._begun.abandon()

    def _pool(self) -> tuple[PoolSolution, ...]:
        at = self._problem.objective_at
        points = [replace(point, objective=at(point.x)) for point in self._channel.points]
        return tuple(sorted(points, key=lambda point: point.objective))


def settings_for(model: Model) -> Mapping[str, Setting]:
    """Return the settings of a branch and bound of a small model on one core."""
    jumps = model.value.size >= WORTH_A_JUMP
    return QUIET if jumps else {**QUIET, "mip_heuristic_run_feasibility_jump": False}


class _Channel(ProgressChannel):
    """Keeps what HiGHS tells to itself until it is handed over.

    Attributes
    ----------
    points : list of PoolSolution
        The improving points until then.
    may_go_on : threading.Event
        Unset where HiGHS is to wait.
    """

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress, halting=True)
        self.points: list[PoolSolution] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self._is_handed_over = False
        self._lock = threading.Lock()

    def hand_over(self, progress: Progress, offers: Offers | None) -> None:
        """Ask and tell ``progress`` from now on, beginning with what is known."""
        with self._lock:
            self._progress, self._offers = progress, offers
            self._is_handed_over = True
        for point in self.points:
            progress.incumbent(point.objective, point.source, point.x)
        if math.isfinite(self.told.bound):
            progress.bound(self.told.bound, "highs")
        for one in self._unasked():
            one.speak()

    def takes(self, running: WhileItRuns) -> bool:
        """Take what stops HiGHS, and let it write its log if somebody reads it."""
        taken = super().takes(running)
        one = running() if self._is_handed_over else None
        if one is not None:
            one.speak()
        return taken

    def take_turn(self) -> None:
        """Wait while others are at work on the same core."""
        while not self.may_go_on.wait(LOOK_AGAIN) and self.stop() is None:
            pass

    def incumbent(self, objective: float, x: FloatArray) -> None:
        """Keep a feasible point, or report it."""
        with self._lock:
            if not self._is_handed_over:
                self.told.point = (objective, x)
                self.points.append(PoolSolution(x, objective, self._progress.seconds, "highs"))
                return
        super().incumbent(objective, x)

    def bound(self, value: float) -> None:
        """Keep a bound, and report it if there is somebody."""
        with self._lock:
            if not self._is_handed_over:
                self.told.bound = max(self.told.bound, value)
                return
        super().bound(value)
