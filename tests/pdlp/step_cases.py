"""Inputs for the step and measuring kernels: vectors with infinite bounds on any matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass
class StepCase:
    """Vectors of one iteration on a matrix of m rows and n columns, all on the host."""

    matrix: sp.csr_array
    x: np.ndarray
    y: np.ndarray
    x_anchor: np.ndarray
    y_anchor: np.ndarray
    reflected: np.ndarray
    cost: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    row_lower: np.ndarray
    row_upper: np.ndarray
    control: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape


def make_case(matrix: sp.csr_array, seed: int) -> StepCase:
    """Return random vectors: bounds finite, one-sided, absent and equal, all mixed."""
    generator = np.random.default_rng(seed)
    m, n = matrix.shape
    lower, upper = _bounds(generator, n)
    row_lower, row_upper = _bounds(generator, m)
    return StepCase(
        matrix,
        np.clip(generator.standard_normal(n), lower, upper),
        generator.standard_normal(m),
        generator.standard_normal(n),
        generator.standard_normal(m),
        generator.standard_normal(n),
        generator.standard_normal(n),
        lower,
        upper,
        row_lower,
        row_upper,
        np.array([0.3, 0.7, 1.0, 5.0]),
    )


def _bounds(generator: np.random.Generator, size: int) -> tuple[Any, Any]:
    low = generator.uniform(-1.0, 0.5, size)
    high = low + generator.uniform(0.0, 2.0, size)
    kind = generator.integers(0, 5, size)
    high[kind == 0] = low[kind == 0]
    low[(kind == 1) | (kind == 3)] = -np.inf
    high[(kind == 2) | (kind == 3)] = np.inf
    return low, high
