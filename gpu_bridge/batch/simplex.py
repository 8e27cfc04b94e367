"""Solve a batch together by the simplex method, verify it, and solve the rest alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.one_by_one import labelled, solve_singles
from gpu_bridge.batch.outcomes import MemberArrays, Part, Singles, Together, proven_bounds
from gpu_bridge.batch.verify import Checked, check_claims
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Basis, SolutionStatus, Start, StopReason
from solvers.core.outcome import Outcome as Claim
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.progress import DetachableProgress, run_beside
from solvers.simplex.batch.data import NOT_REACHED, BatchData

if TYPE_CHECKING:
    from solvers.simplex.batch import BatchAnswer, BatchData
    from solvers.simplex.batch.data import StatusArray


# Verification of the batched engine's claims, and other engines for the members that fail it.
#
# Claims of optimality are verified all at once (``batch/verify.py``), the others one by one, and
# the reference engine solves the members whose claims do not hold.


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
    checked = run_beside(
        lambda own: check_claims(data, answer, claimed, options, own),
        DetachableProgress(progress),
        "check",
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
    names = ("primal", "primal_relative", "dual", "dual_relative", "gap_relative")
    residuals = {name: figures[name] for name in names}
    residuals["gap"] = np.abs(figures["objective"] - figures["dual_objective"])
    return Together(
        batch=batch,
        arrays=arrays,
        objective=objective,
        bound=bound,
        residuals=residuals,
        iterations=answer.iterations.astype(np.float64),
        device=answer.device,
        seconds=progress.seconds,
        others=others,
        basis=answer.basis,
    )


LARGEST_DICTIONARY = 300_000
"""Rows times columns up to which members are solved together: every pivot passes over a dense
matrix of that size."""

LARGEST_ON_CPU = 100_000
"""The same on a CPU where nobody asked for it. On two cores forty variants of a sparse Netlib model
took a 28th to a third of HiGHS's time up to 20,000, an eighth to its 1.4-fold up to 100,000 and a
third to its sixfold beyond; dense models a fifth of it and less."""

NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a ray below these parts of its largest are tried as zeros."""


def fits(problem: Problem) -> bool:
    """Whether members of this size are solved together by the simplex method."""
    return problem.num_rows * problem.num_columns <= LARGEST_DICTIONARY


def fits_cpu(problem: Problem) -> bool:
    """Whether members of this size end sooner on a CPU that way than by HiGHS."""
    return problem.num_rows * problem.num_columns <= LARGEST_ON_CPU


def solve_by_simplex(
    batch: Batch, options: Options, progress: BridgeProgress, start: Start | None
) -> Part:
    """Solve the LPs of a batch to vertices, and those that the engine leaves one by one.

    Parameters
    ----------
    batch : Batch
    options : Options
    progress : BridgeProgress
    start : Start, optional
        Its basis is where all members start; a point without one is not used.
    """
    from solvers.simplex import batch as engine

    data = simplex_data(batch, start)
    answer = run_beside(
        lambda own: engine.solve(data, options, own, check=True),
        DetachableProgress(progress),
        "simplex",
    )
    if answer is None:  # the time is up, which singly they are told
        members = [batch.member_or_crossing(k) for k in range(len(batch))]
        return Singles(labelled(solve_singles(members, options, progress), batch), batch)
    claimed = ~batch.crossed & (answer.ending == engine.Ending.OPTIMAL)

    def grade(problem: Problem, k: int) -> Claim:
        return _grade(problem, k, answer, options)

    return settle(batch, data, answer, claimed, grade, options, progress)


def simplex_data(batch: Batch, start: Start | None = None) -> BatchData:
    """Return a batch as the engine takes it."""
    from solvers.simplex.batch import BatchData

    basis: StatusArray | None = None
    if start is not None and start.basis is not None:
        basis = np.concatenate([start.basis.column_status, start.basis.row_status])
        basis = basis.reshape(1, -1)
    return BatchData(
        count=len(batch),
        pattern=batch.problem.matrix,
        values=batch.rows_of("coefficients"),
        cost=batch.rows_of("cost"),
        lower=batch.rows_of("lower"),
        upper=batch.rows_of("upper"),
        row_lower=batch.rows_of("row_lower"),
        row_upper=batch.rows_of("row_upper"),
        offset=batch.rows_of("offset"),
        basis=basis,
    )


def _grade(problem: Problem, k: int, answer: BatchAnswer, options: Options) -> Claim:
    """Verify the engine's claim on one member as that of a single solve."""
    from solvers.core.rays import proves_infeasible
    from solvers.simplex.batch import Ending

    common: dict[str, Any] = {
        "engine": "simplex",
        "device": answer.device,
        "statistics": {"iterations": int(answer.iterations[k])},
    }
    ending, n = answer.ending[k], problem.num_columns
    status, reason = SolutionStatus.NOTHING, StopReason.CONVERGED
    if ending == Ending.INFEASIBLE:
        status, rays = SolutionStatus.INFEASIBLE, cleaned(answer.row_dual[k])
        common["dual_ray"] = next((ray for ray in rays if proves_infeasible(problem, ray)), None)
    elif ending == Ending.UNBOUNDED:
        status = SolutionStatus.UNBOUNDED
        common |= {"x": answer.x[k], "primal_ray": answer.rays[k]}
    else:
        basis = Basis(answer.basis[k][:n], answer.basis[k][n:])
        common |= {"x": answer.x[k], "row_dual": answer.row_dual[k], "basis": basis}
        if ending != Ending.OPTIMAL:
            reason = StopReason.ITERATION_LIMIT
    return verify(problem, Claim(status, reason, **common), options)


def cleaned(ray: FloatArray) -> list[FloatArray]:
    """Return the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return []
    ray = ray / largest
    return [np.where(np.abs(ray) > level, ray, 0.0) for level in NOISE_LEVELS]
