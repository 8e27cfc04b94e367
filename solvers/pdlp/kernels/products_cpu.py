"""Reading matrices in slices, for the Numba twins of this folder."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from numba import types
from numba.extending import register_jitable

from solvers.kernels.storage import value_at

# Numba tests signed indices for wrap-around, which made a product twice as slow.
_unsigned = types.uint64


@register_jitable
def entry_value(values, table, entry):
    """Return the coefficient at a place: itself, or what its code stands for."""
    return value_at(values, _unsigned(entry), table)


@register_jitable
def row_entries(height, meta, at, which):
    """Return where row ``which`` of slice ``at`` begins, its steps, their stride and its lanes.

    A row of one unit or several stands in one piece, which its first slice describes.
    """
    code = meta[at, 3]
    first, steps, lanes = meta[at, 0] * height, meta[at, 1], 1 << (code & 15)
    if (code >> 4) & 3:
        return first, steps * (code >> 12) * height, 1, 1
    return first + which * lanes, steps, height, lanes


@register_jitable
def slice_product(height, meta, indices, values, table, at, which, vector):
    """Return the product of a vector with row ``which`` of the slice in place ``at``."""
    begin, steps, stride, lanes = row_entries(height, meta, at, which)
    total = 0.0
    if lanes == 1 and stride == 1:
        for entry in range(_unsigned(begin), _unsigned(begin + steps)):
            column = _unsigned(indices[entry])
            total += value_at(values, entry, table) * vector[column]
        return total
    for step in range(steps):
        for entry in range(begin + step * stride, begin + step * stride + lanes):
            column = _unsigned(indices[_unsigned(entry)])
            total += value_at(values, _unsigned(entry), table) * vector[column]
    return total


@register_jitable
def row_product(meta, indices, values, table, at, vector):
    """Return the product of a vector with a slice that is a row in its place (height 1)."""
    begin = _unsigned(meta[at, 0])
    total = 0.0
    for entry in range(begin, begin + _unsigned(meta[at, 1])):
        total += value_at(values, entry, table) * vector[_unsigned(indices[entry])]
    return total


@register_jitable
def slice_rows(meta, at):
    """Return how many rows stand in the slice, and the first of them."""
    return (meta[at, 3] >> 6) & 63, meta[at, 2]
