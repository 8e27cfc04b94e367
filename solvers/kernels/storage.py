"""What ``device/storage.cuh`` does, for Numba: stored values and column indices turned back.

Which form an array is stored in follows from its type, when a twin is compiled and not while it
runs. Importing this imports Numba.

Columns come back unsigned. For a signed index Numba first asks whether it is negative and counts
from the end; without that question a product of CSR in cache takes half the time (72 us for 141 us
at 106 thousand nonzeros, SciPy: 80 us).
"""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from numba import types, uint64
from numba.extending import overload


def value_at(values, entry, dictionary):
    """Return a stored number: itself, or what its code means in the dictionary."""
    raise NotImplementedError("value_at is for compiled code only")


def column_at(indices, entry, bases, owner, shift):
    """Return a stored column index: itself, or counted from the base of its owners."""
    raise NotImplementedError("column_at is for compiled code only")


@overload(value_at)
def _value_at(values, entry, dictionary):
    if isinstance(values.dtype, types.Integer):
        return lambda values, entry, dictionary: dictionary[values[entry]]
    return lambda values, entry, dictionary: values[entry]


@overload(column_at)
def _column_at(indices, entry, bases, owner, shift):
    if indices.dtype == types.uint16:
        return lambda indices, entry, bases, owner, shift: (
            uint64(bases[owner >> shift]) + uint64(indices[entry])
        )
    return lambda indices, entry, bases, owner, shift: uint64(indices[entry])
