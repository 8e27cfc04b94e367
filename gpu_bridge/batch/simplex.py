"""Solve a batch together by the simplex method, verify it, and solve the rest alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.one_by_one import labelled, solve_singles
from gpu_bridge.batch.outcomes import Part, Singles
from gpu_bridge.batch.settle import settle
from gpu_bridge.options import Options
from gpu_bridge.pipeline.deadline import answered
from gpu_bridge.report.progress import BridgeProgress
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Basis, SolutionStatus, Start, StopReason
from solvers.core.outcome import Outcome as Claim
from solvers.core.problem import FloatArray, Problem

if TYPE_CHECKING:
    from solvers.simplex.batch import BatchAnswer, BatchData
    from solvers.simplex.batch.data import StatusArray

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
    answer = answered(lambda own: engine.solve(data, options, own, check=True), progress, "simplex")
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
    ending = answer.ending[k]
    if ending == Ending.INFEASIBLE:
        rays = cleaned(answer.row_dual[k])
        ray = next((ray for ray in rays if proves_infeasible(problem, ray)), None)
        claim = Claim(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=ray, **common)
        return verify(problem, claim, options)
    if ending == Ending.UNBOUNDED:
        claim = Claim(
            SolutionStatus.UNBOUNDED,
            StopReason.CONVERGED,
            x=answer.x[k],
            primal_ray=answer.rays[k],
            **common,
        )
        return verify(problem, claim, options)
    n = problem.num_columns
    status = answer.basis[k]
    claim = Claim(
        SolutionStatus.NOTHING,
        StopReason.CONVERGED if ending == Ending.OPTIMAL else StopReason.ITERATION_LIMIT,
        x=answer.x[k],
        row_dual=answer.row_dual[k],
        basis=Basis(status[:n], status[n:]),
        **common,
    )
    return verify(problem, claim, options)


def cleaned(ray: FloatArray) -> list[FloatArray]:
    """Return the normalised ray with ever less of it taken for noise."""
    largest = float(np.max(np.abs(ray), initial=0.0))
    if not np.isfinite(largest) or largest < np.finfo(float).tiny:
        return []
    ray = ray / largest
    return [np.where(np.abs(ray) > level, ray, 0.0) for level in NOISE_LEVELS]
