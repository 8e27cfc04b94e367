"""The route of a race: its contenders, and what is left where none of them has an answer."""

from __future__ import annotations

from gpu_bridge.options import Options
from gpu_bridge.pipeline.choice import RACE, Choice
from gpu_bridge.pipeline.contenders import make_contenders
from gpu_bridge.pipeline.race import race
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Run the contenders of a choice side by side."""
    contenders = make_contenders(choice.contenders, choice.device, problem, options, start)
    try:
        return race(problem, contenders, options, progress)
    except EngineError as failure:  # of every one of them; there is a second opinion
        progress.log(f"No engine has an answer: {failure}")
        return Outcome(SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, engine=RACE)
