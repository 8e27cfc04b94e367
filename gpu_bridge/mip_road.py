"""The road of a mixed-integer program: presolve beside branch and bound, then the heuristics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.knapsack_road import knapsack_road
from gpu_bridge.options import Options
from gpu_bridge.race_progress import Deputy
from solvers.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.problem import FloatArray, Problem
from solvers.progress import Progress

if TYPE_CHECKING:
    from gpu_bridge.presolve import Reduction
    from solvers import mip

PRESOLVE_SHARE, PRESOLVE_AT_MOST = 0.1, 3.0
"""Part of the time left, and seconds, that presolve may take before heuristics begin on what it has
come to; without it the model stays as it was."""

PRESOLVE_BESIDE_FROM = 4_000_000
"""Nonzeros from which heuristics begin at once and presolve goes on beside them: HiGHS takes about
a microsecond for each to read such a model, and more than its seconds for the first reductions."""

FURTHER_SHARE = 0.4
"""Part of the time left that presolve may take beside the heuristics, where it was cut short: a
model presolved halfway is often one on which no heuristic finds a point."""

KNAPSACK_SHARE = 0.3
"""Part of the time left for solving exactly what presolve turned into a knapsack problem, beside
branch and bound; the heuristics have the rest."""

SETTLED = (
    ProblemKind.KNAPSACK,
    ProblemKind.KNAPSACK_CHOICE,
    ProblemKind.KNAPSACK_MULTIPLE,
)
"""Kinds that are solved exactly where presolve shows them."""


def mip_road(
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

    def reduce(whole: Progress) -> mip.Reduced:
        return _reduce(problem, options, whole, exactly, PRESOLVE_SHARE, PRESOLVE_AT_MOST)

    return mip.solve(problem, options, progress, start, reduce=reduce if options.presolve else None)


def _reduce(
    problem: Problem,
    options: Options,
    progress: Progress,
    exactly: bool,
    share: float,
    at_most: float,
) -> mip.Reduced:
    """Presolve in a part of the time left, and no more seconds than ``at_most``."""
    from gpu_bridge import presolve
    from gpu_bridge.presolve.highs import TIME_SHARE
    from solvers import mip
    from solvers.mip.reduced import unreduced

    def further(whole: Progress) -> mip.Reduced:
        return _reduce(problem, options, whole, exactly, FURTHER_SHARE, np.inf)

    if problem.num_nonzeros >= PRESOLVE_BESIDE_FROM and np.isfinite(at_most):
        return replace(unreduced(problem), further=further)
    deputy = Deputy(progress)
    began, seconds = progress.seconds, min(share * progress.time_left, at_most)
    deputy.time_limit = min(progress.time_limit, began + seconds / TIME_SHARE)
    reduction = presolve.apply(problem, deputy, "highs")
    was_cut_short = progress.seconds - began >= seconds

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
        further if was_cut_short else None,
    )


def _settled_exactly(reduction: Reduction, options: Options, progress: Progress) -> Outcome | None:
    """Solve what presolve left if it is a knapsack problem; None without a proven optimum."""
    found = classify(reduction.problem)
    if found.kind not in SETTLED:
        return None
    progress.log(f"Presolve leaves {found.sentence}, which is solved exactly.")
    deputy = Deputy(progress)
    deputy.time_limit = min(
        progress.time_limit, progress.seconds + KNAPSACK_SHARE * progress.time_left
    )
    answer = knapsack_road(reduction.problem, options, deputy, kind=found.kind)
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
    found = mip_road(problem, options, progress, start, exactly=False)
    if not found.solution_status.has_point:
        return answer if answer.solution_status.has_point else found
    if answer.solution_status.has_point and answer.objective < found.objective:
        found = replace(found, objective=answer.objective, x=answer.x, row_activity=None)
    bound = float(np.fmax(answer.bound, found.bound))
    proven = bound >= found.objective
    status = SolutionStatus.OPTIMAL if proven else found.solution_status
    reason = StopReason.CONVERGED if proven else found.stop_reason
    return replace(found, bound=bound, solution_status=status, stop_reason=reason)
