"""Arguments for every kernel of ``solvers/linalg/kernels``, on awkward matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import cpu
from solvers.kernels.family import Family
from solvers.linalg.kernels.iteration import (
    ALPHA,
    BETA,
    CONTROL_SIZE,
    ITERATION,
    ITERATIONS,
    LIMIT,
    RZ,
    TARGET,
)
from solvers.linalg.operator import rows_on

POISON = -7.25

Case = tuple[Family, str, list[Any]]


def random_rows(m: int, n: int, density: float, seed: int) -> sp.csr_array:
    generator = np.random.default_rng(seed)
    matrix = sp.random_array((m, n), density=density, rng=generator, format="csr")
    matrix.sort_indices()
    return matrix


def _with_long_row() -> sp.csr_array:
    generator = np.random.default_rng(5)
    long_row = sp.csr_array(generator.uniform(-1.0, 1.0, (1, 100_000)))
    short = random_rows(70, 100_000, 2e-5, 6)
    return sp.csr_array(sp.vstack([short, long_row, short]))


MATRICES = {
    **{f"square {n}": random_rows(n, n, 0.3, n) for n in (1, 31, 32, 33, 255, 256, 257)},
    "wide": random_rows(7, 400, 0.3, 1),
    "one column": random_rows(200, 1, 0.5, 2),
    "no columns": sp.csr_array((5, 0)),
    "empty rows": sp.csr_array(
        sp.vstack([sp.csr_array((40, 30)), random_rows(50, 30, 0.3, 4), sp.csr_array((3, 30))])
    ),
    "long row": _with_long_row(),
    "large": random_rows(3000, 2000, 0.01, 7),
}


def control() -> np.ndarray:
    values = np.zeros(CONTROL_SIZE)
    values[ALPHA], values[BETA], values[RZ] = 0.7, 0.3, 1.4
    values[ITERATIONS], values[LIMIT], values[TARGET] = 3, 10, 1e-30
    return values


def cases(matrix: sp.csr_array, seed: int, slots: int = 1) -> Iterator[Case]:
    """Give every kernel with arguments on the host; square matrices get the direct forms too."""
    generator = np.random.default_rng(seed)
    m, n = matrix.shape
    layout = list(rows_on(matrix, cpu()).arguments)

    def vector(size: int) -> np.ndarray:
        return generator.standard_normal(size)

    def out(size: int) -> np.ndarray:
        return np.full(size, POISON)

    def reduction() -> list[Any]:
        return [slots, np.zeros(3 * max(slots, 1)), np.zeros(1, dtype=layout[1].dtype)]

    for magnitudes in (0, 1):
        yield ITERATION, "multiply", [*layout, vector(n), magnitudes, out(m)]
    yield ITERATION, "residual", [*layout, vector(n), vector(m), out(m)]
    for normal in (0, 1):
        yield ITERATION, "diagonal", [*layout, np.abs(vector(n)), normal, out(m)]
    step = [np.abs(vector(m)), vector(n), vector(n), control(), out(m)]
    yield ITERATION, "columns_step", [*layout, *step]
    for direct in (0, 1) if m == n else (0,):
        step = [vector(n), direct, vector(m), vector(m), out(m), out(m)]
        yield ITERATION, "product", [*layout, *step, *reduction(), control()]
    step = [vector(m) for _ in range(5)]
    yield ITERATION, "update", [m, *step, out(m), *reduction(), control()]
