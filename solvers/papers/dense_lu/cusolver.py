"""cuSOLVER on the current GPU, through CuPy's bindings.

``cupyx.scipy.linalg.lu_factor`` would ask for the size of the workspace, allocate it, look for
entries that are not finite and wait, each time; here the workspace is kept with the factors and
the host waits once, for a report on all of it (``factors.check``).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from solvers.core.device import Device
from solvers.papers.dense_lu import by_columns
from solvers.papers.dense_lu.factors import Factors

NOT_TRANSPOSED, TRANSPOSED = 0, 1
"""CUBLAS_OP_N and CUBLAS_OP_T."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What the library works in for matrices of one size."""

    workspace: Any
    status: Any
    interchanges: Any


def factorise(matrix: Any, device: Device, reuse: Factors | None) -> Factors:
    """Factorise by getrf."""
    return by_columns.factorise(matrix, device, reuse, sys.modules[__name__], _getrf)


def _getrf(columns: Any, memory: Memory | None) -> tuple[Any, Memory]:
    from cupy.cuda import cusolver, device

    n, place = int(columns.shape[0]), columns.data.ptr
    handle = device.get_cusolver_handle()
    if memory is None:
        memory = _allocate(n, cusolver.dgetrf_bufferSize(handle, n, n, place, n))
    work, rows, status = memory.workspace, memory.interchanges, memory.status
    cusolver.dgetrf(handle, n, n, place, n, work.data.ptr, rows.data.ptr, status.data.ptr)
    return rows, memory


def solve(factors: Factors, sides: Any, transposed: bool) -> None:
    """Put the solutions in place of the right-hand sides (k, n), by getrs."""
    from cupy.cuda import cusolver, device

    n = factors.size
    _, memory = factors.memory
    cusolver.dgetrs(
        device.get_cusolver_handle(),
        TRANSPOSED if transposed else NOT_TRANSPOSED,
        n,
        int(sides.shape[0]),
        factors.lu.data.ptr,
        n,
        factors.rows.data.ptr,
        sides.data.ptr,
        n,
        memory.status.data.ptr,
    )


def inverse(factors: Factors) -> Any:
    """Return the inverse (n, n), row-major.

    There is no getri in cuSOLVER. The rows of the inverse solve A' y = e, and a right-hand side is
    a row here, so solving with A' for the identity leaves the inverse in its natural order.
    """
    import cupy

    found = cupy.eye(factors.size)
    solve(factors, found, True)
    return found


def order(factors: Factors) -> Any:
    """Return for each place the row of A that stands there; cuSOLVER counts rows from 1."""
    return by_columns.order(factors.device.to_host(factors.rows) - 1)


def pivots(factors: Factors) -> Any:
    """Return the diagonal of U."""
    return factors.device.to_host(factors.lu.diagonal())


def _allocate(n: int, size: int) -> Memory:
    import cupy

    return Memory(
        cupy.empty(max(1, size), dtype=cupy.float64),
        cupy.empty(1, dtype=cupy.int32),
        cupy.empty(n, dtype=cupy.int32),
    )
