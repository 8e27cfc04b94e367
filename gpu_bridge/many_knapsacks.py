"""Many models that are knapsack problems: recognised, solved together exactly, and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from gpu_bridge.many_outcomes import Singles
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.progress import BridgeProgress
from gpu_bridge.verify import verify
from solvers.outcome import Outcome as Claim
from solvers.outcome import SolutionStatus, StopReason
from solvers.problem import Problem

if TYPE_CHECKING:
    from solvers.knapsack.many import ManyPackings
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
        None, and nothing done, where another method was asked for or some model is none.
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
    answer = _solve(models, options, progress)
    proven = int(np.count_nonzero(answer.proven))
    progress.log(
        f"{len(models)} knapsack problems together on {answer.device}: {proven} settled, "
        f"{answer.alone} of them alone."
    )
    outcomes = []
    for k, (problem, model) in enumerate(zip(members, models, strict=True)):
        claim = verify(problem, _claim(problem, model, answer, k, progress), options)
        outcomes.append(Outcome.in_model_sense(claim, problem))
    return Singles(outcomes)


def _may_be_one(problem: Problem | Exception) -> TypeGuard[Problem]:
    """Whether a look at the rows leaves it possible."""
    return (
        isinstance(problem, Problem)
        and problem.num_columns > 0
        and bool(problem.integrality.all())
        and int(np.count_nonzero(np.diff(problem.matrix.indptr) > 1)) == 1
    )


def _solve(
    models: Sequence[KnapsackModel], options: Options, progress: BridgeProgress
) -> ManyPackings:
    """Put all items side by side and solve."""
    from solvers.knapsack.many import solve_many_knapsacks

    knapsacks = [model.knapsack for model in models]
    copies = np.concatenate([knapsack.copies for knapsack in knapsacks])
    return solve_many_knapsacks(
        np.concatenate([knapsack.profit for knapsack in knapsacks]),
        np.concatenate([knapsack.weight for knapsack in knapsacks]),
        np.array([knapsack.capacity for knapsack in knapsacks], dtype=np.int64),
        options.device,
        progress,
        copies=None if (copies == 1).all() else copies,
        starts=np.cumsum([0, *(knapsack.num_items for knapsack in knapsacks)]),
        threads=options.threads,
    )


def _claim(
    problem: Problem,
    model: KnapsackModel,
    answer: ManyPackings,
    k: int,
    progress: BridgeProgress,
) -> Claim:
    """Return what the engine says of one model, in the model's own units."""
    device = answer.device
    stopped = progress.should_stop() or StopReason.OUT_OF_MEMORY
    if not answer.feasible[k]:
        if not answer.proven[k]:
            return Claim(SolutionStatus.NOTHING, stopped, engine=ENGINE, device=device)
        return Claim(
            SolutionStatus.INFEASIBLE,
            StopReason.CONVERGED,
            engine=ENGINE,
            device=device,
            message="Not even the lightest packing keeps the capacity.",
        )
    x = model.point(answer.of(k).astype(np.int64))
    objective = problem.objective_at(x)
    proven = bool(answer.proven[k])
    missing = (int(answer.bound[k]) - int(answer.profit[k])) / model.profit_scale
    return Claim(
        SolutionStatus.OPTIMAL if proven else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED if proven else stopped,
        objective=objective,
        bound=objective if proven else float(np.nextafter(objective - missing, -np.inf)),
        x=x,
        row_activity=np.asarray(problem.matrix @ x),
        engine=ENGINE,
        device=device,
        seconds=progress.seconds,
        statistics={"states": int(answer.states[k])},
    )
