"""Fewer bytes for the same matrix, bit for bit.

Products wait for memory, so bytes saved are time saved. Unscaled coefficients of linear programs
repeat: codes of 8 or 16 bits into a dictionary of the distinct ones replace 8 bytes each. Numbers
that single precision holds exactly take 4 bytes. Columns take 2 bytes where a matrix has at most
65,536 of them, or where the rows of a block keep within a span of 65,536: then they are counted
from the block's base. Nothing is rounded: what cannot be held exactly is refused.

Rejected: scaling first and compressing then, which makes nearly all coefficients distinct.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from solvers.core.errors import EngineError
from solvers.papers.sparse_formats.convert import full_values, sell_owners
from solvers.papers.sparse_formats.formats import CSR, FULL_SHIFTS, SELL
from solvers.papers.sparse_formats.schedule import array_module, owners_of_entries, padded

BYTE_CODES = 256
SHORT_CODES = 4096
"""Most distinct values for codes of 16 bits: 32 KiB stay in a first-level cache."""

SHORT_SPAN = 65536
MOST_SHIFT = 8
"""A base serves up to 2^8 rows; larger blocks save next to nothing more."""

SAMPLE = 100_000
"""Values that are looked at first; too many distinct ones among them settle the matter."""

Compressible = TypeVar("Compressible", CSR, SELL)


@dataclass(frozen=True, eq=False)
class Values:
    """Values in a form: ``stored`` (entries,), and the ``dictionary`` that codes lead into."""

    form: str
    stored: Any
    dictionary: Any


@dataclass(frozen=True, eq=False)
class Columns:
    """Indices of 16 bits, and one base for each 2^shift owners."""

    stored: Any
    bases: Any
    shift: int


def dictionary_codes(values: Any, most: int = SHORT_CODES) -> Values | None:
    """Return codes for the distinct values, or None if there are more than ``most``.

    Values are told apart by their bits: -0.0 stays -0.0.
    """
    if not values.size:
        return None
    xp = array_module(values)
    bits = xp.ascontiguousarray(values).view(np.int64)
    if xp.unique(bits[:SAMPLE]).size > most:
        return None
    distinct, codes = xp.unique(bits, return_inverse=True)
    if distinct.size > most:
        return None
    form, kind = ("codes8", np.uint8) if distinct.size <= BYTE_CODES else ("codes16", np.uint16)
    return Values(form, codes.reshape(-1).astype(kind), distinct.view(np.float64))


def exact_single(values: Any) -> Values | None:
    """Return the values in single precision, or None unless every one survives it unchanged."""
    xp = array_module(values)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if not bool((single.astype(np.float64) == values).all()):
        return None
    return Values("single", single, xp.zeros(0))


def best_values(values: Any) -> Values:
    """Return the form with the fewest bytes for each value."""
    xp = array_module(values)
    codes = dictionary_codes(values)
    if codes is not None and codes.form == "codes8":
        return codes
    return codes or exact_single(values) or Values("double", values, xp.zeros(0))


def short_columns(indices: Any, owners: Any, owner_count: int, columns: int) -> Columns | None:
    """Return indices of 16 bits, or None where some owner spans too many columns.

    Parameters
    ----------
    indices, owners : (entries,) index arrays
        Column of each entry, and the row (or place) it belongs to.
    owner_count, columns : int
    """
    xp, kind = array_module(indices), indices.dtype
    if columns <= SHORT_SPAN:
        bases = xp.zeros(1, dtype=kind)
        return Columns(indices.astype(np.uint16), bases, FULL_SHIFTS[kind.itemsize])
    if not indices.size:
        return None
    low, high = _extents(indices, owners, owner_count, columns)
    if bool((high - low >= SHORT_SPAN).any()):
        return None
    shift = 0
    while shift < MOST_SHIFT and low.size > 1:
        wider_low, wider_high = _pairwise(low, high, columns)
        if bool((wider_high - wider_low >= SHORT_SPAN).any()):
            break
        low, high, shift = wider_low, wider_high, shift + 1
    bases = xp.where(high < 0, 0, low).astype(kind)
    return Columns((indices - bases[owners >> shift]).astype(np.uint16), bases, shift)


def with_values(matrix: Compressible, values: Values) -> Compressible:
    """Return the matrix with its values in another form."""
    storage = replace(matrix.storage, values=values.stored, dictionary=values.dictionary)
    return replace(matrix, storage=storage)


def with_best_values(matrix: Compressible) -> Compressible:
    """Return the matrix with its values in the form of the fewest bytes."""
    return with_values(matrix, best_values(full_values(matrix.storage)))


def with_short_columns(matrix: Compressible) -> Compressible:
    """Return the matrix with columns of 16 bits.

    Raises
    ------
    EngineError
        Some row spans 65,536 columns or more.
    """
    if matrix.storage.is_short:
        return matrix
    owners = _owners(matrix)
    inside = _inside(matrix)
    used, of_used = matrix.storage.indices[inside], owners[inside]
    short = short_columns(used, of_used, matrix.rows, matrix.columns)
    if short is None:
        raise EngineError(
            f"Columns of 16 bits cannot be used: some row of the {matrix.rows} x "
            f"{matrix.columns} matrix spans {SHORT_SPAN} columns or more. Keep full columns."
        )
    stored = array_module(used).zeros(matrix.storage.indices.size, dtype=np.uint16)
    stored[inside] = short.stored
    storage = replace(matrix.storage, indices=stored, bases=short.bases, base_shift=short.shift)
    return replace(matrix, storage=storage)


def compressed(matrix: Compressible) -> Compressible:
    """Return the matrix in the fewest bytes: best values, and short columns where they fit."""
    small = with_best_values(matrix)
    try:
        return with_short_columns(small)
    except EngineError:
        return small


def _owners(matrix: CSR | SELL) -> Any:
    if isinstance(matrix, CSR):
        return owners_of_entries(matrix.starts, matrix.nonzeros)
    return sell_owners(matrix)


def _inside(matrix: CSR | SELL) -> Any:
    """Return which stored entries are none of padding."""
    if isinstance(matrix, CSR):
        return slice(None)
    xp = array_module(matrix.lengths)
    owners = sell_owners(matrix)
    first = matrix.slice_starts[owners >> matrix.slice_shift]
    place = xp.arange(owners.size) - first
    lengths = padded(matrix.lengths, 1 << matrix.slice_shift)
    return (place >> matrix.slice_shift) < lengths[owners]


def _extents(indices: Any, owners: Any, owner_count: int, columns: int) -> tuple[Any, Any]:
    """Return the first and the last column of each owner; (columns, -1) where it has none."""
    xp = array_module(indices)
    keys = owners.astype(np.int64) * columns + indices
    keys.sort()
    ids = xp.arange(owner_count, dtype=np.int64)
    first = xp.searchsorted(keys, ids * columns, side="left")
    last = xp.searchsorted(keys, (ids + 1) * columns, side="left") - 1
    some = first <= last
    top = keys.size - 1
    low = xp.where(some, keys[xp.minimum(first, top)] - ids * columns, columns)
    high = xp.where(some, keys[xp.maximum(last, 0)] - ids * columns, -1)
    return low, high


def _pairwise(low: Any, high: Any, columns: int) -> tuple[Any, Any]:
    """Return the extents of pairs of neighbours."""
    xp = array_module(low)
    if low.size % 2:
        low = xp.concatenate([low, xp.full(1, columns, dtype=low.dtype)])
        high = xp.concatenate([high, xp.full(1, -1, dtype=high.dtype)])
    return low.reshape(-1, 2).min(axis=1), high.reshape(-1, 2).max(axis=1)
