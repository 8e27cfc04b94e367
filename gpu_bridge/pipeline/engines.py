"""Models that are not settled at once: an engine is chosen and run, and its answer is checked.

    Problem -> choose -> (presolve -> engine -> crossover -> undo) -> verify

On larger linear programs several engines race for the first verified answer (``race.py``, with
``contenders.py`` for which they are). An answer that does not pass ``verify.py`` gets a second
opinion from the reference engine while there is time; what is left then is reported for what it
is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.pipeline.brief import start_from
from gpu_bridge.pipeline.race import better
from gpu_bridge.pipeline.registry import ENGINES, Route, choose, title_of, unheeded
from gpu_bridge.pipeline.routes import PDLP, Choice
from gpu_bridge.pipeline.routes.highs import run as run_highs
from gpu_bridge.pipeline.routes.pdlp import PDLP_SHARE
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.residuals import unsafe_reason, without_far_limits
from gpu_bridge.verify.trust import (
    SETTLED,
    careful_options,
    carried_over,
    exact_answer,
    is_doubtful,
    is_small,
    sounder,
)
from gpu_bridge.verify.verify import verify
from solvers.core.device import expect, look_for
from solvers.core.errors import EngineError
from solvers.core.machine import give_back, mapped_arrays
from solvers.core.outcome import Event, Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import DetachableProgress, Progress
from solvers.core.threads import Patience, run_beside

if TYPE_CHECKING:
    from gpu_bridge.report.explain import Explanation
    from solvers.core.process_state import Analyses
    from solvers.highs.under_way import UnderWay

EXPLANATION_SHARE = 0.5
"""An explanation of infeasibility may take this part of the time the solve took, plus 2 s."""

LIMITS = (StopReason.TIME_LIMIT, StopReason.ITERATION_LIMIT, StopReason.INTERRUPTED)

WHOLE = Patience(0.06, 1.4, 3.6)
"""That with a whole solve: its engines' and what it takes to verify an answer."""

REFERENCE = Choice("highs", "cpu", "a second opinion")


class ForwardingProgress(DetachableProgress):
    """The progress of a whole solve, as long as the caller waits: everything is passed on.

    Attributes
    ----------
    best : (n,) float64 or None
        The best point that was told, for want of an answer.
    """

    def __init__(self, parent: Progress) -> None:
        super().__init__(parent)
        self.best: FloatArray | None = None

    @property
    def best_objective(self) -> float:
        """Best objective reported so far; NaN without one."""
        return self._parent.best_objective

    @property
    def best_bound(self) -> float:
        """Best bound reported so far; NaN without one."""
        return self._parent.best_bound

    @property
    def history(self) -> tuple[Event, ...]:
        """Every improvement of incumbent or bound so far, in order of time."""
        return self._parent.history

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Pass a point on, and keep it if it is better than all before it."""
        if self.abandoned or not self._parent.incumbent(objective, source, x):
            return False
        if x is not None:
            self.best = np.array(x, dtype=np.float64)
        return True

    def bound(self, value: float, source: str) -> bool:
        """Pass a bound on."""
        return not self.abandoned and self._parent.bound(value, source)

    def engine_output(self, line: str) -> None:
        """Pass a line of a wrapped engine's log on."""
        if not self.abandoned:
            self._parent.engine_output(line)


def run_engines(
    problem: Problem,
    options: Options,
    choice: Choice | None,
    progress: BridgeProgress,
    start: Start | None,
    known: Outcome | None,
    under_way: UnderWay | None = None,
    analyses: Analyses | None = None,
) -> tuple[Outcome, Explanation | None]:
    """Return the verified answer of the engine that fits, and why there is none if there is none.

    ``known`` is what was found at once, from where the engine goes on, ``under_way`` the branch and
    bound that is at work already, and ``analyses`` what earlier solves have left for models of the
    same structure.
    """
    give_back(problem.num_nonzeros)  # what reading the model left
    if choice is None:
        chosen = replace(choose(problem, options), under_way=under_way)
        if known is not None:
            start = start_from(known, start)
    else:
        chosen = choice
        progress.header(problem, options, _device_name(chosen, options))
    chosen = replace(chosen, analyses=analyses)
    idle = unheeded(options, chosen)
    verb = "changes" if len(idle) == 1 else "change"
    more = f"; {' and '.join(idle)} {verb} nothing there" if idle else ""
    progress.decision(f"{title_of(chosen)}: {chosen.reason}{more}")
    expect(chosen.device)
    forwarding = ForwardingProgress(progress)
    task = Task(problem, options, chosen, progress, start)
    on_host = chosen.method == PDLP and chosen.device == "cpu"
    with mapped_arrays(problem.num_nonzeros if on_host else 0):
        found = run_beside(
            lambda own: replace(task, progress=own).explained(),
            forwarding,
            "solve",
            patience=WHOLE.after,
        )
    if found is None:
        progress.log("The time was up while something was busy that hears of no limit.")
        stopped = progress.should_stop()
        assert stopped is not None  # nothing else ends the wait
        found = task.without_engine(stopped, forwarding.best, progress.held), None
    answer, explanation = found
    answer = _with_known(problem, options, answer, known)
    by_race = bool(chosen.contenders) or chosen.method == PDLP
    if by_race and answer.solution_status is SolutionStatus.NOTHING:
        answer = _with_nearest(problem, options, answer)
    return answer, explanation


def _with_nearest(problem: Problem, options: Options, answer: Outcome) -> Outcome:
    """Return what a limit left of a large linear program, if need be with the point next to zero.

    Whoever has waited for a race is told by how much at least the zero misses.
    """
    if answer.candidate is not None or answer.stop_reason not in LIMITS:
        return answer
    nearest = np.clip(np.zeros(problem.num_columns), problem.lower, problem.upper)
    told = "No engine had a point yet; the candidate is the one nearest to zero within the bounds."
    return verify(
        problem,
        replace(
            answer,
            candidate=nearest,
            row_dual=np.zeros(problem.num_rows),
            message=f"{answer.message} {told}".strip(),
        ),
        options,
    )


def _with_known(
    problem: Problem,
    options: Options,
    answer: Outcome,
    known: Outcome | None,
) -> Outcome:
    """Return an answer that says no less than what was known before."""
    if known is None or not known.solution_status.has_point:
        return answer
    best = better(answer, known)
    if best.solution_status is not SolutionStatus.FEASIBLE:
        return best
    bound = np.fmax(answer.bound, known.bound) if problem.is_mip else best.bound
    reason = answer.stop_reason
    return verify(problem, replace(best, bound=float(bound), stop_reason=reason), options)


@dataclass(frozen=True, eq=False)
class Task:
    """A problem, and how and from where it is solved."""

    problem: Problem
    options: Options
    choice: Choice
    progress: Progress
    start: Start | None

    def explained(self) -> tuple[Outcome, Explanation | None]:
        """Return the verified answer, and why there is none if there is none."""
        answer = self.answer()
        if answer.solution_status is SolutionStatus.INFEASIBLE and self.options.explain:
            return answer, explain_infeasibility(self.problem, self.options, self.progress)
        return answer, None

    def without_engine(
        self, stopped: StopReason, x: FloatArray | None = None, held: Outcome | None = None
    ) -> Outcome:
        """Return what is known where no engine has answered: a start, or what one held."""
        if x is None and self.start is not None:
            x = self.start.x
        nothing = Outcome(
            SolutionStatus.NOTHING,
            stopped,
            candidate=x,
            engine="" if self.choice.contenders else self.choice.method,
            device=self.choice.device,
        )
        known = self._verified(nothing)
        return (
            known
            if held is None
            else better(self._verified(replace(held, stop_reason=stopped)), known)
        )

    def _verified(self, outcome: Outcome) -> Outcome:
        return verify(self.problem, outcome, self.options)

    def answer(self) -> Outcome:
        """Run the chosen engine and verify it; ask the reference engine where that fails."""
        progress = self.progress
        stopped = progress.should_stop()
        if stopped is not None:
            return self.without_engine(stopped)
        answer = self._first_opinion()
        if answer.solution_status.has_point:
            progress.incumbent(answer.objective, answer.engine)
            progress.bound(answer.bound, answer.engine)
        stopped = progress.should_stop()
        if stopped is not None and answer.stop_reason is StopReason.NUMERICAL_TROUBLE:
            return replace(answer, stop_reason=stopped)
        if stopped is not None or not _gave_up(answer, progress):
            return answer
        who = "Every engine" if self.choice.contenders else answer.engine
        told = answer.message or f"{who} ended short of the tolerances."
        progress.log(f"{told} Asking for a second opinion.")
        progress.hold(answer)
        return self._second_opinion(answer)

    def _first_opinion(self) -> Outcome:
        """Run the chosen engine, after rational arithmetic where the magnitudes ask for it."""
        problem, options, progress = self.problem, self.options, self.progress
        exact = None
        known = None if self.start is None else self.start.x
        in_doubles = bool(self.choice.contenders) or ENGINES[self.choice.method].in_doubles
        if in_doubles and problem.is_mip and is_doubtful(problem, options):
            if known is None and self.choice.method == "mip":
                from solvers.mip.heuristics.constructive import first_point

                known = first_point(problem, options, progress)
            exact = exact_answer(problem, options, progress, known)
            if exact is not None and exact.solution_status in SETTLED:
                return exact
        if problem.is_mip:
            options = careful_options(problem, options, progress)
        careful = replace(self, options=options)
        relaxed = without_far_limits(problem) if in_doubles else problem
        answer = None
        if relaxed is not problem:
            progress.log("Limits that are far off are left out; the answer is checked with them.")
            found = replace(careful, problem=relaxed)._by_route()
            answer = carried_over(problem, found, options)
        if answer is None:
            answer = careful._by_route()
        return answer if exact is None else sounder(problem, answer, exact, options)

    def _second_opinion(self, answer: Outcome) -> Outcome:
        """Return the better of an answer and what the reference engine says without presolve."""
        problem, options, progress, start = self.problem, self.options, self.progress, self.start
        if problem.is_mip and answer.solution_status.has_point:
            start = Start(x=answer.x)
        if problem.is_mip and is_small(problem, options) and not answer.is_exact:
            exact = exact_answer(problem, options, progress, None if start is None else start.x)
            if exact is not None and exact.solution_status in SETTLED:
                return exact
        if problem.is_mip and unsafe_reason(problem):
            return answer  # another opinion in doubles would be trusted no more
        careful = replace(options, presolve=False, lp_algorithm="auto")
        try:
            second = run_highs(problem, careful, REFERENCE, progress, start)
        except EngineError as failure:  # what the first engine has is not lost
            progress.log(f"The reference engine has no answer: {failure}")
            return answer
        return better(answer, self._verified(second))

    def _by_route(self) -> Outcome:
        """Run the chosen engine or engines and return a verified answer."""
        run = _route(self.choice)
        return self._verified(
            run(self.problem, self.options, self.choice, self.progress, self.start)
        )


def _gave_up(answer: Outcome, progress: Progress) -> bool:
    """Whether an engine ended short of an answer with time to spare."""
    if answer.stop_reason is StopReason.TIME_LIMIT:
        # PDLP is given a part of the time only, and crossover may end early.
        return progress.time_left > (1.0 - PDLP_SHARE) / 2 * progress.time_limit
    return answer.stop_reason is StopReason.NUMERICAL_TROUBLE


def _route(choice: Choice) -> Route:
    """Return what runs a choice; the ways of larger solves are imported where they are taken."""
    if choice.on_cluster:
        from gpu_bridge.pipeline.routes.cluster import run

        return run
    if choice.contenders:
        from gpu_bridge.pipeline.contenders import run_race

        return run_race
    return ENGINES[choice.method].run


def explain_infeasibility(
    problem: Problem, options: Options, progress: Progress
) -> Explanation | None:
    """Return why a problem is infeasible; None if that is not found in the time allowed."""
    from gpu_bridge.report.explain import Explanation, explain
    from gpu_bridge.report.relax import relax

    allowed = min(progress.time_left, 2.0 + EXPLANATION_SHARE * progress.seconds)
    found = Explanation(explain(problem, allowed))
    if options.explain == "relax":
        found = Explanation(found.conflict, relax(problem, min(progress.time_left, allowed)))
        if found.relaxation is None:
            progress.log(f"What would mend the model was not found in {allowed:.0f} s.")
    if str(found):
        progress.log(str(found))
    return found


def _device_name(choice: Choice, options: Options) -> str:
    if choice.on_cluster:
        return f"the nodes of the cluster '{options.cluster}'"
    return look_for(choice.device).name


def explained_in_time(problem: Problem, options: Options, progress: Progress) -> Explanation | None:
    """Return why a problem is infeasible, if that is found out within the time left."""
    return run_beside(
        lambda own: explain_infeasibility(problem, options, own),
        ForwardingProgress(progress),
        "explanation",
        patience=WHOLE.after,
    )
