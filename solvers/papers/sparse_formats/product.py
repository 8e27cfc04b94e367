"""The product of a matrix in any format with a vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.errors import EngineError
from solvers.kernels.family import Family
from solvers.papers.sparse_formats.arrays import array_module
from solvers.papers.sparse_formats.formats import COO, CSR, ELL, SparseMatrix
from solvers.papers.sparse_formats.kernels import coo, csr, ell, sell

Call = tuple[Family, str, tuple[Any, ...]]
"""A kernel family, the name of a kernel in it, and its arguments."""


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
        A vector of the wrong length, type or layout, or on another device; or one array for both.
    """
    if product is None:
        product = matrix.xp.empty(matrix.rows)
    _check(matrix, vector, product)
    for family, name, values in _calls(matrix, vector, product):
        family[name](*values, threads=threads)
    return product


def prepared(matrix: SparseMatrix, vector: Any, product: Any) -> Callable[[], None]:
    """Return a call of ``product = A vector`` on these very arrays, with all checks done.

    On a GPU it costs little more than its launches; a loop in Python should prepare its products
    once.
    """
    _check(matrix, vector, product)
    calls = _calls(matrix, vector, product)
    if array_module(vector) is np:

        def run() -> None:
            for family, name, values in calls:
                family[name](*values)

        return run
    bound = [family.bind(name, *values) for family, name, values in calls]

    def launch_all() -> None:
        for launch in bound:
            launch()

    return launch_all


def _check(matrix: SparseMatrix, vector: Any, product: Any) -> None:
    """Refuse vectors of the wrong length, type or layout, on another device, or that overlap."""
    for name, array, size in (
        ("vector", vector, matrix.columns),
        ("product", product, matrix.rows),
    ):
        if array_module(array) is not matrix.xp:
            raise EngineError(
                f"The {name} is an array of {array_module(array).__name__} and the matrix of "
                f"{matrix.xp.__name__}; bring them to one device (Device.to_device, to_host)."
            )
        if getattr(array, "shape", None) != (size,) or str(array.dtype) != "float64":
            found = f"of shape {np.shape(array)} and type {getattr(array, 'dtype', type(array))}"
            raise EngineError(
                f"The {name} of a {matrix.rows} x {matrix.columns} matrix must be an array of "
                f"{size} float64, not {found}."
            )
        if not array.flags.c_contiguous:
            raise EngineError(f"The {name} is a part of an array with gaps; give a copy of it.")
    if not getattr(product.flags, "writeable", True):  # CuPy has none that are not
        raise EngineError("The product is an array that cannot be written to; give another one.")
    if matrix.xp.may_share_memory(vector, product):
        raise EngineError(
            "The product would overwrite the vector while it is still read; give it an array of "
            "its own."
        )


@dataclass(frozen=True, eq=False)
class MatrixPair:
    """A matrix with its transpose, which products with A' need: twice the memory of one.

    Both may be in any format, and not in the same.
    """

    matrix: SparseMatrix
    transpose: SparseMatrix

    @property
    def bytes(self) -> int:
        """Bytes of both."""
        return self.matrix.bytes + self.transpose.bytes

    def multiply(self, vector: Any, product: Any = None, *, threads: int = 0) -> Any:
        """Return A x, as :func:`multiply` does."""
        return multiply(self.matrix, vector, product, threads=threads)

    def multiply_transposed(self, vector: Any, product: Any = None, *, threads: int = 0) -> Any:
        """Return A'y: a product with the transpose held, with no sum in an order of chance."""
        return multiply(self.transpose, vector, product, threads=threads)


def _calls(matrix: SparseMatrix, vector: Any, product: Any) -> list[Call]:
    """Return the kernel calls that make a product."""
    if isinstance(matrix, CSR):
        stored = (*matrix.storage.arguments, *matrix.schedule.arguments)
        parts: tuple[Any, ...] = (matrix.rows, matrix.starts, *stored)
        return [(csr.CSR, "csr_multiply", (*parts, vector, product))]
    if isinstance(matrix, COO):
        entries = (matrix.nonzeros, matrix.chunk, matrix.row_indices)
        summed = (*entries, matrix.indices, matrix.values, vector, product, matrix.carries)
        return [
            (coo.COO, "coo_clear", (matrix.rows, product)),
            (coo.COO, "coo_segments", summed),
            (coo.COO, "coo_carries", (*entries, matrix.carries, product)),
        ]
    if isinstance(matrix, ELL):
        parts = (matrix.rows, matrix.lengths, matrix.indices, matrix.values)
        return [(ell.ELL, "ell_multiply", (*parts, vector, product))]
    layout = (matrix.rows, matrix.slice_shift, matrix.slice_starts, matrix.lengths)
    order = (matrix.order, int(matrix.order.size > 0))
    parts = (*layout, *order, *matrix.storage.arguments)
    return [(sell.SELL, "sell_multiply", (*parts, vector, product))]
