"""A matrix that fits into the shared memory of one block, by the kernels for many of them.

For a matrix this small a library is a chain of launches, each longer than its work; one block
takes some thousandths of a millisecond for each ten columns and is launched once.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.papers.dense_lu.factors import PIVOT_EPSILON, Factors, check_finite, check_pivot
from solvers.papers.dense_lu.kernels.batched import BATCHED, shared_bytes


def fits(device: Device, n: int) -> bool:
    """Whether a block of a GPU holds a matrix with n rows, and right-hand sides beside it."""
    return shared_bytes(n, sides=n) <= device.attribute("MaxSharedMemoryPerBlockOptin")


def factorise(matrix: Any, device: Device, reuse: Factors | None) -> Factors:
    """Factorise by one block; the host waits once."""
    n, xp = int(matrix.shape[0]), device.xp
    if reuse is None:
        lu, rows = xp.empty((n, n)), xp.empty((1, n), dtype=xp.int32)
        memory = (xp.empty(1, dtype=xp.int32), xp.empty((1, 4)))
    else:
        lu, rows, memory = reuse.lu, reuse.rows, reuse.memory
    singular, verdict = memory
    factors = lu.reshape(1, n, n)
    of_one = matrix.reshape(1, n, n)
    BATCHED["factorise"](1, n, PIVOT_EPSILON, of_one, factors, rows, singular, verdict)
    norm, column, pivot, rounding = device.to_host(verdict)[0].tolist()
    if not norm < np.inf:
        check_finite(np.abs(device.to_host(matrix)).sum(axis=0))
    if column >= 0:
        check_pivot(int(column), pivot, rounding)
    return Factors(device, sys.modules[__name__], lu, rows, norm, memory)


def solve(factors: Factors, sides: Any, transposed: bool) -> None:
    """Put the solutions in place of the right-hand sides (k, n)."""
    k, n = sides.shape
    b = sides.reshape(1, k, n)
    lu = factors.lu.reshape(1, n, n)
    BATCHED["solve"](1, n, k, int(transposed), lu, factors.rows, b, b)


def inverse(factors: Factors) -> Any:
    """Return the inverse (n, n), row-major: its rows solve A' y = e."""
    found = factors.device.xp.eye(factors.size)
    solve(factors, found, True)
    return found


def order(factors: Factors) -> Any:
    """Return for each place the row of A that stands there."""
    return factors.device.to_host(factors.rows)[0]


def pivots(factors: Factors) -> Any:
    """Return the diagonal of U."""
    return factors.device.to_host(factors.lu.diagonal())
