"""From a problem to a state: scaling, the copy to the device, and the point to start from."""

from __future__ import annotations

import numpy as np

from solvers.device import Device
from solvers.options import EngineOptions
from solvers.outcome import Start
from solvers.pdlp.matrix import to_device
from solvers.pdlp.pace import Pace
from solvers.pdlp.primal_weight import first_weight
from solvers.pdlp.scaling import find_scaling, scale_matrix
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.state import Iterate, ScaledProblem, State
from solvers.pdlp.step_size import spectral_norm
from solvers.problem import FloatArray, Problem, side_sizes
from solvers.progress import Progress

THREADS_TRIED_FROM = 60_000
"""Elementary steps of half an iteration from which threads are given a trial."""

STEPS_PER_OWNER = 8
"""What updating one row or column costs, in entries of the matrix."""

REAL_BYTES = 8

COLUMN_VECTORS = 16
ROW_VECTORS = 14
"""Vectors of a solve at the most: data, scaling, iterates, best points, and passing ones."""


def prepare(
    problem: Problem,
    options: EngineOptions,
    device: Device,
    progress: Progress,
    start: Start | None = None,
    settings: Settings = DEFAULT,
) -> State:
    """Scale a problem with at least one coefficient, copy it to the device and set it off.

    Raises
    ------
    Exception
        What the device raises when its memory is exhausted; see ``Device.is_out_of_memory``.
    """
    scaled = scale(problem, device, settings, progress, options.threads)
    norm = spectral_norm(
        scaled.by_row, scaled.by_column, device, settings, progress, options.seed, options.threads
    )
    xp = device.xp
    x = device.to_device(_first_x(problem, start)) / scaled.scaling.column
    y = device.to_device(_first_y(problem, start)) / scaled.scaling.row
    weight = first_weight(float(np.linalg.norm(device.to_host(scaled.cost))), _side_norm(scaled))
    return State(
        problem=scaled,
        settings=settings,
        x=_iterate(x, xp),
        y=_iterate(y, xp),
        reflected=x.copy(),
        control=xp.zeros(4),
        norm=norm,
        weight=weight,
        threads=options.threads,
        pace=Pace(_ways(scaled, options.threads)),
    )


def scale(
    problem: Problem, device: Device, settings: Settings, progress: Progress, threads: int = 0
) -> ScaledProblem:
    """Copy a problem to the device and scale it there."""
    xp = device.xp
    by_row = to_device(problem.matrix, device, settings.long_row)
    by_column = to_device(problem.matrix_csc, device, settings.long_row)
    scaling = find_scaling(by_row, by_column, xp, settings, progress, threads)
    return ScaledProblem(
        original=problem,
        device=device,
        scaling=scaling,
        by_row=scale_matrix(by_row, scaling.row, scaling.column, xp, threads),
        by_column=scale_matrix(by_column, scaling.column, scaling.row, xp, threads),
        cost=device.to_device(problem.cost) * scaling.column,
        lower=device.to_device(problem.lower) / scaling.column,
        upper=device.to_device(problem.upper) / scaling.column,
        row_lower=device.to_device(problem.row_lower) * scaling.row,
        row_upper=device.to_device(problem.row_upper) * scaling.row,
        side_norm=float(np.linalg.norm(side_sizes(problem.row_lower, problem.row_upper))),
        cost_norm=float(np.linalg.norm(problem.cost)),
    )


def _ways(scaled: ScaledProblem, threads: int) -> tuple[int, ...]:
    """Return the numbers of CPU threads worth a trial."""
    if scaled.device.kind != "cpu":
        return (1,)
    from solvers.kernels.twin import threads_for

    matrix = scaled.by_row
    work = matrix.nonzeros + STEPS_PER_OWNER * max(matrix.rows, matrix.columns)
    many = threads_for(work, threads, parallel_from=THREADS_TRIED_FROM)
    return (1,) if many == 1 else (1, many)


def memory_needed(problem: Problem) -> int:
    """Return about how many bytes a solve takes on its device.

    A and A' in compressed rows, their values once more while they are scaled, and the vectors.
    """
    index = problem.matrix.indices.dtype.itemsize
    entries = 2 * problem.num_nonzeros * (REAL_BYTES + index + REAL_BYTES)
    vectors = REAL_BYTES * (COLUMN_VECTORS * problem.num_columns + ROW_VECTORS * problem.num_rows)
    starts = index * (problem.num_columns + problem.num_rows + 2)
    return int(entries + vectors + starts)


def _side_norm(scaled: ScaledProblem) -> float:
    """Norm of the scaled finite sides, an equation's counted once."""
    host = scaled.device.to_host
    low, high = host(scaled.row_lower), host(scaled.row_upper)
    high = np.where(low == high, 0.0, high)
    sides = np.concatenate([low[np.isfinite(low)], high[np.isfinite(high)]])
    return float(np.linalg.norm(sides))


def _iterate(point: FloatArray, xp: object) -> Iterate:
    return Iterate(point, point.copy(), point.copy(), 0.0 * point)


def _first_x(problem: Problem, start: Start | None) -> FloatArray:
    """Return the start's values where known, else the point of the bounds nearest to zero.

    A column without coefficients moves by its own cost alone, a little at each iteration: it
    starts at the bound that its cost prefers, if there is one.
    """
    x = np.zeros(problem.num_columns)
    alone = np.diff(problem.matrix_csc.indptr) == 0
    preferred = np.where(problem.cost > 0, problem.lower, problem.upper)
    settled = alone & (problem.cost != 0) & np.isfinite(preferred)
    x[settled] = preferred[settled]
    if start is not None and start.x is not None:
        known = np.isfinite(start.x) & ~settled
        x[known] = start.x[known]
    return np.clip(x, problem.lower, problem.upper)


def _first_y(problem: Problem, start: Start | None) -> FloatArray:
    """Return the start's row duals with allowed signs, or zeros."""
    if start is None or start.row_dual is None:
        return np.zeros(problem.num_rows)
    return allowed_duals(problem, np.where(np.isfinite(start.row_dual), start.row_dual, 0.0))


def allowed_duals(problem: Problem, row_dual: FloatArray) -> FloatArray:
    """Return row duals (m,) without the parts that lean on an infinite side."""
    y = np.where(np.isfinite(problem.row_lower), row_dual, np.minimum(row_dual, 0.0))
    allowed: FloatArray = np.where(np.isfinite(problem.row_upper), y, np.maximum(y, 0.0))
    return allowed
