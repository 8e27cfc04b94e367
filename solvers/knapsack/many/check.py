"""Passes over all items: numbers made whole on the way in, answers added up on the way out."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import twin
from solvers.knapsack.many.kernels.many import WORD

PART = 1 << 16
"""Numbers that a thread narrows at a time."""


@twin
def add_up(starts, profit, weight, bits, words, flags, value, load):
    """Set flags (N,) by bits (k, words); value and load (k,) become profit and weight packed."""
    count = value.size
    for k in prange(count):
        first, last = starts[k], starts[k + 1]
        total_profit, total_weight = np.int64(0), np.int64(0)
        for word in range(words):
            held = bits[k * words + word]
            begin = first + WORD * word
            for j in range(begin, min(begin + WORD, last)):
                inside = (held >> (j - begin)) & 1
                total_profit += inside * profit[j]
                total_weight += inside * weight[j]
                flags[j] = inside != 0
        value[k] = total_profit
        load[k] = total_weight


@twin
def make_whole(values, places, straight, sign, limit, out, refused):
    """Put ``sign`` times values (r, c) as whole numbers into columns ``places`` (c,) of out (r, n).

    ``straight`` says that places are 0 to c - 1. ``refused`` (r,) is set where a number is not
    whole, not below ``limit`` in size, or not one of the type of ``out``.
    """
    rows, columns = values.shape
    for k in prange(rows):
        bad = False
        for j in range(columns):
            value = sign * values[k, j]
            whole = np.int64(value)
            to = j if straight else places[j]
            out[k, to] = whole
            bad |= (not abs(value) < limit) | (whole != value) | (out[k, to] != whole)
        refused[k] = bad


@twin
def shorten(values, out, refused):
    """Copy whole numbers; ``refused`` is set for every part of them that ``out`` cannot hold."""
    parts = refused.size
    for part in prange(parts):
        bad = False
        for j in range(part * PART, min((part + 1) * PART, values.size)):
            value = np.int64(values[j])
            out[j] = value
            bad |= out[j] != value
        refused[part] = bad


@twin
def points(packed, feasible, out):
    """Fill rows (k, n) with what is packed, or with NaN where nothing is."""
    rows, columns = out.shape
    for k in prange(rows):
        if feasible[k]:
            for j in range(columns):
                out[k, j] = packed[k * columns + j]
        else:
            for j in range(columns):
                out[k, j] = np.nan
