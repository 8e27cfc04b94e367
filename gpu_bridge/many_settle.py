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


class Gate:
    """The check of an engine's claims on a batch, all at once or slice by slice as they come.

    ``arrays`` are those of all members, the engine's own where it has them: the duals of those
    that are checked are clipped in place. ``figures`` are those of ``many_check`` and ``optimal``
    says who passed.
    """

    def __init__(self, data: BatchData, options: Options) -> None:
        from gpu_bridge.many_check import FIGURES

        m, n = data.pattern.shape
        self._data = data
        self._options = options
        self.arrays: dict[str, FloatArray] = {
            "row_activity": np.zeros((data.count, m)),
            "reduced_cost": np.zeros((data.count, n)),
        }
        self.optimal = np.zeros(data.count, dtype=np.bool_)
        self._figures = np.full((data.count, len(FIGURES)), np.nan)

    @property
    def figures(self) -> Mapping[str, FloatArray]:
        """What was found out about each member, by the names of ``FIGURES``."""
        from gpu_bridge.many_check import FIGURES

        return {name: self._figures[:, place] for place, name in enumerate(FIGURES)}

    def check(self, answer: Answer, claimed: BoolArray, first: int, last: int) -> None:
        """Check those of the members from ``first`` to ``last`` who are optimal by claim.

        Parameters
        ----------
        answer : Answer
        claimed : (last - first,) array of bool
        first, last : int
        """
        from gpu_bridge.many_check import check
        from solvers.kernels.twin import run_twin, threads_for

        self.arrays["x"], self.arrays["row_dual"] = answer.x, answer.row_dual
        data, part = self._data, slice(first, last)
        self.optimal[part], self._figures[part] = False, np.nan  # whatever was there before
        names = ("values", "cost", "lower", "upper", "row_lower", "row_upper", "offset")
        given = [getattr(data, name) for name in names]
        run_twin(
            check,
            (
                data.pattern.indptr,
                data.pattern.indices,
                *(array if array.shape[0] == 1 else array[part] for array in given),
                self._options.tolerance,
                claimed,
                *(self.arrays[name][part] for name in ARRAYS),
                self._figures[part],
                self.optimal[part],
            ),
            threads_for(STEPS_PER_ENTRY * (last - first) * data.pattern.nnz, self._options.threads),
        )


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
    data : BatchData
        The batch as arrays.
    claimed : (K,) array of bool
        Members that are optimal by the engine's word.
    batch, answer, grade, options, progress, **known
        As in :func:`settle_checked`.
    """
    gate = Gate(data, options)
    gate.check(answer, claimed, 0, len(batch))
    return settle_checked(batch, answer, gate, grade, options, progress, **known)


def settle_checked(
    batch: Batch,
    answer: Answer,
    gate: Gate,
    grade: Grade,
    options: Options,
    progress: BridgeProgress,
    **known: Any,
) -> Together:
    """Have the members that an engine's claims left open solved one by one.

    Parameters
    ----------
    batch, answer
        The batch, and what the engine says.
    gate : Gate
        With all claims checked.
    grade : callable
        The gate for one member whose claim is another, or did not hold.
    options, progress
        Of the call.
    **known
        More that is known of those settled together: fields of :class:`Together`.
    """
    engine_optimal = int(np.count_nonzero(gate.optimal))
    progress.log(
        f"{len(batch)} LPs together on {answer.device}: {engine_optimal} optimal, "
        f"{int(np.median(answer.iterations)) if len(batch) else 0} iterations in the median, "
        f"{int(np.max(answer.iterations, initial=0))} at the most."
    )
    others = _leftovers(batch, answer, np.flatnonzero(~gate.optimal), grade, options, progress)
    return _together(batch, answer, gate.arrays, gate.figures, others, progress, known)


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
