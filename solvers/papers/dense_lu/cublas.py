"""cuBLAS's routines for many matrices, through CuPy's bindings.

``cupy.linalg.inv`` calls the same two, but keeps the status of each matrix to itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def invert(matrices: Any, inverses: Any) -> Any:
    """Invert matrices (count, n, n) by getrfBatched and getriBatched, and return their status.

    cuBLAS takes the rows for columns, and so inverts the transposed matrices into transposed
    inverses, which is the same.

    Returns
    -------
    ndarray (count,)
        On the host: the first column (of the transposed matrix) without a pivot, counted from 0,
        or -1.
    """
    import cupy
    from cupy.cuda import cublas, device

    count, n = int(matrices.shape[0]), int(matrices.shape[1])
    work = matrices.copy()
    pivots = cupy.empty((count, n), dtype=cupy.int32)
    status = cupy.empty((2, count), dtype=cupy.int32)
    step = matrices.itemsize * n * n * np.arange(count, dtype=np.uint64)
    factors, targets = (
        cupy.asarray(np.uint64(array.data.ptr) + step) for array in (work, inverses)
    )
    handle = device.get_cublas_handle()
    of_factors, of_inverses = status[0].data.ptr, status[1].data.ptr
    given = (handle, n, factors.data.ptr, n, pivots.data.ptr)
    cublas.dgetrfBatched(*given, of_factors, count)
    cublas.dgetriBatched(*given, targets.data.ptr, n, of_inverses, count)
    return cupy.asnumpy(status[0]) - 1
