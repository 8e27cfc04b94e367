"""cuSPARSE's CSR product at its best: preprocessed, and recorded into a graph like ours.

CuPy neither preprocesses nor records its calls of cuSPARSE, so the library is called here through
its C interface (cuSPARSE documentation, section "cusparseSpMV").
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solvers.papers.sparse_formats.formats import CSR

REAL, INDEX, BASE_ZERO, NO_TRANSPOSE = 1, {4: 2, 8: 3}, 0, 0
"""CUDA_R_64F; CUSPARSE_INDEX_32I and _64I by bytes; and the enumerators of the same names."""

ALGORITHMS = {"csr 1": 2, "csr 2": 3}
"""CUSPARSE_SPMV_CSR_ALG1 and, with the same bits in every run, CUSPARSE_SPMV_CSR_ALG2."""


class CusparseError(RuntimeError):
    """cuSPARSE is not there or refused a call."""


def product_call(matrix: CSR, vector: Any, product: Any, algorithm: str) -> Callable[[], None]:
    """Return a call of ``product = matrix @ vector``, prepared with everything it needs.

    Parameters
    ----------
    matrix : CSR
        On a GPU, not compressed.
    vector, product : (columns,) and (rows,) float64 arrays on that GPU
    algorithm : {'csr 1', 'csr 2'}

    Raises
    ------
    CusparseError
    """
    import cupy

    library = _library()
    handle = _Handles(library, matrix, vector, product)
    one, zero = ctypes.c_double(1.0), ctypes.c_double(0.0)
    shared = (
        handle.library,
        NO_TRANSPOSE,
        ctypes.byref(one),
        handle.matrix,
        handle.vector,
        ctypes.byref(zero),
        handle.product,
        REAL,
        ALGORITHMS[algorithm],
    )
    size = ctypes.c_size_t()
    _check(library.cusparseSpMV_bufferSize(*shared, ctypes.byref(size)), "SpMV_bufferSize")
    buffer = cupy.empty(max(1, size.value), dtype=cupy.uint8)
    address = ctypes.c_void_p(buffer.data.ptr)
    if hasattr(library, "cusparseSpMV_preprocess"):  # from CUDA 12.4 on
        _check(library.cusparseSpMV_preprocess(*shared, address), "SpMV_preprocess")
    kept = (matrix, vector, product, buffer, one, zero)

    def call() -> None:
        assert kept
        stream = ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)
        _check(library.cusparseSetStream(handle.library, stream), "SetStream")
        _check(library.cusparseSpMV(*shared, address), "SpMV")

    return call


class _Handles:
    """The library's descriptions of a matrix and two vectors."""

    def __init__(self, library: ctypes.CDLL, matrix: CSR, vector: Any, product: Any) -> None:
        self.library, self.matrix = ctypes.c_void_p(), ctypes.c_void_p()
        self.vector, self.product = ctypes.c_void_p(), ctypes.c_void_p()
        _check(library.cusparseCreate(ctypes.byref(self.library)), "Create")
        index = INDEX[matrix.starts.dtype.itemsize]
        arrays = (matrix.starts, matrix.indices, matrix.values)
        made = library.cusparseCreateCsr(
            ctypes.byref(self.matrix),
            *(ctypes.c_int64(size) for size in (matrix.rows, matrix.columns, matrix.nonzeros)),
            *(ctypes.c_void_p(array.data.ptr) for array in arrays),
            index,
            index,
            BASE_ZERO,
            REAL,
        )
        _check(made, "CreateCsr")
        for place, array in ((self.vector, vector), (self.product, product)):
            size, address = ctypes.c_int64(array.size), ctypes.c_void_p(array.data.ptr)
            made = library.cusparseCreateDnVec(ctypes.byref(place), size, address, REAL)
            _check(made, "CreateDnVec")


def _library() -> ctypes.CDLL:
    """Return the library that CuPy loads with the handle it makes for the first call of it."""
    from cupy.cuda import device

    device.get_cusparse_handle()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    for line in maps:
        path = line.rpartition(" ")[2]
        if "libcusparse.so" in path:
            return ctypes.CDLL(path)
    raise CusparseError("CuPy has not loaded cuSPARSE in this process.")


def _check(status: int, name: str) -> None:
    if status:
        raise CusparseError(f"cusparse{name} returned status {status}.")
