"""Tiny linear programs whose coefficients lie decades apart, of every kind of row and column.

On some of them a first-order method never arrives: all that is asked is that it ends, and claims
nothing that is wrong.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import FloatArray, Problem

LARGEST = 12
"""Rows and columns at the most."""

SMALLEST_DECADE, LARGEST_DECADE = -3, 5


def wild_lp(seed: int) -> Problem:
    """Return a random problem, which may be infeasible or unbounded."""
    generator = np.random.default_rng(seed)
    m, n = (int(size) for size in generator.integers(1, LARGEST + 1, 2))
    coefficients = _Coefficients(generator)
    A = np.where(generator.random((m, n)) < generator.uniform(0.2, 1.0), 1.0, 0.0)
    A *= coefficients.draw(m * n).reshape(m, n)
    scale = 10.0 ** generator.uniform(-2, 4)
    lower = np.where(generator.random(n) < 0.6, 0.0, -np.round(scale * generator.random(n), 2))
    lower[generator.random(n) < 0.2] = -np.inf
    upper = np.maximum(lower, np.round(scale * generator.random(n), 2))
    upper[generator.random(n) < 0.6] = np.inf
    row_lower, row_upper = _sides(generator, coefficients, A, lower, upper, scale)
    cost = coefficients.draw(n) * (generator.random(n) < generator.uniform(0.3, 1.0))
    if generator.random() < 0.4:
        cost = _supported(generator, coefficients, A, row_lower, row_upper, lower, upper)
    return Problem(cost, A, row_lower, row_upper, lower, upper, np.zeros(n, dtype=bool))


class _Coefficients:
    """Draws numbers of one of four kinds, the same for the whole problem."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._kind = int(generator.integers(4))

    def draw(self, count: int) -> FloatArray:
        """Return whole digits, powers of ten, or anything between, also rounded, of any sign."""
        generator = self._generator
        sign = generator.choice([-1.0, 1.0], count)
        if self._kind == 0:
            return sign * generator.integers(1, 10, count)
        if self._kind == 1:
            return sign * 10.0 ** generator.integers(SMALLEST_DECADE, LARGEST_DECADE + 1, count)
        size = 10.0 ** generator.uniform(SMALLEST_DECADE, LARGEST_DECADE, count)
        return sign * (np.round(size, 3) if self._kind == 2 else size)


def _sides(
    generator: np.random.Generator,
    coefficients: _Coefficients,
    A: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    scale: float,
) -> tuple[FloatArray, FloatArray]:
    """Return sides around a point within the bounds, or anywhere."""
    m, n = A.shape
    if generator.random() < 0.6:
        activity = A @ np.clip(np.round(generator.normal(0.0, scale, n), 2), lower, upper)
        low, high = (
            activity + side * np.abs(coefficients.draw(m)) * (generator.random(m) < 0.5)
            for side in (-1.0, 1.0)
        )
    else:
        low = coefficients.draw(m) * (generator.random(m) < 0.8)
        high = low + np.abs(coefficients.draw(m))
    kind = generator.integers(0, 5, m)
    high = np.where(kind == 2, low, high)
    return np.where(kind == 0, -np.inf, low), np.where(kind == 1, np.inf, high)


def _supported(
    generator: np.random.Generator,
    coefficients: _Coefficients,
    A: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return costs that have feasible duals."""
    m, n = A.shape
    y = np.abs(coefficients.draw(m)) * generator.choice([-1.0, 0.0, 1.0], m)
    y = np.where(np.isfinite(np.where(y > 0, row_lower, row_upper)), y, 0.0)
    z = np.abs(coefficients.draw(n)) * generator.choice([-1.0, 0.0, 1.0], n)
    z = np.where(np.isfinite(np.where(z > 0, lower, upper)), z, 0.0)
    costs: FloatArray = A.T @ y + z
    return costs
