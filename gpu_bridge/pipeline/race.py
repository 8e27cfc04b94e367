"""Several engines side by side on one problem: the first verified answer wins, the rest stop.

Each engine runs in a thread of its own, which mostly waits: for a child process, for a GPU, or
for compiled code that holds no interpreter lock. An answer is verified on the original problem
where it was found; one that fails, like an engine that crashes or gives up, only takes its engine
out of the race. When one is verified, the others are told that nobody waits for them: children
are killed, loops end at their next look at the flag, and the caller does not wait until they have.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpu_bridge.report.log_text import clock, figure_text, labelled
from gpu_bridge.verify.verify import verify
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress
from solvers.core.switching import quick_switches
from solvers.core.threads import Patience, leave

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
"""What a verified answer has to say to end a race."""

RANK = {
    SolutionStatus.NOTHING: 0,
    SolutionStatus.APPROXIMATE: 1,
    SolutionStatus.FEASIBLE: 2,
}
"""How much an answer says that does not settle the question."""

PATIENCE = Patience(0.05, 1.0, 3.0)
"""That with engines after a limit or an interruption, before they are left behind. A child needs up
to 2.4 s to save what it has."""

PATIENCE_HOLDING = 0.5
"""Seconds that they have instead once a point is at hand that one of them held on its way: what
comes yet is seldom much better."""

PARTING = Patience(0.003, 0.0, 0.1)
"""That of the winner until the others are gone. Most are gone at once, and it is for the caller's
next solve only that anybody waits."""

GRACE = Patience(0.02, 0.0, 30.0)
"""That with a preferred contender after another was first. With what a race costs besides, more
would make it slower than the faster of its contenders by more than a tenth. Without bounds from
below, of 5 ms here and 2 for parting, races of 0.07 to 0.14 s on an H200 took 5 ms less."""

SHOWN_FIGURES = ("primal_residual", "dual_residual", "gap")
"""Figures of an iteration that say how near an engine is."""


class ContenderProgress(DetachableProgress):
    """The :class:`~solvers.core.progress.Progress` of one engine among several.

    Clock, time limit and interruption are those of the solve; besides, the engine alone can be
    told that its answer is wanted no more, from when on it is not heard either. Log messages carry
    its name; the running text of a wrapped engine is left out, because that of several would be
    unreadable. Nothing an engine claims in a race counts before it is verified.

    Parameters
    ----------
    parent : Progress
        That of the solve.
    name : str
        What the log calls the engine.
    """

    def __init__(self, parent: Progress, name: str) -> None:
        super().__init__(parent)
        self.name = name
        self._count = 0
        self._figures: dict[str, float | int | str] = {}

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Remember how far the engine has come and pass it on."""
        if self.abandoned:
            return
        self._count = count
        if figures:
            self._figures = dict(figures)
            self._parent.iteration(count, **figures)
        self._parent.standing(self.name, self._short())

    def log(self, message: str) -> None:
        """Write a message to the log under the engine's name."""
        if not self.abandoned:
            self._parent.log(f"{self.name}: {message}")

    @property
    def reached(self) -> str:
        """What the engine had reached, in words."""
        if not self._count:
            return "no iteration reported"
        known = [name for name in SHOWN_FIGURES if _is_number(self._figures.get(name))]
        figures = [
            f"{name.replace('_', ' ')} {figure_text(name, self._figures[name])}" for name in known
        ]
        return ", ".join([f"{self._count} iterations", *figures])

    def _short(self) -> str:
        """Return the iterations and the largest error for a narrow column."""
        errors = [self._figures.get(name) for name in SHOWN_FIGURES]
        known = [float(error) for error in errors if error is not None and _is_number(error)]
        return f"{self._count} ({max(known):.1e})" if known else str(self._count)


@dataclass(frozen=True)
class Contender:
    """One engine of a race."""

    name: str
    """What the log calls it."""
    run: Callable[[Progress], Outcome]
    """Takes the contender's progress and returns an answer to the original problem, not yet
    verified."""


@dataclass(frozen=True, eq=False)
class Finish:
    """How a contender ended: with an answer, verified, or with the error it raised."""

    contender: Contender
    seconds: float
    answer: Outcome | None = None
    error: BaseException | None = None

    @property
    def settled(self) -> bool:
        """Whether the answer ends the race."""
        return self.answer is not None and self.answer.solution_status in SETTLED

    def __str__(self) -> str:
        if self.answer is not None:
            return f"{self.answer.solution_status.name.lower()}, {self.answer.stop_reason}"
        return f"failed: {self.error}"


def race(
    problem: Problem,
    contenders: Sequence[Contender],
    options: EngineOptions,
    progress: Progress,
    *,
    prefer: str = "",
    within: bool = False,
) -> Outcome:
    """Run all contenders at once and return the first verified answer.

    Parameters
    ----------
    problem : Problem
        The original, on which answers are verified.
    contenders : sequence of Contender
        At least one.
    options : EngineOptions
        Tolerances of the verification.
    progress : Progress
        Keeps the time limit and the interruption; told who won, and how the others stood.
    prefer : str
        Name of a contender whose answer is worth a short wait when another was first.
    within : bool
        Whether this is a race within a race; the outer one waits for whoever is still at work.

    Returns
    -------
    Outcome
        Verified. If no contender settles the question, the best answer of those that ended.

    Raises
    ------
    Exception
        What the first contender to end raised, if every contender raised.
    """
    runners = [_Runner(contender, problem, options, progress) for contender in contenders]
    finishes: queue.SimpleQueue[Finish] = queue.SimpleQueue()
    for contender in contenders:
        progress.standing(contender.name, "")
    try:
        with quick_switches():
            for runner in runners:
                runner.start(finishes)
            winner, ended = _until_settled(runners, finishes, progress, prefer, within)
    finally:
        for runner in runners:
            runner.progress.abandon()
        _part(runners, 0.0 if within else PARTING.after(progress.seconds))
    if winner is not None and winner.answer is not None:
        progress.log(_report(winner, ended, runners))
        return winner.answer
    return _best(ended, runners, progress, within)


def better(first: Outcome, second: Outcome) -> Outcome:
    """Return the answer that says more; of two points the better one, of others the nearer."""
    ours, theirs = (RANK.get(one.solution_status, len(RANK)) for one in (first, second))
    if ours != theirs:
        return first if ours > theirs else second
    if first.solution_status is SolutionStatus.FEASIBLE:
        return first if first.objective <= second.objective else second
    if first.solution_status is SolutionStatus.NOTHING:
        missing = first.candidate is None, second.candidate is None
        if any(missing):
            return second if missing[0] else first
    errors = (first.residuals.largest_relative, second.residuals.largest_relative)
    return first if errors[0] <= errors[1] else second


class _Runner:
    """A contender in its thread."""

    def __init__(
        self, contender: Contender, problem: Problem, options: EngineOptions, progress: Progress
    ) -> None:
        self.contender = contender
        self.progress = ContenderProgress(progress, contender.name)
        self._problem = problem
        self._options = options
        self.thread: threading.Thread | None = None
        self._held: Outcome | None = None
        self._held_verified: Outcome | None = None

    def held(self, stopped: StopReason | None = None) -> Outcome | None:
        """Return what the engine handed over on its way, verified, if it did."""
        held = self.progress.held
        if held is not None and stopped not in (None, held.stop_reason):
            return verify(self._problem, replace(held, stop_reason=stopped), self._options)
        if held is not self._held and held is not None:
            self._held, self._held_verified = held, verify(self._problem, held, self._options)
        return self._held_verified

    def start(self, finishes: queue.SimpleQueue[Finish]) -> None:
        """Run the contender in a new thread, which puts its finish into the queue."""
        thread = threading.Thread(
            target=self._work,
            args=(finishes,),
            name=f"contender {self.contender.name}",
            daemon=True,
        )
        self.thread = thread
        thread.start()

    def _work(self, finishes: queue.SimpleQueue[Finish]) -> None:
        try:
            finish = self._finish()
        except BaseException as error:  # whatever it is, the race goes on without this contender
            finish = Finish(self.contender, self.progress.seconds, error=error)
        finishes.put(finish)

    def _finish(self) -> Finish:
        answer = self.contender.run(self.progress)
        if not self.progress.abandoned:
            answer = verify(self._problem, answer, self._options)
        return Finish(self.contender, self.progress.seconds, answer)


def _until_settled(
    runners: Sequence[_Runner],
    finishes: queue.SimpleQueue[Finish],
    progress: Progress,
    prefer: str,
    within: bool,
) -> tuple[Finish | None, list[Finish]]:
    """Return who settled the question, if anybody did, and all who have ended by then."""
    names = {runner.contender.name for runner in runners}
    ended: list[Finish] = []
    winner: Finish | None = None
    give_up_at = np.inf
    while len(ended) < len(names) and progress.seconds < give_up_at:
        try:
            finish = finishes.get(timeout=min(LOOK_AGAIN, max(0.0, give_up_at - progress.seconds)))
        except queue.Empty:
            if np.isinf(give_up_at) and progress.should_stop() is not None:
                give_up_at = _later(progress, PATIENCE)
                if not within and _holds_values(runners):
                    give_up_at = min(give_up_at, progress.seconds + PATIENCE_HOLDING)
            continue
        ended.append(finish)
        if finish.settled:
            winner = finish
        elif winner is None and progress.should_stop() is None:
            name, words = finish.contender.name, clock(finish.seconds)
            progress.log(f"{name} is out of the race after {words}: {finish}.")
        if winner is not None:
            if prefer not in names - {one.contender.name for one in ended}:
                break
            give_up_at = min(give_up_at, _later(progress, GRACE))
    return winner, ended


def _holds_values(runners: Sequence[_Runner]) -> bool:
    """Whether an engine has handed over a point worth returning; verifies what it has."""
    held = [runner.held() for runner in runners]
    return any(one is not None and one.solution_status.has_values for one in held)


def _later(progress: Progress, patience: Patience) -> float:
    """Return the time of the solve at which patience that begins now is over."""
    now = progress.seconds
    return now + patience.after(now)


def _part(runners: Sequence[_Runner], patience: float) -> None:
    """Give the contenders a moment to end, which children need, and leave the rest behind."""
    deadline = time.monotonic() + patience
    for runner in runners:
        thread = runner.thread
        if thread is None:
            continue
        thread.join(max(0.0, deadline - time.monotonic()))
        leave(thread)


def _best(
    ended: Sequence[Finish], runners: Sequence[_Runner], progress: Progress, within: bool
) -> Outcome:
    """Return the best of the answers of those who ended and of what the others held."""
    stopped = progress.should_stop()
    answers = [finish.answer for finish in ended if finish.answer is not None]
    answered = {finish.contender.name for finish in ended if finish.answer is not None}
    for runner in runners:
        known = within or runner.contender.name in answered
        held = None if known else runner.held(stopped)
        if held is not None:
            answers.append(held)
    if answers:
        return functools.reduce(better, answers)
    if len(ended) == len(runners) and ended[0].error is not None:
        raise ended[0].error
    assert stopped is not None  # contenders are left behind only after a limit or an interruption
    return Outcome(SolutionStatus.NOTHING, stopped)


def _report(winner: Finish, ended: Sequence[Finish], runners: Sequence[_Runner]) -> str:
    """Say who won, after how long, and how the others stood."""
    out = {finish.contender.name: finish for finish in ended}
    lines = [f"won by {winner.contender.name} after {winner.seconds:.2f} s"]
    for runner in runners:
        name = runner.contender.name
        if name != winner.contender.name:
            fate = f", out after {out[name].seconds:.2f} s" if name in out else ""
            lines.append(f"{name}: {runner.progress.reached}{fate}")
    return labelled("Race", "\n".join(lines))


def _is_number(value: float | int | str | None) -> bool:
    return value is not None and not isinstance(value, str) and bool(np.isfinite(value))
