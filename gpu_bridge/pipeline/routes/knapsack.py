"""The route of ``method='knapsack'``: the exact engines, and branch and bound from there on."""

from __future__ import annotations

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import Choice
from gpu_bridge.pipeline.routes.mip import go_on
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Outcome, SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.core.threads import Patience, within_limit

MULTIPLE_SHARE, MULTIPLE_SECONDS = 0.6, 120.0
"""Part of the time left that the exact engine may take for a multiple knapsack problem with
``auto``, and seconds without a limit. Its packings and bounds are better than those of branch and
bound from the first second, but where a few items go into each knapsack it may not end; then branch
and bound has the rest, from the best packing."""

PATIENCE = Patience(0.03, 0.9, 3.0)
"""That after the limit, in which the engine may end a stage and sum up: what it has is worth it."""


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Run the exact engine of this kind, and branch and bound where ``choice.then`` says so."""
    from solvers import knapsack

    allowed = progress.time_left
    if choice.then:
        allowed = MULTIPLE_SHARE * allowed if np.isfinite(allowed) else MULTIPLE_SECONDS
    with progress.budget(allowed):
        answer = within_limit(
            lambda own: knapsack.solve(problem, options, own), progress, choice.method, PATIENCE
        )
    if not choice.then or progress.should_stop() is not None:
        return answer
    verified = verify(problem, answer, options)
    settled = verified.solution_status not in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)
    return answer if settled else go_on(problem, verified, options, progress)
