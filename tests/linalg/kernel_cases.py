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
from tests import matrices

POISON = -7.25

Case = tuple[Family, str, list[Any]]


MATRICES = {name: one for name, one in matrices.MATRICES.items() if one.shape[0]}


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
