"""Iterative refinement: solve again for what a solution leaves over.

The residual b - A x is summed in twice the precision (``kernels/inspect.py``), which makes the
error of x itself, and not only its residual, a rounding error while A is not close to singular
(Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, section 12.1). That costs no more
than an ordinary residual where the matrix comes from memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.papers.dense_lu.factors import EPSILON, Factors
from solvers.papers.dense_lu.kernels.inspect import INSPECT

MOST_STEPS = 5
"""LAPACK's limit (ITMAX of gerfs); one or two steps are the rule."""

LEAST_GAIN = 0.5
"""A correction has to be this much smaller than the one before, as in LAPACK's gerfs."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Refined:
    """A refined solution.

    Parameters
    ----------
    x : array (n,) or (n, k)
    backward_error : float
        Componentwise (Oettli and Prager): the smallest e such that x solves a system whose every
        coefficient and right-hand side differ by a share of at most e.
    correction : float
        Largest element of the last correction, relative to that of its solution: an estimate of
        the error before that correction was added.
    steps : int
    """

    x: Any
    backward_error: float
    correction: float
    steps: int


def refine(matrix: Any, factors: Factors, sides: Any, x: Any, most_steps: int) -> Refined:
    """Refine the solutions x (k, n) of right-hand sides (k, n), in place.

    Parameters
    ----------
    matrix : array (n, n)
        A, row-major and contiguous, on the device of the factors.
    """
    device, solve = factors.device, factors.library.solve
    correction = np.inf
    left, error = _residual(device, matrix, x, sides)
    for step in range(most_steps):
        solve(factors, left, False)
        size = _relative(device.to_host(left), device.to_host(x))
        if not size < LEAST_GAIN * correction:
            return Refined(x, error, float(correction), step)
        x += left
        correction = size
        left, error = _residual(device, matrix, x, sides)
        if size <= EPSILON:
            return Refined(x, error, size, step + 1)
    return Refined(x, error, float(correction), most_steps)


def _residual(device: Device, matrix: Any, x: Any, sides: Any) -> tuple[Any, float]:
    """Return b - A x and the componentwise backward error."""
    left, scale = device.xp.empty(x.shape), device.xp.empty(x.shape)
    k, n = x.shape
    INSPECT["residual"](n, k, matrix, x, sides, left, scale)
    return left, _share(device.to_host(left), device.to_host(scale))


def _share(left: Array, scale: Array) -> float:
    """Return the largest |r| / (|b| + |A| |x|); where nothing is to be added, 0 / 0 is 0."""
    magnitude = np.abs(left)
    if np.any(magnitude[scale == 0.0] > 0.0):
        return float(np.inf)
    return float(np.max(magnitude / np.where(scale == 0.0, 1.0, scale), initial=0.0))


def _relative(change: Array, x: Array) -> float:
    """Return the largest correction of any solution relative to the solution's largest element."""
    tops = np.abs(x).max(axis=1, initial=0.0)
    changes = np.abs(change).max(axis=1, initial=0.0)
    return _share(changes, tops)
