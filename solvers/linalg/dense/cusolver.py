"""cuSOLVER on the current GPU, through CuPy's bindings.

``cupyx.scipy.linalg.lu_factor`` would ask for the size of the workspace, allocate it, look for
entries that are not finite and wait, each time; here the workspace is kept with the factors and
the host waits once, for a report on all of it (``factors.check``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from solvers.linalg.dense.factors import Factors

NOT_TRANSPOSED, TRANSPOSED = 0, 1
"""CUBLAS_OP_N and CUBLAS_OP_T."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What the library works in for matrices of one size."""

    size: int
    workspace: Any
    status: Any
    interchanges: Any


def factorise(columns: Any, memory: Memory | None) -> tuple[Any, Memory]:
    """Factorise in place (getrf); return the interchanges and the memory used."""
    from cupy.cuda import cusolver, device

    n = int(columns.shape[0])
    handle = device.get_cusolver_handle()
    if memory is None or memory.size != n:
        memory = _allocate(n, cusolver.dgetrf_bufferSize(handle, n, n, columns.data.ptr, n))
    cusolver.dgetrf(
        handle,
        n,
        n,
        columns.data.ptr,
        n,
        memory.workspace.data.ptr,
        memory.interchanges.data.ptr,
        memory.status.data.ptr,
    )
    return memory.interchanges, memory


def solve(factors: Factors, sides: Any, transposed: bool) -> None:
    """Put the solutions in place of the right-hand sides (k, n) (getrs)."""
    from cupy.cuda import cusolver, device

    n = factors.size
    cusolver.dgetrs(
        device.get_cusolver_handle(),
        TRANSPOSED if transposed else NOT_TRANSPOSED,
        n,
        int(sides.shape[0]),
        factors.columns.data.ptr,
        n,
        factors.interchanges.data.ptr,
        sides.data.ptr,
        n,
        factors.memory.status.data.ptr,
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


def _allocate(n: int, size: int) -> Memory:
    import cupy

    return Memory(
        n,
        cupy.empty(max(1, size), dtype=cupy.float64),
        cupy.empty(1, dtype=cupy.int32),
        cupy.empty(n, dtype=cupy.int32),
    )
