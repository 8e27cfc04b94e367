"""Small models with data as ugly as users have them, from a seed.

Coefficients of one size or from 1e-9 to 1e9, almost whole, with big constants; rows empty,
repeated, scaled or turned; columns empty, fixed, free, or whole within fractional bounds; sides
that touch a known point, or miss it.
"""

from __future__ import annotations

import numpy as np

from solvers.core.errors import CrossedBoundsError
from solvers.core.problem import Problem

INF = np.inf
STYLES = ("whole", "decimal", "mild", "wild", "big", "near", "unit")


def number(rng: np.random.Generator, style: str) -> float:
    """Return a coefficient."""
    sign = float(rng.choice([-1, 1]))
    if style == "whole":
        return float(rng.integers(-5, 6))
    if style == "decimal":
        return round(float(rng.uniform(-5, 5)), int(rng.integers(0, 4)))
    if style == "mild":
        return sign * float(10.0 ** rng.uniform(-3, 3))
    if style == "wild":
        return sign * float(10.0 ** rng.uniform(-9, 9))
    if style == "big":
        return sign * float(rng.choice([1, 1000, 1e6, 2, 3]))
    if style == "near":
        return float(rng.integers(-4, 5)) + float(rng.choice([0, 0, 1e-9, -1e-9, 1e-7, -1e-6]))
    return sign


def ugly_problem(seed: int, *, integer: bool = False, most: int = 5) -> Problem | None:
    """Return a model with up to ``most`` rows and columns; None where its own bounds cross."""
    rng = np.random.default_rng(seed)
    style = str(rng.choice(STYLES))
    m, n = int(rng.integers(0, most + 1)), int(rng.integers(1, most + 1))
    A = _matrix(rng, style, m, n)
    whole = rng.random(n) < rng.uniform(0.2, 1.2) if integer else np.zeros(n, dtype=bool)
    whole[0] |= integer
    lower, upper = _bounds(rng, style, whole)
    point = np.clip(rng.integers(-3, 8, n), np.maximum(lower, -1e6), np.minimum(upper, 1e6))
    point = np.where(whole, np.ceil(point), point)
    row_lower, row_upper = _sides(rng, style, A @ point)
    if m > 1 and rng.random() < 0.2:
        i, k = rng.choice(m, 2, replace=False)
        A[i], row_lower[i], row_upper[i] = A[k], row_lower[k], row_upper[k]
    cost = np.zeros(n) if rng.random() < 0.1 else np.array([number(rng, style) for _ in range(n)])
    try:
        return Problem.from_arrays(
            cost,
            A,
            row_lower,
            row_upper,
            lower=lower,
            upper=upper,
            integrality=whole,
            offset=number(rng, style) if rng.random() < 0.3 else 0.0,
            maximize=bool(rng.random() < 0.3),
        )
    except CrossedBoundsError:
        return None


def _matrix(rng: np.random.Generator, style: str, m: int, n: int) -> np.ndarray:
    density = rng.uniform(0.2, 1.0)
    A = np.array([[number(rng, style) for _ in range(n)] for _ in range(m)]).reshape(m, n)
    A[rng.random((m, n)) >= density] = 0.0
    if m and rng.random() < 0.15:
        A[rng.integers(m)] = 0.0
    if rng.random() < 0.15:
        A[:, rng.integers(n)] = 0.0
    if m > 1 and rng.random() < 0.25:
        i, k = rng.choice(m, 2, replace=False)
        A[i] = A[k] * rng.choice([1.0, -1.0, 2.0, 0.5, 3.0])
    return A


def _bounds(
    rng: np.random.Generator, style: str, whole: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = np.zeros(whole.size), np.full(whole.size, INF)
    for j in range(whole.size):
        kind = rng.integers(7)
        if kind == 0:
            lower[j] = -INF
        elif kind == 1:
            lower[j], upper[j] = -INF, number(rng, style)
        elif kind == 2:
            lower[j] = upper[j] = number(rng, style)
        elif kind == 3:
            lower[j], upper[j] = sorted([number(rng, style), number(rng, style)])
        elif kind == 4:
            upper[j] = float(rng.integers(0, 20))
        elif kind == 5:
            lower[j] = round(float(rng.uniform(-4, 4)), 2)
            upper[j] = lower[j] + round(float(rng.uniform(0, 8)), 2)
        if whole[j] and rng.random() < 0.8:  # mostly finite boxes, for the exact search to end
            lower[j] = max(lower[j], min(-10.0, upper[j] - 10.0))
            upper[j] = min(upper[j], lower[j] + 20.0)
    return lower, upper


def _sides(
    rng: np.random.Generator, style: str, activity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    row_lower, row_upper = np.full(activity.size, -INF), np.full(activity.size, INF)
    touched = rng.random() < 0.75
    for i, value in enumerate(activity.tolist()):
        at = value if touched else number(rng, style)
        room = abs(number(rng, style)) if rng.random() < 0.6 else 0.0
        kind = rng.integers(5)
        if kind in (0, 1):
            row_upper[i] = at + room
        elif kind == 2:
            row_lower[i] = at - room
        elif kind == 3:
            row_lower[i] = row_upper[i] = at
        else:
            row_lower[i], row_upper[i] = at - room, at + abs(number(rng, style))
    return row_lower, row_upper
