"""What happens to a batched engine's claims: the gate, and other engines for what it left.

An engine's answer is grouped by what it says of each member. Optimal ones are checked all at once
(``many_check``), the others by the gate of single solves, and who passes neither is solved by the
reference engine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from gpu_bridge.many_batch import Batch
from gpu_bridge.many_outcomes import ARRAYS, Together, proven_bounds
from gpu_bridge.many_singles import solve_singles
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.progress import BridgeProgress
from solvers.outcome import Outcome as Claim
from solvers.outcome import SolutionStatus
from solvers.problem import BoolArray, FloatArray, Problem

if TYPE_CHECKING:
    from solvers.pdlp.batch import BatchData

STEPS_PER_ENTRY = 8
"""What checking a member costs, in elementary steps for each entry of its matrix."""


NOT_REACHED = -1
"""Ending of a member whose turn did not come, in every batched engine."""

SETTLED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)
"""What no other engine has to be asked about."""

Grade = Callable[[Problem, int], Claim]
"""From a member and its number to what is left of an engine's claim after the gate."""


class Answer(Protocol):
    """What batched engines say of all members; see their own classes."""

    @property
    def x(self) -> FloatArray:
        """Points (K, n)."""

    @property
    def row_dual(self) -> FloatArray:
        """Row duals (K, m), or rays."""

    @property
    def ending(self) -> npt.NDArray[np.int32]:
        """An engine's own number for how each ended, or :data:`NOT_REACHED`."""

    @property
    def iterations(self) -> npt.NDArray[np.int32]:
        """Iterations (K,)."""

    @property
    def device(self) -> str:
        """Where it ran."""


def settle(
    batch: Batch,
    data: BatchData,
    answer: Answer,
    claimed: BoolArray,
    grade: Grade,
    options: Options,
    progress: BridgeProgress,
    **known: Any,
) -> Together:
    """Check an engine's claims, and have the members that it left solved one by one.

    Parameters
    ----------
    batch, data, answer
        The batch, the same as arrays, and what the engine says.
    claimed : (K,) array of bool
        Members that are optimal by the engine's word.
    grade : callable
        The gate for one member whose claim is another, or did not hold.
    options, progress
        Of the call.
    **known
        More that is known of those settled together: fields of :class:`Together`.
    """
    arrays, figures, optimal = _check(data, answer, claimed, options)
    engine_optimal = int(np.count_nonzero(optimal))
    progress.log(
        f"{len(batch)} LPs together on {answer.device}: {engine_optimal} optimal, "
        f"{int(np.median(answer.iterations)) if len(batch) else 0} iterations in the median, "
        f"{int(np.max(answer.iterations, initial=0))} at the most."
    )
    others = _leftovers(batch, answer, np.flatnonzero(~optimal), grade, options, progress)
    return _together(batch, answer, arrays, figures, others, progress, known)


def _check(
    data: BatchData, answer: Answer, claimed: BoolArray, options: Options
) -> tuple[dict[str, FloatArray], Mapping[str, FloatArray], BoolArray]:
    """Return the arrays of all members, the figures of the check, and who is optimal."""
    from gpu_bridge.many_check import FIGURES, check
    from solvers.kernels.twin import run_twin, threads_for

    arrays = {
        "x": answer.x,
        "row_dual": answer.row_dual.copy(),  # an engine's rays are still to be read
        "row_activity": np.zeros_like(answer.row_dual),
        "reduced_cost": np.zeros_like(answer.x),
    }
    figures = np.full((data.count, len(FIGURES)), np.nan)
    optimal = np.zeros(data.count, dtype=np.bool_)
    work = STEPS_PER_ENTRY * data.count * data.pattern.nnz
    run_twin(
        check,
        (
            data.pattern.indptr,
            data.pattern.indices,
            data.values,
            data.cost,
            data.lower,
            data.upper,
            data.row_lower,
            data.row_upper,
            data.offset,
            options.tolerance,
            claimed,
            arrays["x"],
            arrays["row_dual"],
            arrays["row_activity"],
            arrays["reduced_cost"],
            figures,
            optimal,
        ),
        threads_for(work, options.threads),
    )
    by_name = {name: figures[:, place] for place, name in enumerate(FIGURES)}
    return arrays, by_name, optimal


def _leftovers(
    batch: Batch,
    answer: Answer,
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


def _what_there_is(batch: Batch, answer: Answer, k: int, nothing: Outcome, grade: Grade) -> Outcome:
    """Prefer the engine's feasible point to nothing when time ran out."""
    if batch.crossed[k] or answer.ending[k] == NOT_REACHED:
        return nothing
    problem = batch.member(k)
    graded = grade(problem, k)
    if not graded.solution_status.has_point:
        return nothing
    graded = dataclasses.replace(graded, stop_reason=nothing.stop_reason)
    return Outcome.in_model_sense(graded, problem)


def _together(
    batch: Batch,
    answer: Answer,
    arrays: dict[str, FloatArray],
    figures: Mapping[str, FloatArray],
    others: dict[int, Outcome],
    progress: BridgeProgress,
    known: Mapping[str, Any],
) -> Together:
    """Turn everything into the model's sense and put the other answers where they belong."""
    objective = figures["objective"].copy()
    bound = proven_bounds(objective, figures["dual_objective"])
    if batch.problem.maximize:
        objective, bound = -objective, -bound
        for name in ("row_dual", "reduced_cost"):
            np.subtract(0.0, arrays[name], out=arrays[name])
    iterations = answer.iterations.astype(np.float64)
    for k, outcome in others.items():
        objective[k], bound[k] = outcome.objective, outcome.bound
        for name in ARRAYS:
            value = getattr(outcome, name)
            arrays[name][k] = np.nan if value is None else value
    gap = np.abs(figures["objective"] - figures["dual_objective"])
    residuals = {
        name: figures[name]
        for name in ("primal", "primal_relative", "dual", "dual_relative", "gap_relative")
    }
    optimal = np.ones(len(batch), dtype=np.bool_)
    optimal[list(others)] = False
    return Together(
        batch=batch,
        arrays=arrays,
        objective=objective,
        bound=bound,
        residuals={**residuals, "gap": gap},
        iterations=iterations,
        optimal=optimal,
        device=answer.device,
        seconds=progress.seconds,
        others=others,
        **known,
    )
