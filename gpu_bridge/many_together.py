"""Solve a batch together by PDLP: to the engine, through the gate, and the rest one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_bridge.many_batch import Batch
from gpu_bridge.many_deadline import in_time, stood_in
from gpu_bridge.many_outcomes import Part
from gpu_bridge.many_settle import settle
from gpu_bridge.options import Options
from gpu_bridge.progress import BridgeProgress
from gpu_bridge.verify import verify
from solvers.outcome import Outcome as Claim
from solvers.outcome import SolutionStatus, Start, StopReason
from solvers.problem import FloatArray, Problem

if TYPE_CHECKING:
    from solvers.pdlp.batch import BatchAnswer, BatchData


def solve_together(
    batch: Batch, options: Options, progress: BridgeProgress, start: Start | None
) -> Part:
    """Solve the LPs of a batch with the batched engine, and those it leaves one by one."""
    from solvers.pdlp import batch as engine

    data = engine_data(batch, start)
    answer = in_time("pdlp", lambda own: engine.solve(data, options, own, check=True), progress)
    if answer is None:
        return stood_in(batch, "pdlp", options, progress)
    claimed = ~batch.crossed & np.isin(
        answer.ending, (engine.Ending.CONVERGED, engine.Ending.VERTEX)
    )

    def grade(problem: Problem, k: int) -> Claim:
        return _grade(problem, k, answer, options)

    return settle(batch, data, answer, claimed, grade, options, progress)


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


def _grade(problem: Problem, k: int, answer: BatchAnswer, options: Options) -> Claim:
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


NOISE_LEVELS = (1e-3, 1e-5, 1e-7, 0.0)
"""Entries of a ray below these parts of its largest are tried as zeros."""


def cleaned(ray: FloatArray) -> list[FloatArray]:
    """Return the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return []
    ray = ray / largest
    return [np.where(np.abs(ray) > level, ray, 0.0) for level in NOISE_LEVELS]
