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

from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

from solvers.papers.sparse_formats.arrays import array_module
from solvers.papers.sparse_formats.schedule import Schedule

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
        """The arguments that kernels take of it (``kernels/storage.py``)."""
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
