"""From a problem to what several solves with its matrix work on."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.device import Device
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.pdlp.repeated import VECTORS
from solvers.pdlp.settings import Settings
from solvers.pdlp.shared_matrix.control import FIELDS
from solvers.pdlp.shared_matrix.kernels.check import SUMS
from solvers.pdlp.shared_matrix.layout import Matrix, interleaved
from solvers.pdlp.shared_matrix.state import State
from solvers.pdlp.start import place
from solvers.pdlp.state import Iterate
from solvers.pdlp.step_size import spectral_norm

STEP_FRACTION = 0.95
"""Step size as a part of 1 / ||A||: the estimate of the norm is not corrected on the way here."""

MOST_SLOTS = 1024
"""Partial sums of a check at the most."""

UNITS_OF_SLOT = 64
"""Units that the CPU adds up one after the other."""


@dataclass(frozen=True, eq=False)
class Scales:
    """Column scale C (n,) and row scale R (m,) on the host, and the step size."""

    column: FloatArray
    row: FloatArray
    step: float


def scales_of(
    problem: Problem, options: EngineOptions, device: Device, progress: Progress, settings: Settings
) -> Scales:
    """Find scaling and step size with the layout of a single solve, which is dropped again."""
    there = place(problem, device, settings, progress, options.threads)
    norm = spectral_norm(there, settings, progress, options.seed, options.threads)
    return Scales(
        column=there.columns_to_host(there.scaling.column),
        row=there.rows_to_host(there.scaling.row),
        step=STEP_FRACTION / max(norm, 1e-300),
    )


def state_of(problem: Problem, width: int, device: Device, scales: Scales) -> State:
    """Copy the matrix and the vectors of every problem to the device; all points are zero."""
    csr, csc = problem.matrix, problem.matrix_csc
    by_row = Matrix.of(csr.indptr, csr.indices, csr.data, width, device)
    by_column = Matrix.of(csc.indptr, csc.indices, csc.data, width, device)
    vectors = {
        name: device.to_device(interleaved(getattr(problem, name), width)) for name in VECTORS
    }
    zeros = device.xp.zeros

    def side(size: int) -> Iterate:
        return Iterate(*(zeros(size * width) for _ in range(6)))

    return State(
        width=width,
        by_row=by_row,
        by_column=by_column,
        vectors=vectors,
        column_metric=device.to_device(scales.column**2),
        row_metric=device.to_device(scales.row**2),
        x=side(problem.num_columns),
        y=side(problem.num_rows),
        reflected=zeros(problem.num_columns * width),
        control=zeros((FIELDS, width)),
        row_partial=zeros((_slots(by_row, device), SUMS, width)),
        column_partial=zeros((_slots(by_column, device), SUMS, width)),
    )


def _slots(matrix: Matrix, device: Device) -> int:
    """Return into how many partial sums a check divides its work."""
    each = UNITS_OF_SLOT if device.kind == "cpu" else 1
    return max(1, min(MOST_SLOTS, -(-matrix.units // each)))
