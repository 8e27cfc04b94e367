"""Numba twins of ``nodes.cu``."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
from numba import prange

from solvers.kernels.twin import inlined, twin
from solvers.knapsack.tree.kernels.nodes import (
    AT,
    BEST,
    CAPACITY,
    CHUNK,
    FOUND,
    FOUND_NODE,
    LEFT_OUT,
    LENGTH,
    NO_NODE,
    NODE,
    ROUNDS,
    TILE,
    UPPER,
    WARPS,
)

_SEQUENCE = 0x077CB531
"""A de Bruijn sequence: each of its 32 runs of five bits, round the end too, is another number."""

_PLACE = np.zeros(32, dtype=np.int64)
_PLACE[[(_SEQUENCE << bit & 0xFFFFFFFF) >> 27 for bit in range(32)]] = np.arange(32)


@inlined
def _lowest(bits):
    """Return the place of the lowest bit that is set."""
    return _PLACE[((bits & -bits) * _SEQUENCE & 0xFFFFFFFF) >> 27]


@inlined
def _is_promising(w, p, s, item_profit, item_weight, capacity, best):
    """Whether the upper bound exceeds the best profit, without a division or a branch."""
    wanted = max(0, min(best + 1 - p, item_profit[s] + 1))
    return (capacity - w) * item_profit[s] >= wanted * item_weight[s]


@inlined
def _without(k, w, p, s, item_profit, item_weight, capacity):
    """Leave an item out and fill up."""
    packed = k < s
    w -= packed * item_weight[k]
    p -= packed * item_profit[k]
    s += not packed
    while w + item_weight[s] <= capacity:
        w += item_weight[s]
        p += item_profit[s]
        s += 1
    return w, p, s


@inlined
def _completed(w, p, s, item_profit, item_weight, lightest, capacity):
    """Add every later item that fits."""
    i = s + 1
    while capacity - w >= lightest[i]:
        if w + item_weight[i] <= capacity:
            w += item_weight[i]
            p += item_profit[i]
        i += 1
    return p


@twin
def expand(
    item_profit,
    item_weight,
    lightest,
    weight,
    profit,
    slack,
    chunk_count,
    tile_place,
    kept,
    control,
    tiles,
    count,
    item,
):
    """Mark what stays, and find the best packing."""
    capacity, best = control[CAPACITY], control[BEST]
    half = tiles * WARPS * ROUNDS
    found = best
    for tile in prange(tiles):
        old_sum, new_sum = 0, 0
        for chunk in range(tile * WARPS, (tile + 1) * WARPS):
            old_nodes, new_nodes = 0, 0
            for word in range(chunk * ROUNDS, (chunk + 1) * ROUNDS):
                old_bits, new_bits = 0, 0
                for e in range(word * 32, min((word + 1) * 32, count)):
                    w, p, s = weight[e], profit[e], slack[e]
                    promising = _is_promising(w, p, s, item_profit, item_weight, capacity, best)
                    stays = promising & (item < s)
                    old_bits |= stays << (e & 31)
                    old_nodes += stays
                    w, p, s = _without(item, w, p, s, item_profit, item_weight, capacity)
                    stays = _is_promising(w, p, s, item_profit, item_weight, capacity, best) + 0
                    new_bits |= stays << (e & 31)
                    new_nodes += stays
                    p = _completed(w, p, s, item_profit, item_weight, lightest, capacity)
                    found = max(found, p)
                kept[word] = old_bits
                kept[half + word] = new_bits
            chunk_count[chunk] = old_nodes
            chunk_count[tiles * WARPS + chunk] = new_nodes
            old_sum += old_nodes
            new_sum += new_nodes
        tile_place[tile] = old_sum
        tile_place[tiles + tile] = new_sum
    control[FOUND] = found


@twin
def recount(
    item_profit,
    item_weight,
    lightest,
    weight,
    profit,
    slack,
    chunk_count,
    tile_place,
    kept,
    control,
    tiles,
    count,
    item,
):
    """Mark again with a better packing."""
    capacity, best = control[CAPACITY], control[FOUND]
    if best <= control[BEST]:
        return
    half = tiles * WARPS * ROUNDS
    node = NO_NODE
    for tile in prange(tiles):
        old_sum, new_sum = 0, 0
        for chunk in range(tile * WARPS, (tile + 1) * WARPS):
            old_nodes, new_nodes = 0, 0
            for word in range(chunk * ROUNDS, (chunk + 1) * ROUNDS):
                old_bits, new_bits = 0, 0
                for e in range(word * 32, min((word + 1) * 32, count)):
                    w, p, s = weight[e], profit[e], slack[e]
                    promising = _is_promising(w, p, s, item_profit, item_weight, capacity, best)
                    stays = promising & (item < s)
                    old_bits |= stays << (e & 31)
                    old_nodes += stays
                    w, p, s = _without(item, w, p, s, item_profit, item_weight, capacity)
                    stays = _is_promising(w, p, s, item_profit, item_weight, capacity, best) + 0
                    new_bits |= stays << (e & 31)
                    new_nodes += stays
                    p = _completed(w, p, s, item_profit, item_weight, lightest, capacity)
                    if p == best:
                        node = min(node, count + e)
                kept[word] = old_bits
                kept[half + word] = new_bits
            chunk_count[chunk] = old_nodes
            chunk_count[tiles * WARPS + chunk] = new_nodes
            old_sum += old_nodes
            new_sum += new_nodes
        tile_place[tile] = old_sum
        tile_place[tiles + tile] = new_sum
    control[FOUND_NODE] = node


@twin
def places(tile_place, control, tiles):
    """Turn counts into places."""
    total = 0
    for tile in range(2 * tiles):
        found = tile_place[tile]
        tile_place[tile] = total
        total += found
    better = control[FOUND] > control[BEST]
    control[NODE] = control[FOUND_NODE] if better else -1
    control[BEST] = max(control[BEST], control[FOUND])
    control[FOUND] = control[BEST]
    control[FOUND_NODE] = NO_NODE
    control[LENGTH] = total


@twin
def gather(
    item_profit,
    item_weight,
    weight,
    profit,
    slack,
    chunk_count,
    tile_place,
    kept,
    kept_weight,
    kept_profit,
    kept_slack,
    control,
    tiles,
    item,
):
    """Put what stays side by side."""
    capacity = control[CAPACITY]
    half = tiles * WARPS * ROUNDS
    for tile in prange(tiles):
        place = tile_place[tile]
        for word in range(tile * WARPS * ROUNDS, (tile + 1) * WARPS * ROUNDS):
            bits = np.int64(kept[word]) & 0xFFFFFFFF
            while bits:
                e = word * 32 + _lowest(bits)
                kept_weight[place], kept_profit[place] = weight[e], profit[e]
                kept_slack[place] = slack[e]
                place += 1
                bits &= bits - 1
        place = tile_place[tiles + tile]
        for word in range(tile * WARPS * ROUNDS, (tile + 1) * WARPS * ROUNDS):
            bits = np.int64(kept[half + word]) & 0xFFFFFFFF
            while bits:
                e = word * 32 + _lowest(bits)
                w, p, s = weight[e], profit[e], slack[e]
                w, p, s = _without(item, w, p, s, item_profit, item_weight, capacity)
                kept_weight[place], kept_profit[place], kept_slack[place] = w, p, s
                place += 1
                bits &= bits - 1


@twin
def ancestor(chunk_count, tile_place, kept, control, tiles):
    """Find where a node came from."""
    rest = control[AT]
    low, high = 0, 2 * tiles
    while high - low > 1:
        middle = (low + high) // 2
        if tile_place[middle] <= rest:
            low = middle
        else:
            high = middle
    rest -= tile_place[low]
    chunk = low * WARPS
    while rest >= chunk_count[chunk]:
        rest -= chunk_count[chunk]
        chunk += 1
    half = tiles * WARPS * ROUNDS
    for place in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        if kept[place // 32] >> (place % 32) & 1:
            if rest == 0:
                control[LEFT_OUT] = 1 if place >= 32 * half else 0
                control[AT] = place % (32 * half)
                return
            rest -= 1


@twin
def largest_bound(item_profit, item_weight, weight, profit, slack, control, tiles, count):
    """Find the largest upper bound."""
    capacity = control[CAPACITY]
    largest = control[UPPER]
    for tile in prange(tiles):
        for e in range(tile * TILE, min((tile + 1) * TILE, count)):
            s = slack[e]
            rest = capacity - weight[e]
            largest = max(largest, profit[e] + rest * item_profit[s] // item_weight[s])
    control[UPPER] = largest
