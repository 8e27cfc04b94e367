"""The product of a matrix in any format with a vector."""

from __future__ import annotations

from typing import Any

from solvers.errors import EngineError
from solvers.sparse.arrays import array_module
from solvers.sparse.formats import COO, CSR, ELL, SparseMatrix
from solvers.sparse.kernels import coo, csr, ell, sell


def multiply(matrix: SparseMatrix, vector: Any, product: Any = None, *, threads: int = 0) -> Any:
    """Return A x.

    Parameters
    ----------
    matrix : CSR, COO, ELL or SELL
    vector : (columns,) float array
        On the matrix's device; may hold infinities and NaNs, which reach only the rows that have
        an entry in their columns.
    product : (rows,) float array, optional
        Where to put the result; a new array if absent. With one, nothing is allocated, and a GPU
        stream may record the launches into a graph.
    threads : int
        The most CPU threads; 0 stands for all cores.

    Raises
    ------
    EngineError
        A vector of the wrong length or type.
    """
    if product is None:
        product = array_module(vector).empty(matrix.rows, dtype=vector.dtype)
    for name, array, size in (
        ("vector", vector, matrix.columns),
        ("product", product, matrix.rows),
    ):
        if array.shape != (size,) or str(array.dtype) != "float64":
            raise EngineError(
                f"The {name} of a {matrix.rows} x {matrix.columns} matrix must be an array of "
                f"{size} float64, not of shape {array.shape} and type {array.dtype}."
            )
    if isinstance(matrix, CSR):
        csr.CSR["csr_multiply"](*_csr_arguments(matrix), vector, product, threads=threads)
    elif isinstance(matrix, COO):
        _multiply_coo(matrix, vector, product, threads)
    elif isinstance(matrix, ELL):
        ell.ELL["ell_multiply"](
            matrix.rows, matrix.lengths, matrix.indices, matrix.values, vector, product,
            threads=threads,
        )  # fmt: skip
    else:
        sell.SELL["sell_multiply"](
            matrix.rows, matrix.slice_shift, matrix.slice_starts, matrix.lengths, matrix.order,
            int(matrix.order.size > 0), *matrix.storage.arguments, vector, product,
            threads=threads,
        )  # fmt: skip
    return product


def _csr_arguments(matrix: CSR) -> tuple[Any, ...]:
    return (matrix.rows, matrix.starts, *matrix.storage.arguments, *matrix.schedule.arguments)


def _multiply_coo(matrix: COO, vector: Any, product: Any, threads: int) -> None:
    family, entries, chunk = coo.COO, matrix.nonzeros, matrix.chunk
    family["coo_clear"](matrix.rows, product, threads=threads)
    family["coo_segments"](
        entries, chunk, matrix.row_indices, matrix.indices, matrix.values, vector, product,
        matrix.carries, threads=threads,
    )  # fmt: skip
    family["coo_carries"](
        entries, chunk, matrix.row_indices, matrix.carries, product, threads=threads
    )
