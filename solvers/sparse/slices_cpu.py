"""Laying a matrix out in slices, as plain loops on the host."""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled

_TABLE_FACTOR = 4
_MIX = np.uint64(0x9E3779B97F4A7C15)


@compiled
def distinct_values(values, limit):
    """Return the distinct values, in the order they come, or the first ``limit`` of them.

    An open hash table of the bits: one pass, which ends early where there are too many.
    """
    places = 1
    shift = 64
    while places < _TABLE_FACTOR * limit:
        places *= 2
        shift -= 1
    seen = np.full(places, -1, np.int64)
    bits = values.view(np.uint64)
    found = np.empty(limit, values.dtype)
    count = 0
    for k in range(values.size):
        place = (bits[k] * _MIX) >> np.uint64(shift)
        while seen[place] >= 0 and found[seen[place]] != values[k]:
            place = (place + np.uint64(1)) % np.uint64(places)
        if seen[place] < 0:
            if count == limit:
                return found
            seen[place] = count
            found[count] = values[k]
            count += 1
    return found[:count]


@compiled
def fill(
    starts, indices, values, table, order, column_position, first_place, lanes, height,
    laid_indices, laid_values,
):  # fmt: skip
    """Put the entries of each row where its slice has them; codes for values if there is a table.

    Row i, ``order[i]`` of the matrix, begins at ``first_place[i]`` and has ``lanes[i]`` lanes.
    """
    for i in range(order.size):
        old = order[i]
        own = lanes[i]
        for entry in range(starts[old], starts[old + 1]):
            within = entry - starts[old]
            place = first_place[i] + within // own * height + within % own
            laid_indices[place] = column_position[indices[entry]]
            if table.size:
                laid_values[place] = 1 + np.searchsorted(table[1:], values[entry])
            else:
                laid_values[place] = values[entry]
