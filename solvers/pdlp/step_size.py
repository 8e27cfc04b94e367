"""The step size, from the spectral norm of the scaled matrix by power iteration on A A'.

The last stage of scaling bounds the norm by 1, and on most models it is little less; on some it is
two thirds of that, and a step half as long again saves as much of the iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.core.vectors import inner
from solvers.pdlp.products import gathered, prepared
from solvers.pdlp.settings import Settings
from solvers.pdlp.state import DeviceProblem, overwrite

NORM_AFTER_SCALING = 1.0
"""Upper bound on ||R A C||_2 after the last stage of scaling."""


def spectral_norm(
    problem: DeviceProblem,
    settings: Settings,
    progress: Progress,
    seed: int = 0,
    threads: int = 0,
) -> float:
    """Return ||R A C||_2, or a bound on it.

    The norm counts as known at ``||A A'q - lambda q|| < tolerance * min(1, lambda)``, A meaning
    the scaled matrix. When iterations run out first, that residual is added to lambda, which is an
    estimate and no bound; should it prove too small, the iteration shortens its step. When time
    runs out, the bound that the scaling guarantees is returned.
    """
    norm = NORM_AFTER_SCALING
    device, coefficients = problem.device, problem.coefficients
    row_metric = device.to_host(problem.row_metric)
    generator = np.random.default_rng(seed)
    # R q instead of q: then R^2 A C^2 A' needs no scaled copy of the matrix.
    # It is drawn in the order of the original, which does not depend on the layout.
    rows, columns = coefficients.by_row, coefficients.by_column
    first = problem.rows_to_device(generator.standard_normal(rows.rows))
    q = gathered(rows, device.to_host(first) * np.sqrt(row_metric), device)
    image = gathered(rows, np.zeros(rows.rows), device)
    by_columns = gathered(columns, np.zeros(columns.rows), device)

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
            before, after = device.to_host(q), device.to_host(image)
            eigenvalue, residual = _quotient(before, after, row_metric)
            if residual < settings.step.power_tolerance * min(1.0, eigenvalue):
                return float(np.sqrt(eigenvalue))
            norm = min(NORM_AFTER_SCALING, float(np.sqrt(eigenvalue + residual)))
            # Where signs cancel the norm is small, and its powers would leave the numbers' range.
            overwrite(image, after / np.sqrt(inner(after, after / row_metric)))
        q, image, steps, steps_back = image, q, steps_back, steps
    return norm


def _quotient(q: FloatArray, image: FloatArray, row_metric: FloatArray) -> tuple[float, float]:
    """Return Rayleigh quotient and relative residual of R q, in the norm of the scaled rows."""
    square = inner(q, q / row_metric)
    eigenvalue = inner(q, image / row_metric) / square
    away = image - eigenvalue * q
    return eigenvalue, float(np.sqrt(inner(away, away / row_metric) / square))
