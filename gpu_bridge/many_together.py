"""Solve a batch together: to the engine, through the gate, and what is left over one by one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.many_batch import Batch
from gpu_bridge.many_outcomes import ARRAYS, Together, proven_bounds
from gpu_bridge.many_singles import solve_singles
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome
from gpu_bridge.progress import BridgeProgress
from gpu_bridge.verify import verify
from solvers.outcome import Outcome as Claim
from solvers.outcome import SolutionStatus, Start, StopReason
from solvers.problem import BoolArray, FloatArray, Problem

if TYPE_CHECKING:
    from solvers.pdlp.batch import BatchAnswer, BatchData

STEPS_PER_ENTRY = 8
"""What checking a member costs, in elementary steps for each entry of its matrix."""


def solve_together(
    batch: Batch, options: Options, progress: BridgeProgress, start: Start | None
) -> Together:
    """Solve the LPs of a batch with the batched engine, and those it leaves one by one."""
    from solvers.pdlp import batch as engine

    data = engine_data(batch, start)
    answer = engine.solve(data, options, progress)
    claimed = ~batch.crossed & np.isin(
        answer.ending, (engine.Ending.CONVERGED, engine.Ending.VERTEX)
    )
    arrays, figures, optimal = _check(data, answer, claimed, options)
    engine_optimal = int(np.count_nonzero(optimal))
    progress.log(
        f"{len(batch)} LPs together on {answer.device}: {engine_optimal} optimal, "
        f"{int(np.median(answer.iterations)) if len(batch) else 0} iterations in the median, "
        f"{int(np.max(answer.iterations, initial=0))} at the most."
    )
    others = _leftovers(batch, answer, np.flatnonzero(~optimal), options, progress)
    return _together(batch, answer, arrays, figures, others, progress)


def engine_data(batch: Batch, start: Start | None = None) -> BatchData:
    """Return a batch as the engine takes it."""
    from solvers.pdlp.batch import BatchData

    problem = batch.problem
    x0 = np.zeros(problem.num_columns)
    y0 = np.zeros(problem.num_rows)
    if start is not None and start.x is not None:
        x0 = np.where(np.isfinite(start.x), start.x, 0.0)
    if start is not None and start.row_dual is not None:
        y0 = np.where(np.isfinite(start.row_dual), start.row_dual, 0.0)
    return BatchData(
        count=len(batch),
        pattern=problem.matrix,
        values=batch.rows_of("coefficients"),
        cost=batch.rows_of("cost"),
        lower=batch.rows_of("lower"),
        upper=batch.rows_of("upper"),
        row_lower=batch.rows_of("row_lower"),
        row_upper=batch.rows_of("row_upper"),
        offset=batch.rows_of("offset"),
        x0=x0.reshape(1, -1),
        y0=y0.reshape(1, -1),
    )


def _check(
    data: BatchData, answer: BatchAnswer, claimed: BoolArray, options: Options
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
    answer: BatchAnswer,
    members: npt.NDArray[np.int64],
    options: Options,
    progress: BridgeProgress,
) -> dict[int, Outcome]:
    """Return the answers to the members that the engine did not settle."""
    from solvers.pdlp.batch import Ending

    found: dict[int, Outcome] = {}
    unsettled: list[int] = []
    stopped = progress.should_stop()
    for k in members.tolist():
        if stopped and answer.ending[k] == Ending.NOT_REACHED:  # no time to make problems either
            found[k] = Outcome(SolutionStatus.NOTHING, stopped, problem=batch.problem)
            continue
        if batch.crossed[k] or answer.ending[k] == Ending.NOT_REACHED:
            unsettled.append(k)
            continue
        problem = batch.member(k)
        graded = _grade(problem, answer, k, options)
        if graded.solution_status in (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE):
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
            found[k] = _what_there_is(batch, answer, k, found[k], options)
    return found


def _grade(problem: Problem, answer: BatchAnswer, k: int, options: Options) -> Claim:
    """Take the engine's claim on one member through the gate of single solves."""
    from solvers.pdlp.batch import Ending
    from solvers.rays import proves_infeasible

    common: dict[str, Any] = {
        "engine": "pdlp",
        "device": answer.device,
        "statistics": {"iterations": int(answer.iterations[k])},
    }
    if answer.ending[k] == Ending.DUAL_RAY:
        rays = cleaned(answer.row_dual[k])
        ray = next((ray for ray in rays if proves_infeasible(problem, ray)), None)
        status = SolutionStatus.NOTHING if ray is None else SolutionStatus.INFEASIBLE
        return Claim(status, StopReason.CONVERGED, dual_ray=ray, **common)
    claim = Claim(
        SolutionStatus.NOTHING,
        StopReason.ITERATION_LIMIT,
        x=answer.x[k],
        row_dual=answer.row_dual[k],
        **common,
    )
    return verify(problem, claim, options)


def _what_there_is(
    batch: Batch, answer: BatchAnswer, k: int, nothing: Outcome, options: Options
) -> Outcome:
    """Prefer the engine's feasible point to nothing when time ran out."""
    from solvers.pdlp.batch import Ending

    if batch.crossed[k] or answer.ending[k] == Ending.NOT_REACHED:
        return nothing
    problem = batch.member(k)
    graded = _grade(problem, answer, k, options)
    if not graded.solution_status.has_point:
        return nothing
    graded = dataclasses.replace(graded, stop_reason=nothing.stop_reason)
    return Outcome.in_model_sense(graded, problem)


NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a ray below these parts of its largest are tried as zeros."""


def cleaned(ray: FloatArray) -> list[FloatArray]:
    """Return the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return []
    ray = ray / largest
    return [np.where(np.abs(ray) > level, ray, 0.0) for level in NOISE_LEVELS]


def _together(
    batch: Batch,
    answer: BatchAnswer,
    arrays: dict[str, FloatArray],
    figures: Mapping[str, FloatArray],
    others: dict[int, Outcome],
    progress: BridgeProgress,
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
    )
