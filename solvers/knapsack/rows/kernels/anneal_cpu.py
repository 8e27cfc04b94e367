"""Numba twin of ``anneal.cu``: walkers, each one trial after the other."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import compiled, inlined, twin
from solvers.knapsack.rows.kernels.anneal import FRACTION_BITS, LANES, LARGEST_RISE

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
"""Of SplitMix64, as ``anneal.cu`` says."""

WORD_BITS = np.uint64(32)
PLACE_MASK, PLACE_BITS = np.uint64(0xFFFF), np.uint64(16)
TABLE_SHIFT = np.uint64(53)


@inlined
def _hash(value):
    value = (value ^ (value >> np.uint64(30))) * FIRST_FACTOR
    value = (value ^ (value >> np.uint64(27))) * SECOND_FACTOR
    return value ^ (value >> np.uint64(31))


@inlined
def _place(random, shift, items):
    part = (random >> np.uint64(shift)) & PLACE_MASK
    return np.int64((part * np.uint64(items)) >> PLACE_BITS)


@twin
def anneal(
    weight, price, worth, profit, capacity, exponential, temperature, packing, champion, value,
    energy, walkers, items, rows, trials, seed, turn,
):  # fmt: skip
    """Let every walker make its trials."""
    by_item = weight.reshape(items + 1, rows)
    for walker in prange(walkers):
        first = walker * LANES
        key = _hash((np.uint64(seed) << WORD_BITS) + np.uint64(turn))
        value[walker], energy[walker] = _walk(
            by_item, price, worth, profit, capacity, exponential, np.int64(temperature[walker]),
            packing[first : first + LANES], champion[first : first + LANES], value[walker],
            trials, _hash(key + np.uint64(walker)),
        )  # fmt: skip


@compiled
def _walk(  # noqa: C901 (one hot loop)
    weight, price, worth, profit, capacity, exponential, temperature, words, champion, best,
    trials, key,
):  # fmt: skip
    """Make a walker's trials; return its best profit and its last energy."""
    items, rows = worth.size - 1, capacity.size
    packed = np.zeros(items + 1, dtype=np.bool_)
    left = capacity.astype(np.int64)
    now, violation = 0.0, 0
    for item in range(items):
        packed[item] = (words[item % LANES] >> (item // LANES)) & 1 == 1
        if packed[item]:
            now += profit[item]
            for i in range(rows):
                left[i] -= weight[item, i]
    for i in range(rows):
        violation += price[i] * max(0, -left[i])
    for trial in range(trials):
        random = _hash(key + STEP * np.uint64(trial + 1))
        a = _place(random, 0, items)
        b = _place(random, 16, items)
        c = _place(random, 32, items)
        a_in = packed[a]
        second = b if packed[b] != a_in else c if packed[c] != a_in else items
        into = second if a_in else a
        out = a if a_in else second
        draw = exponential[np.int64(random >> TABLE_SHIFT)]
        limit = violation + worth[into] - worth[out] + ((temperature * draw) >> FRACTION_BITS)
        if limit < 0:
            continue
        limit = min(limit, LARGEST_RISE)
        after = 0
        for i in range(rows):
            after += price[i] * max(0, weight[into, i] - weight[out, i] - left[i])
            if after > limit:
                break
        if after > limit:
            continue
        for i in range(rows):
            left[i] += weight[out, i] - weight[into, i]
        violation = after
        now += profit[into] - profit[out]
        if into < items:
            packed[into] = True
        if out < items:
            packed[out] = False
        if violation == 0 and now > best:
            best = now
            _write(packed, champion)
    _write(packed, words)
    total = 0.0
    for item in range(items):
        if packed[item]:
            total += worth[item]
    return best, violation - total


@compiled
def _write(packed, words):
    """Write flags of items, the last of which is none, as words."""
    words[:] = 0
    for item in range(packed.size - 1):
        if packed[item]:
            words[item % LANES] |= np.int32(1) << np.int32(item // LANES)
