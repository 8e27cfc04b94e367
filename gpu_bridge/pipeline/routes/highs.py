"""The route of the reference engine, which presolves by itself."""

from __future__ import annotations

from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import Choice
from gpu_bridge.pipeline.routes.pdlp import mended
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a problem of any kind with HiGHS."""
    from solvers import highs

    return mended(problem, highs.solve(problem, options, progress, start), options, progress)
