"""Sparse matrix formats: plain data, on the CPU (NumPy arrays) or on a GPU (CuPy arrays).

======  =============================================  =======================================
CSR     entries row by row                             the general one; GPU threads by length
COO     entries sorted by rows, each with its row      equal work for any lengths; most bytes
ELL     rows padded to one width, column by column     rows of nearly equal length
SELL    slices of rows of like length, each as in ELL  between the two: SELL-C-sigma
======  =============================================  =======================================

After "Performance Engineering for Sparse Linear Solvers" (Thies, Hager, Anzt; ISC 2026), section
on sparse matrix formats. CSR and SELL can hold their entries in compressed form
(:mod:`solvers.papers.sparse_formats.compress`). Every format multiplies from the left only; for
products with A' keep A' as a matrix of its own
(:func:`solvers.papers.sparse_formats.convert.transposed`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

import numpy as np

from solvers.core.errors import EngineError
from solvers.kernels.family import Family
from solvers.papers.sparse_formats.kernels import coo, csr, sell
from solvers.papers.sparse_formats.schedule import Schedule, array_module

FULL_SHIFTS = {4: 31, 8: 63}
"""By bytes of an index: a shift that leads every place to base 0."""


@dataclass(frozen=True, eq=False)
class Storage:
    """The entries of a matrix, in whatever form they are stored.

    Parameters
    ----------
    indices : (entries,) array
        Columns, or 16 bits counted from a base.
    values : (entries,) array
        Numbers, exact ``float32``, or codes of 8 or 16 bits into the dictionary.
    dictionary : (distinct,) float array
        What codes stand for; empty if values are no codes.
    bases : (owners / 2^base_shift,) index array
        What short indices are counted from; empty if indices are not short.
    base_shift : int
    """

    indices: Any
    values: Any
    dictionary: Any
    bases: Any
    base_shift: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments that kernels take of it (``kernels/csr.py``)."""
        return (self.indices, self.values, self.dictionary, self.bases, self.base_shift)

    @property
    def entry_bytes(self) -> int:
        """Bytes of one entry: value and index."""
        return int(self.values.dtype.itemsize) + int(self.indices.dtype.itemsize)

    @property
    def is_coded(self) -> bool:
        """Whether the values are codes."""
        return bool(self.values.dtype.kind == "u")

    @property
    def is_short(self) -> bool:
        """Whether the indices have 16 bits."""
        return bool(self.indices.dtype.kind == "u")

    @property
    def form(self) -> str:
        """How it is stored, in words; empty if not compressed."""
        bits = 8 * int(self.values.dtype.itemsize)
        words = []
        if self.is_coded:
            words.append(f"{bits}-bit codes")
        elif bits < 64:
            words.append(f"float{bits}")
        if self.is_short:
            words.append("16-bit columns")
        return ", ".join(words)


class _Format:
    """What all formats have in common."""

    format: ClassVar[str]

    rows: int
    columns: int
    nonzeros: int

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        return _bytes_of(self)

    @property
    def xp(self) -> Any:
        """The array module of its arrays: NumPy or CuPy."""
        storage: Any = getattr(self, "storage", self)
        return array_module(storage.values)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

    @property
    def label(self) -> str:
        """Format and form, as tables show it."""
        storage = getattr(self, "storage", None)
        form = "" if storage is None else storage.form
        return f"{self.format} ({form})" if form else self.format


@dataclass(frozen=True, eq=False)
class CSR(_Format):
    """Compressed rows: starts (rows + 1,), and where ``schedule`` gives them GPU threads."""

    format: ClassVar[str] = "csr"

    rows: int
    columns: int
    nonzeros: int
    starts: Any
    storage: Storage
    schedule: Schedule


@dataclass(frozen=True, eq=False)
class COO(_Format):
    """Coordinates sorted by rows: row_indices, indices and values (nonzeros,).

    ``carries`` (2 * chunks,) is scratch memory of the product, for chunks of ``chunk`` entries.
    """

    format: ClassVar[str] = "coo"

    rows: int
    columns: int
    nonzeros: int
    row_indices: Any
    indices: Any
    values: Any
    carries: Any
    chunk: int


@dataclass(frozen=True, eq=False)
class ELL(_Format):
    """Rows padded to ``width``, column by column: indices and values (width * rows,).

    Row i has ``lengths[i]`` entries, the k-th at ``k * rows + i``.
    """

    format: ClassVar[str] = "ell"

    rows: int
    columns: int
    nonzeros: int
    width: int
    lengths: Any
    indices: Any
    values: Any


@dataclass(frozen=True, eq=False)
class SELL(_Format):
    """Slices of ``2**slice_shift`` rows of like length, each padded to its own width.

    ``order`` (rows,) leads from a place to its row and is empty where they are the same;
    ``lengths`` (rows,) are those of the places; ``slice_starts`` (slices + 1,).
    """

    format: ClassVar[str] = "sell"

    rows: int
    columns: int
    nonzeros: int
    slice_shift: int
    slice_starts: Any
    lengths: Any
    order: Any
    storage: Storage


SparseMatrix: TypeAlias = CSR | COO | ELL | SELL


def _bytes_of(part: Any) -> int:
    values = [getattr(part, field.name) for field in fields(part)]
    nested = (Storage, Schedule)
    return sum(
        _bytes_of(value) if isinstance(value, nested) else int(getattr(value, "nbytes", 0))
        for value in values
    )


# The product of a matrix in any format with a vector.


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
        return [(sell.SELL, "ell_multiply", (*parts, vector, product))]
    layout = (matrix.rows, matrix.slice_shift, matrix.slice_starts, matrix.lengths)
    order = (matrix.order, int(matrix.order.size > 0))
    parts = (*layout, *order, *matrix.storage.arguments)
    return [(sell.SELL, "sell_multiply", (*parts, vector, product))]
