"""The route of a mixed-integer program: presolve beside branch and bound, then the heuristics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import Options
from gpu_bridge.pipeline.choice import Choice
from gpu_bridge.pipeline.contender_progress import DetachableProgress
from gpu_bridge.pipeline.routes.knapsack_kinds import solve_exactly
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from gpu_bridge.pipeline.background_presolve import BackgroundPresolve
    from solvers import mip
    from solvers.presolve import Reduction

PRESOLVE_SHARE, PRESOLVE_AT_MOST = 0.1, 3.0
"""Part of the time left, and seconds, that heuristics wait for presolve before they begin on the
model as it is."""

PRESOLVE_BESIDE_FROM = 4_000_000
"""Nonzeros from which heuristics begin at once and presolve goes on beside them: HiGHS takes about
a microsecond for each to read such a model, and more than its seconds for the first reductions."""

FURTHER_SHARE = 0.4
"""Part of the time left that presolve may take in all. On the model as it is, heuristics often find
nothing: walks of 400 million entries found no point of irish-electricity before presolve, which
takes five seconds of one core, and after it one in 70 to 80 million, on one of two seeds."""

LOOK = 0.05
"""Seconds between two looks at whether who waits for presolve is to stop."""

KNAPSACK_SHARE = 0.3
"""Part of the time left for solving exactly what presolve turned into a knapsack problem, beside
branch and bound; the heuristics have the rest."""

SETTLED = (
    ProblemKind.KNAPSACK,
    ProblemKind.KNAPSACK_MULTIPLE_CHOICE,
    ProblemKind.KNAPSACK_MULTIPLE,
)
"""Kinds that are solved exactly where presolve shows them."""


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a mixed-integer program by heuristics and branch and bound side by side."""
    return mip_route(problem, options, progress, start)


def mip_route(
    problem: Problem,
    options: Options,
    progress: Progress,
    start: Start | None = None,
    *,
    exactly: bool = True,
) -> Outcome:
    """Solve a mixed-integer program by heuristics and branch and bound side by side.

    What presolve turns into a knapsack problem is solved as such; not so without ``exactly``.
    Without coefficients each column is for itself, and there is nothing to search.

    Returns
    -------
    Outcome
        In the space of ``problem``, not yet verified.
    """
    from solvers import highs, mip

    if problem.num_nonzeros == 0:
        return highs.solve(problem, options, progress, start)

    reducer = Reducer(problem, options, exactly)
    try:
        reduce = reducer if options.presolve else None
        return mip.solve(problem, options, progress, start, reduce=reduce)
    finally:
        reducer.abandon()


class Reducer:
    """Presolves one problem: as far as heuristics wait for it, and beside them from then on.

    It is never cut short to begin anew: what it has done by then is half of the work.
    """

    def __init__(self, problem: Problem, options: Options, exactly: bool) -> None:
        self._problem = problem
        self._options = options
        self._exactly = exactly
        self._background: BackgroundPresolve | None = None

    def __call__(self, progress: Progress) -> mip.Reduced:
        """Return the reduced problem, or the problem itself with the way to a smaller one."""
        from solvers.mip.reduced import unreduced

        if self._problem.num_nonzeros < PRESOLVE_BESIDE_FROM:
            patience = min(PRESOLVE_SHARE * progress.time_left, PRESOLVE_AT_MOST)
            if self._begun(progress).wait(patience):
                return self._reduced(progress)
        return replace(unreduced(self._problem), further=self._further)

    def abandon(self) -> None:
        """Stop what nobody waits for any more."""
        if self._background is not None:
            self._background.abandon()

    def _begun(self, progress: Progress) -> BackgroundPresolve:
        from gpu_bridge.pipeline.background_presolve import BackgroundPresolve

        if self._background is None:
            seconds = FURTHER_SHARE * progress.time_left
            self._background = BackgroundPresolve(self._problem, progress, seconds)
        return self._background

    def _further(self, progress: Progress) -> mip.Reduced:
        """Wait for the end of presolve, however long it takes."""
        background = self._begun(progress)
        while not background.wait(LOOK) and progress.should_stop() is None:
            pass
        return self._reduced(progress)

    def _reduced(self, progress: Progress) -> mip.Reduced:
        assert self._background is not None  # the callers have begun
        reduction = self._background.reduction()
        return _as_reduced(self._problem, reduction, self._options, progress, self._exactly)


def _as_reduced(
    problem: Problem,
    reduction: Reduction,
    options: Options,
    progress: Progress,
    exactly: bool,
) -> mip.Reduced:
    """Return what presolve has come to, with the ways there and back."""
    from solvers import mip

    forward = reduction.forward

    def to_original(x: FloatArray) -> FloatArray:
        point = Outcome(
            SolutionStatus.FEASIBLE, StopReason.CONVERGED, objective=np.nan, x=x, engine="mip"
        )
        back = reduction.undo(point).x
        assert back is not None  # undo maps points to points
        return back

    def to_reduced(x: FloatArray) -> FloatArray:
        assert forward is not None  # given only where there is one
        there = forward(Start(x=x)).x
        assert there is not None  # as above
        return there

    settled = reduction.settled
    whole = settled is None and exactly and not options.heuristics_only
    if whole and reduction.problem is not problem:
        settled = _settled_exactly(reduction, options, progress)
    return mip.Reduced(
        reduction.problem,
        to_original,
        None if forward is None else to_reduced,
        settled,
    )


def _settled_exactly(reduction: Reduction, options: Options, progress: Progress) -> Outcome | None:
    """Solve what presolve left if it is a knapsack problem; None without a proven optimum."""
    found = classify(reduction.problem)
    if found.kind not in SETTLED:
        return None
    progress.log(f"Presolve leaves {found.sentence}, which is solved exactly.")
    own = DetachableProgress(progress)
    own.time_limit = min(
        progress.time_limit, progress.seconds + KNAPSACK_SHARE * progress.time_left
    )
    answer = solve_exactly(reduction.problem, options, own, kind=found.kind)
    if answer.solution_status is SolutionStatus.OPTIMAL:
        return reduction.undo(answer)
    return None


def go_on(problem: Problem, answer: Outcome, options: Options, progress: Progress) -> Outcome:
    """Go on from a packing that an exact engine could not prove to be best in its share of time.

    ``answer`` is verified. The outcome has the larger of both bounds, and is optimal where that
    meets its objective.
    """
    progress.log("It is not proven in its share of the time: branch and bound goes on from there.")
    start = None
    if answer.solution_status.has_point:
        start = Start(x=answer.x)
        progress.incumbent(answer.objective, answer.engine)
        progress.bound(answer.bound, answer.engine)
    found = mip_route(problem, options, progress, start, exactly=False)
    if not found.solution_status.has_point:
        return answer if answer.solution_status.has_point else found
    if answer.solution_status.has_point and answer.objective < found.objective:
        found = replace(found, objective=answer.objective, x=answer.x, row_activity=None)
    bound = float(np.fmax(answer.bound, found.bound))
    proven = bound >= found.objective
    status = SolutionStatus.OPTIMAL if proven else found.solution_status
    reason = StopReason.CONVERGED if proven else found.stop_reason
    return replace(found, bound=bound, solution_status=status, stop_reason=reason)
