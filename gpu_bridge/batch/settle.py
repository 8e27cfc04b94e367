"""Verification of the batched engine's claims, and other engines for the members that fail it.

Claims of optimality are verified all at once (``batch/verify.py``), the others one by one, and the
reference engine solves the members whose claims do not hold.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gpu_bridge.batch.arrays import MemberArrays
from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.one_by_one import solve_singles
from gpu_bridge.batch.outcomes import Together, proven_bounds
from gpu_bridge.batch.verify import Checked, check_claims
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.pipeline.deadline import answered
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.outcome import Outcome as Claim
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import BoolArray, Problem
from solvers.simplex.batch.data import NOT_REACHED, BatchData

if TYPE_CHECKING:
    from solvers.simplex.batch import BatchAnswer

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
"""What no other engine has to be asked about."""

Grade = Callable[[Problem, int], Claim]
"""From a member and its number to what is left of an engine's claim once it is verified."""


def settle(
    batch: Batch,
    data: BatchData,
    answer: BatchAnswer,
    claimed: BoolArray,
    grade: Grade,
    options: Options,
    progress: BridgeProgress,
) -> Together:
    """Check an engine's claims, and have the members that it left solved one by one.

    Parameters
    ----------
    batch : Batch
    data : BatchData
        The batch as arrays.
    answer : BatchAnswer
        What the engine says.
    claimed : (K,) array of bool
        Members that are optimal by the engine's word.
    grade : callable
        Verifies one member whose claim is another, or did not hold.
    options, progress
        Of the call.
    """
    checked = answered(
        lambda own: check_claims(data, answer, claimed, options, own), progress, "check"
    )
    if checked is None:
        checked = Checked.nothing(len(batch))
    engine_optimal = int(np.count_nonzero(checked.optimal))
    progress.log(
        f"{len(batch)} LPs together on {answer.device}: {engine_optimal} optimal, "
        f"{int(np.median(answer.iterations)) if len(batch) else 0} iterations in the median, "
        f"{int(np.max(answer.iterations, initial=0))} at the most."
    )
    left = np.flatnonzero(~checked.optimal)
    others = _leftovers(batch, answer, left, grade, options, progress)
    arrays = MemberArrays(
        data,
        answer.x,
        answer.row_dual,
        checked.optimal,
        others,
        maximize=batch.problem.maximize,
    )
    return _together(batch, answer, arrays, checked, others, progress)


def _leftovers(
    batch: Batch,
    answer: BatchAnswer,
    members: npt.NDArray[np.int64],
    grade: Grade,
    options: Options,
    progress: BridgeProgress,
) -> dict[int, Outcome]:
    """Return the answers to the members that the engine did not settle."""
    found: dict[int, Outcome] = {}
    unsettled: list[int] = []
    stopped = progress.should_stop()
    for k in members.tolist():
        if stopped and answer.ending[k] == NOT_REACHED:  # no time to make problems either
            found[k] = Outcome(SolutionStatus.NOTHING, stopped, problem=batch.problem)
            continue
        if batch.crossed[k] or answer.ending[k] == NOT_REACHED:
            unsettled.append(k)
            continue
        problem = batch.member(k)
        graded = grade(problem, k)
        if graded.solution_status in SETTLED:
            found[k] = Outcome.in_model_sense(graded, problem)
        else:
            unsettled.append(k)
    if unsettled:
        progress.log(f"{len(unsettled)} of the LPs are left for the reference engine.")
    singly = dataclasses.replace(options, method="highs")
    found.update(
        zip(
            unsettled,
            solve_singles([batch.member_or_crossing(k) for k in unsettled], singly, progress),
            strict=True,
        )
    )
    for k in unsettled:
        if found[k].solution_status is SolutionStatus.NOTHING:
            found[k] = _what_there_is(batch, answer, k, found[k], grade)
    return found


def _what_there_is(
    batch: Batch, answer: BatchAnswer, k: int, nothing: Outcome, grade: Grade
) -> Outcome:
    """Prefer the engine's point to nothing when time ran out: at least it is a candidate."""
    if batch.crossed[k] or answer.ending[k] == NOT_REACHED:
        return nothing
    problem = batch.member(k)
    graded = grade(problem, k)
    if not graded.solution_status.has_values and graded.candidate is None:
        return nothing
    graded = dataclasses.replace(graded, stop_reason=nothing.stop_reason)
    return Outcome.in_model_sense(graded, problem)


def _together(
    batch: Batch,
    answer: BatchAnswer,
    arrays: MemberArrays,
    checked: Checked,
    others: dict[int, Outcome],
    progress: BridgeProgress,
) -> Together:
    """Turn objectives into the model's sense and put the other answers where they belong."""
    figures = checked.figures
    objective = figures["objective"].copy()
    bound = proven_bounds(objective, figures["dual_objective"])
    if batch.problem.maximize:
        objective, bound = -objective, -bound
    for k, outcome in others.items():
        objective[k], bound[k] = outcome.objective, outcome.bound
    gap = np.abs(figures["objective"] - figures["dual_objective"])
    residuals = {
        name: figures[name]
        for name in ("primal", "primal_relative", "dual", "dual_relative", "gap_relative")
    }
    return Together(
        batch=batch,
        arrays=arrays,
        objective=objective,
        bound=bound,
        residuals={**residuals, "gap": gap},
        iterations=answer.iterations.astype(np.float64),
        device=answer.device,
        seconds=progress.seconds,
        others=others,
        basis=answer.basis,
    )
