"""The 1-norm of an inverse, from a few solves.

Hager's method (SIAM J. Sci. Stat. Comput. 5, 1984) as Higham improved it (*FORTRAN codes for
estimating the one-norm of a real or complex matrix*, ACM TOMS 14, 1988, algorithm 2.4; LAPACK's
``lacon``): the norm is the maximum of a convex function over the corners of a cube, and is climbed
from corner to corner. What it finds is a lower bound, nearly always within a factor of three.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Solve = Callable[[Vector, bool], Vector]

MOST_CLIMBS = 5
"""Higham's limit (ITMAX); two or three climbs are the rule."""


def norm_of_inverse(n: int, solve: Solve) -> float:
    """Return an estimate of the 1-norm of the inverse, never too large but for rounding.

    Parameters
    ----------
    n : int
    solve : callable
        From b (n,) and whether A is meant transposed to the x (n,) with A x = b.
    """
    if n == 0:
        return 0.0
    x = solve(np.full(n, 1.0 / n), False)
    if n == 1:
        return float(abs(x[0]))
    best, signs, last = 0.0, np.zeros(n), -1
    for _ in range(MOST_CLIMBS):
        value = float(np.abs(x).sum())
        new_signs: Vector = np.where(x >= 0.0, 1.0, -1.0)
        if value <= best or bool(np.array_equal(signs, new_signs)):
            break
        best, signs = value, new_signs
        slopes = np.abs(solve(signs, True))
        top = int(slopes.argmax())
        if last >= 0 and slopes[top] <= slopes[last]:
            break
        last = top
        x = solve(_unit(n, top), False)
    best = max(best, float(np.abs(x).sum()))
    rising = (1.0 + np.arange(n) / (n - 1)) * np.where(np.arange(n) % 2, -1.0, 1.0)
    return max(best, 2.0 * float(np.abs(solve(rising, False)).sum()) / (3.0 * n))


def _unit(n: int, place: int) -> Any:
    vector = np.zeros(n)
    vector[place] = 1.0
    return vector
