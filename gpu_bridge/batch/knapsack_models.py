"""Many models that are knapsack problems: recognised, solved together exactly, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from gpu_bridge.batch.outcomes import Singles
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.pipeline.deadline import answered
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Outcome as Claim
from solvers.core.outcome import Proof, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from solvers.knapsack.batch import ManyPackings
    from solvers.knapsack.recognise import KnapsackModel

ENGINE = "knapsack"

FEWEST = 2
"""Models from which they are solved together."""


def solve_knapsacks(
    problems: Sequence[Problem | Exception], options: Options, progress: BridgeProgress
) -> Singles | None:
    """Solve models together if every one of them is a knapsack problem.

    Parameters
    ----------
    problems : sequence of Problem or Exception
        Exceptions stand for models that could not be made.
    options : Options
    progress : BridgeProgress
        Keeps the time limit.

    Returns
    -------
    Singles or None
        None where another method was asked for, some model is none, or time was up before the
        engine began.
    """
    if options.method not in ("auto", ENGINE) or len(problems) < FEWEST:
        return None
    members = [problem for problem in problems if _may_be_one(problem)]
    if len(members) < len(problems):
        return None
    from solvers.knapsack.recognise import recognise

    models = []
    for problem in members:
        model = recognise(problem)
        if model is None:
            return None
        models.append(model)
    answer = answered(lambda own: _solve(models, options, own), progress, ENGINE)
    if answer is None:
        return None
    told = Told.of(answer, progress)
    outcomes = []
    for k, (problem, model) in enumerate(zip(members, models, strict=True)):
        x = model.point(answer.of(k).astype(np.int64))
        outcomes.append(told.outcome(k, problem, x, model.profit_scale, options))
    return Singles(outcomes)


def _may_be_one(problem: Problem | Exception) -> TypeGuard[Problem]:
    """Whether a look at the rows leaves it possible."""
    return (
        isinstance(problem, Problem)
        and problem.num_columns > 0
        and bool(problem.integrality.all())
        and int(np.count_nonzero(np.diff(problem.matrix.indptr) > 1)) == 1
    )


def place(options: Options) -> str:
    """Return where knapsack problems are solved together: on a GPU only if it was asked for.

    All cores need some microseconds for each, so that a GPU has to be measured before it is taken.
    """
    return options.device if options.device.startswith("cuda") else "cpu"


def _solve(models: Sequence[KnapsackModel], options: Options, progress: Progress) -> ManyPackings:
    """Put all items side by side and solve."""
    from solvers.knapsack.batch import solve_many_knapsacks

    knapsacks = [model.knapsack for model in models]
    copies = np.concatenate([knapsack.copies for knapsack in knapsacks])
    return solve_many_knapsacks(
        np.concatenate([knapsack.profit for knapsack in knapsacks]),
        np.concatenate([knapsack.weight for knapsack in knapsacks]),
        np.array([knapsack.capacity for knapsack in knapsacks], dtype=np.int64),
        place(options),
        progress,
        copies=None if (copies == 1).all() else copies,
        starts=np.cumsum([0, *(knapsack.num_items for knapsack in knapsacks)]),
        threads=options.threads,
    )


@dataclass(frozen=True, eq=False)
class Told:
    """What the engine says of all problems, and how it came to its end."""

    answer: ManyPackings
    stopped: StopReason
    seconds: float

    @staticmethod
    def of(answer: ManyPackings, progress: BridgeProgress) -> Told:
        """Log what there is and remember why the rest is missing."""
        progress.log(
            f"{len(answer)} knapsack problems together on {answer.device}: "
            f"{int(np.count_nonzero(answer.proven))} settled, {answer.alone} of them alone."
        )
        stopped = progress.should_stop() or StopReason.OUT_OF_MEMORY
        return Told(answer, stopped, progress.seconds)

    def outcome(
        self, k: int, problem: Problem, x: FloatArray, scale: int, options: Options
    ) -> Outcome:
        """Verify the claim on one problem, whose profits are ``scale`` times its costs.

        ``x`` is looked at if there is a packing.
        """
        answer, proven = self.answer, bool(self.answer.proven[k])
        known: dict[str, Any] = {
            "proof": Proof.EXACT,
            "engine": ENGINE,
            "device": answer.device,
            "seconds": self.seconds,
            "statistics": {"states": int(answer.states[k])},
        }
        reason = StopReason.CONVERGED if proven else self.stopped
        if answer.feasible[k]:
            objective = problem.objective_at(x)
            missing = (int(answer.bound[k]) - int(answer.profit[k])) / scale
            claim = Claim(
                SolutionStatus.OPTIMAL if proven else SolutionStatus.FEASIBLE,
                reason,
                objective=objective,
                bound=objective if proven else float(np.nextafter(objective - missing, -np.inf)),
                x=x,
                **known,
            )
        elif proven:
            message = "Not even the lightest packing keeps the capacity."
            claim = Claim(SolutionStatus.INFEASIBLE, reason, message=message, **known)
        else:
            return Outcome(SolutionStatus.NOTHING, reason, problem=problem, **known)
        return Outcome.in_model_sense(verify(problem, claim, options), problem)
