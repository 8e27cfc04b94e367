"""The route of a mixed-integer program: presolve beside branch and bound, then the heuristics.

What presolve turns into a knapsack problem goes to the exact engine of its kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import Choice
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import DetachableProgress, Progress

if TYPE_CHECKING:
    from solvers.highs.under_way import UnderWay

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
    begun = choice.under_way
    if begun is not None and not begun.fits(problem, options):
        begun.abandon()
        begun = None
    return mip_route(problem, options, progress, start, begun)


def mip_route(
    problem: Problem,
    options: Options,
    progress: Progress,
    start: Start | None = None,
    under_way: UnderWay | None = None,
    *,
    exactly: bool = True,
) -> Outcome:
    """Solve a mixed-integer program by heuristics and branch and bound side by side.

    ``under_way`` is the branch and bound, if it is at work already.
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

    def solve_knapsack(left: Problem, progress: Progress) -> Outcome | None:
        return _solve_knapsack(left, options, progress)

    is_exact = exactly and not options.heuristics_only
    return mip.solve(
        problem,
        options,
        progress,
        start,
        solve_exactly=solve_knapsack if is_exact else None,
        under_way=under_way,
    )


def _solve_knapsack(problem: Problem, options: Options, progress: Progress) -> Outcome | None:
    """Solve what presolve left if it is a knapsack problem; None without a proven optimum."""
    from solvers import knapsack

    found = classify(problem)
    if found.kind not in SETTLED:
        return None
    progress.log(f"Presolve leaves {found.sentence}, which is solved exactly.")
    own = DetachableProgress(progress)
    own.time_limit = min(
        progress.time_limit, progress.seconds + KNAPSACK_SHARE * progress.time_left
    )
    answer = knapsack.solve(problem, options, own)
    return answer if answer.solution_status is SolutionStatus.OPTIMAL else None


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
