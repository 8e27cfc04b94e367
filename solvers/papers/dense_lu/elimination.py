"""The three-kernel elimination of ``kernels/elimination.py``, driven as the paper does.

The augmented matrix goes to the device, each of the n - 1 steps is three launches with a wait for
each, the triangle comes back, and the host substitutes back (the paper's figure 1 and section 4).
Whoever wants a system solved takes ``solvers.papers.dense_lu.lu``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.papers.dense_lu.kernels.elimination import ELIMINATION
from solvers.papers.dense_lu.lu import SingularMatrixError

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Elimination:
    """A solution, and the seconds that each phase took (the paper's table 4)."""

    x: Array
    """(n,)."""
    to_device: float
    elimination: float
    to_host: float
    substitution: float

    @property
    def seconds(self) -> float:
        """All of them together."""
        return self.to_device + self.elimination + self.to_host + self.substitution


def solve_by_elimination(matrix: Array, side: Array, device: Device) -> Elimination:
    """Solve A x = b for one right-hand side, by the paper's scheme.

    Parameters
    ----------
    matrix : ndarray (n, n)
    side : ndarray (n,)

    Raises
    ------
    SingularMatrixError
        A column has no entry but zeros to divide by.
    """
    times = [time.perf_counter()]

    def tick() -> None:
        device.synchronize()
        times.append(time.perf_counter())

    augmented = device.to_device(np.column_stack([matrix, side]))
    tick()
    _eliminate(augmented, device)
    tick()
    triangle = device.to_host(augmented)
    tick()
    x = _substitute_back(triangle)
    tick()
    phases = np.diff(times)
    return Elimination(x, *(float(seconds) for seconds in phases))


def _eliminate(augmented: Any, device: Device) -> None:
    n = int(augmented.shape[0])
    row = device.xp.zeros(1, dtype=device.xp.int32)
    for k in range(n - 1):
        ELIMINATION["find_pivot"](n, k, augmented, row)
        device.synchronize()
        found = int(device.to_host(row)[0])
        if found != k and found < n:
            ELIMINATION["swap_rows"](n, k, found, augmented)
            device.synchronize()
        ELIMINATION["eliminate"](n, k, augmented)
        device.synchronize()


def _substitute_back(triangle: Array) -> Array:
    n = triangle.shape[0]
    pivots = np.diagonal(triangle)
    bad = np.flatnonzero(~(np.abs(pivots) > 0.0))
    if bad.size:
        raise SingularMatrixError(int(bad[0]))
    x = np.empty(n)
    for i in range(n - 1, -1, -1):
        x[i] = (triangle[i, n] - triangle[i, i + 1 : n] @ x[i + 1 :]) / pivots[i]
    return x
