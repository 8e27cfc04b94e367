"""Passes over all items: numbers made whole on the way in, answers added up on the way out."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.knapsack.many.kernels.many import WORD


@twin
def add_up(starts, profit, weight, bits, words, flags, value, load):
    """Set flags (N,) by bits (k, words); value and load (k,) become profit and weight packed."""
    count = value.size
    for k in prange(count):
        first, last = starts[k], starts[k + 1]
        total_profit, total_weight = np.int64(0), np.int64(0)
        for j in range(min(last - first, WORD * words)):
            inside = np.uint64(bits[k * words + j // WORD]) >> np.uint64(j % WORD) & np.uint64(1)
            if inside:
                total_profit += profit[first + j]
                total_weight += weight[first + j]
            flags[first + j] = inside == np.uint64(1)
        value[k] = total_profit
        load[k] = total_weight


@twin
def make_whole(values, places, limit, out, refused):
    """Put values (r, c) as whole numbers into columns ``places`` (c,) of ``out`` (r, n).

    ``refused`` (r,) is set where one is not whole, or not below ``limit`` in size.
    """
    rows = values.shape[0]
    for k in prange(rows):
        for j in range(values.shape[1]):
            value = values[k, j]
            if not abs(value) < limit or np.int64(value) != value:
                refused[k] = True
            else:
                out[k, places[j]] = np.int64(value)
