"""Diagonal scaling, so that R A C has entries near one in every row and column, and the step size.

In this order: passes of Curtis and Reid (1972), which make the logarithms of the entries small in
the mean square, and tame badly scaled models, with a ridge that keeps a few tiny entries from
blowing up the scales of their rows and columns; Ruiz passes (Ruiz 2001) by the root of the greatest
magnitude, rows and columns at once; and one pass by the root of the sum of magnitudes (Pock and
Chambolle 2011, alpha = 1), after which ``||A||_2 <= 1``. Each stage is worth it
(``docs/pdlp-constants.md``); passes by the geometric mean of each row's and column's extremes,
which others put first, took a tenth more iterations than those of Curtis and Reid.

The step size follows from the spectral norm of the scaled matrix, by power iteration on A A'. The
last stage of scaling bounds it by 1, and on most models it is little less; on some it is two thirds
of that, and a step half as long again saves as much of the iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.kernels.matrix import LARGEST, MATRIX, SUMMED, TOTAL
from solvers.pdlp.settings import Settings
from solvers.pdlp.state import (
    Coefficients,
    DeviceProblem,
    Matrix,
    Scaling,
    each,
    gathered,
    ones,
    own_parts,
    prepared,
    zeros,
)


def without_curtis_reid(settings: Settings) -> Settings:
    """Return settings with Ruiz's scaling alone."""
    return settings.changed(scaling={"curtis_reid_passes": 0})


def find_scaling(
    by_row: Matrix,
    by_column: Matrix,
    device: Device,
    settings: Settings,
    progress: Progress,
    threads: int = 0,
) -> Scaling:
    """Return the scaling of A, given as A and as A'.

    Empty rows and columns keep the scale 1. When time runs out, the passes left are left out.
    """
    row, next_row = ones(by_row, device), zeros(by_row, device)
    column, next_column = ones(by_column, device), zeros(by_column, device)

    def rescale(matrix: Matrix, mode: int, own: Any, other: Any, scaled: Any) -> None:
        prepared("rescale", matrix, mode, own, other, scaled, threads=threads)()

    ridge = settings.scaling.curtis_reid_ridge
    balance_rows = prepared("balance", by_row, ridge, column, row, threads=threads)
    balance_columns = prepared("balance", by_column, ridge, row, column, threads=threads)
    for _ in range(settings.scaling.curtis_reid_passes):
        if progress.should_stop():
            break
        balance_rows()
        balance_columns()
    for mode in [LARGEST] * settings.scaling.ruiz_passes + [TOTAL]:
        if mode == LARGEST and progress.should_stop():
            continue
        rescale(by_row, mode, row, column, next_row)
        rescale(by_column, mode, column, row, next_column)
        row, next_row = next_row, row
        column, next_column = next_column, column
    return Scaling(row, column)


NORM_AFTER_SCALING = 1.0
"""Upper bound on ||R A C||_2 after the last stage of scaling."""


def drawn_rows(coefficients: Coefficients, device: Device, seed: int = 0) -> Any:
    """Return a vector (m,) for the power iteration to begin with, on the device.

    It is drawn in the order of the original, which does not depend on the layout.
    """
    drawn: FloatArray = np.random.default_rng(seed).standard_normal(coefficients.by_row.rows)
    return gathered(coefficients.by_row, coefficients.rows_in_order(drawn), device)


def spectral_norm(
    problem: DeviceProblem, settings: Settings, progress: Progress, q: Any, threads: int = 0
) -> float:
    """Return an estimate of ||R A C||_2 from above, but no bound.

    It is the root of lambda + ``||A A'q - lambda q||`` after some power iterations, A meaning the
    scaled matrix, from ``q`` (m,) on the device, which is overwritten. Should it prove too small,
    the iteration shortens its step. When time runs out, the bound that the scaling guarantees is
    returned.
    """
    norm = NORM_AFTER_SCALING
    device, coefficients = problem.device, problem.coefficients
    rows, columns = coefficients.by_row, coefficients.by_column
    # R q instead of q: then R^2 A C^2 A' needs no scaled copy of the matrix.
    each(rows, "times_root", problem.row_metric, q, threads=threads)
    image, by_columns = zeros(rows, device), zeros(columns, device)

    def product(vector: Any, into: Any) -> tuple[Callable[[], None], ...]:
        first = (columns, problem.column_metric, vector, by_columns)
        second = (rows, problem.row_metric, by_columns, into)
        return tuple(
            prepared("multiply_scaled", *values, threads=threads) for values in (first, second)
        )

    steps, steps_back = product(q, image), product(image, q)
    for count in range(1, settings.step.power_iterations + 1):
        for step in steps:
            step()
        if count % settings.step.power_check == 0:
            if progress.should_stop():
                return NORM_AFTER_SCALING
            eigenvalue, residual, size = _quotient(problem, q, image, threads)
            norm = min(NORM_AFTER_SCALING, float(np.sqrt(eigenvalue + residual)))
            if count == settings.step.power_iterations:
                break
            # Where signs cancel the norm is small, and its powers would leave the numbers' range.
            each(rows, "divide", size, image, threads=threads)
        q, image, steps, steps_back = image, q, steps_back, steps
    return norm


def _quotient(
    problem: DeviceProblem, q: Any, image: Any, threads: int
) -> tuple[float, float, float]:
    """Return Rayleigh quotient and relative residual of R q, and the size of its image.

    Sizes are in the norm of the scaled rows.
    """
    rows, values = problem.coefficients.by_row, (q, image, problem.row_metric)
    sums = sums_of_blocks("quotient_sums", rows, problem.device, 3, *values, threads=threads)
    square, product, image_square = sums.tolist()
    eigenvalue = product / square
    residual = math.sqrt(max(0.0, image_square / square - eigenvalue**2))
    return eigenvalue, residual, math.sqrt(image_square)


def sums_of_blocks(
    name: str, matrix: Matrix, device: Device, terms: int, *values: Any, threads: int = 0
) -> FloatArray:
    """Return the sums (terms,) that a kernel makes, block by block, of figures of the rows."""
    sums = []
    for own in own_parts(matrix, values):
        blocks = -(-own[0].size // SUMMED)
        there = device.xp.empty(terms * blocks)
        MATRIX[name](own[0].size, blocks, *own, there, threads=threads)
        sums.append(there)
    device.synchronize()
    members = device.members if isinstance(device, DeviceGroup) else (device,)
    found = [member.to_host(own) for member, own in zip(members, sums, strict=True)]
    by_block = np.concatenate([own.reshape(terms, -1) for own in found], axis=1)
    added: FloatArray = by_block.sum(axis=1)
    return added
