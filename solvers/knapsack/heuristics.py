"""Good packings, to prune with: greedy ones, by two exchanges, and of given counts.

The greedy ones take linear time. Two exchanges near the break item change the break solution: each
takes at most one item out and puts at most one in. Those within a set of items are sorted by
weight, so that the best pair from two sets is found by going through both lists once (Horowitz and
Sahni's two lists, 1974, with exchanges for elements).

Packings of given counts come as close to the capacity as possible. From the heaviest window of
neighbouring items that fits, single exchanges within a group bring the weight up, each time by the
largest difference that still fits; then pairs of exchanges, found by adding up two sorted lists of
differences, hit the capacity exactly if anything does: two lists of 16 thousand differences have
270 million sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray
from solvers.knapsack.lines import Lines
from solvers.native.knapsack_heuristics import best_pair, closest_sum, pack_greedily

EXCHANGES = 16
"""Single exchanges; each leaves a small part of the weight that was missing."""


def first_packing(items: Ordered) -> tuple[int, Any]:
    """Return profit and (n,) flags of the best of a few packings near the break solution.

    They are the greedy packing, and the break solution with one item put in, or with the break item
    put in and one taken out (Martello and Toth, "Knapsack Problems", 1990, section 2.4).
    """
    flags = np.zeros(items.num_items, dtype=np.bool_)
    profit = pack_greedily(items.profit, items.weight, items.capacity, flags)
    b, room = items.break_item, items.capacity - int(items.weight_before[items.break_item])
    base = int(items.profit_before[b])
    if b == items.num_items:
        return base, flags
    fitting = np.flatnonzero(items.weight[b:] <= room)
    if fitting.size:
        best = b + int(fitting[np.argmax(items.profit[b:][fitting])])
        if base + int(items.profit[best]) > profit:
            profit = base + int(items.profit[best])
            flags[:] = np.arange(items.num_items) < b
            flags[best] = True
    lacking = int(items.weight[b]) - room
    enough = np.flatnonzero(items.weight[:b] >= lacking)
    if enough.size:
        out = int(enough[np.argmin(items.profit[:b][enough])])
        swapped = base + int(items.profit[b]) - int(items.profit[out])
        if swapped > profit:
            profit = swapped
            flags[:] = np.arange(items.num_items) <= b
            flags[out] = False
    return profit, flags


def two_exchanges(items: Ordered, side: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """Return profit and flags of the best packing by two exchanges.

    Parameters
    ----------
    items : Ordered
        With a break item.
    side : int
        Items to the left of the break item, and to the right, in each of two sets.
    """
    b = items.break_item
    left = np.arange(max(0, b - 2 * side), b)[::-1]
    right = np.arange(b, min(items.num_items, b + 2 * side))
    one, other = (left[::2], right[::2]), (left[1::2], right[1::2])
    first, second = _exchanges(items, *one), _exchanges(items, *other)
    room = items.capacity - int(items.weight_before[b])
    i, j, gain = best_pair(first[0], first[1], second[0], second[1], room)
    flags = np.arange(items.num_items) < b
    for (out, into), place in ((one, first[2][i]), (other, second[2][j])):
        taken, put = divmod(int(place), into.size + 1)
        if taken < out.size:
            flags[out[taken]] = False
        if put < into.size:
            flags[into[put]] = True
    return int(items.profit_before[b]) + gain, flags


def _exchanges(
    items: Ordered, out: IntArray, into: IntArray
) -> tuple[IntArray, IntArray, npt.NDArray[np.intp]]:
    """Return weight and profit of every exchange, sorted by weight, and which one it is."""
    weight = _changes(items.weight, out, into)
    profit = _changes(items.profit, out, into)
    order = np.argsort(weight, kind="stable")
    return weight[order], profit[order], order


def _changes(values: IntArray, out: IntArray, into: IntArray) -> IntArray:
    """Return the change of a sum by each exchange; the last ones out and in mean none."""
    less = np.append(values[out], 0)
    more = np.append(values[into], 0)
    change: IntArray = more[None, :] - less[:, None]
    return change.ravel()


@dataclass(frozen=True, eq=False)
class Filled:
    """Flags of a packing's items, and its weight."""

    flags: npt.NDArray[np.bool_]
    weight: int


def fill(items: Ordered, lines: Lines, wanted: int, side: int) -> Filled:
    """Return a packing with the counts of ``lines``, as heavy as can be found; it fits.

    Parameters
    ----------
    items : Ordered
    lines : Lines
    wanted : int
        Weight from which on the packing is as good as it needs to be.
    side : int
        Items inside, and as many outside, in each of two sets of exchanges; the best is found of as
        many sums as the product of all four.
    """
    starts = _windows_that_fit(items, lines)
    rng = np.random.default_rng(side)
    best = Filled(np.zeros(items.num_items, dtype=np.bool_), -1)
    for windows in _with_one_beyond(lines, starts):
        flags = _flags(items, lines, windows)
        weight = int(items.weight[flags].sum())
        weight = _improved(items, lines, flags, weight, wanted, side, rng)
        if best.weight < weight <= items.capacity:
            best = Filled(flags, weight)
        if best.weight >= wanted:
            break
    return best


def _windows_that_fit(items: Ordered, lines: Lines) -> list[int]:
    """Return where each group's packed items begin: as heavy as fits, the first group first."""
    weights = [items.weight[group] for group in lines.groups]
    total = sum(int(w[:count].sum()) for w, count in zip(weights, lines.counts, strict=True))
    starts = []
    for weight, count in zip(weights, lines.counts, strict=True):
        before = np.concatenate([[0], np.cumsum(weight)])
        window = before[count:] - before[: before.size - count]
        room = items.capacity - total + window[0]
        start = max(int(np.searchsorted(window, room, side="right")) - 1, 0)
        total += int(window[start] - window[0])
        starts.append(start)
    return starts


def _with_one_beyond(lines: Lines, starts: list[int]) -> list[list[int]]:
    """Return the windows that fit, and with each group's moved on by one, which do not.

    Where a group's heaviest items hardly exceed the capacity, only exchanges that take a little of
    their weight away lead to a packing that fills it.
    """
    found = [starts]
    for k, (group, count) in enumerate(zip(lines.groups, lines.counts, strict=True)):
        if starts[k] + count < group.size:
            found.append([start + (place == k) for place, start in enumerate(starts)])
    return found


def _flags(items: Ordered, lines: Lines, starts: list[int]) -> npt.NDArray[np.bool_]:
    flags = np.zeros(items.num_items, dtype=np.bool_)
    for group, count, start in zip(lines.groups, lines.counts, starts, strict=True):
        flags[group[start : start + count]] = True
    return flags


def _improved(
    items: Ordered,
    lines: Lines,
    flags: npt.NDArray[np.bool_],
    weight: int,
    wanted: int,
    side: int,
    rng: np.random.Generator,
) -> int:
    """Exchange items until the weight is wanted or nothing helps; return the weight."""
    for _ in range(EXCHANGES):
        if not weight < wanted:
            break
        gained = _best_exchange(items, lines, items.capacity - weight, flags)
        if gained == 0:
            break
        weight += gained
    for group in lines.groups:
        if not wanted <= weight <= items.capacity:
            room = items.capacity - weight
            weight += _two_exchanges(items, group, room, flags, side, rng)
    return weight


def _best_exchange(items: Ordered, lines: Lines, room: int, flags: npt.NDArray[np.bool_]) -> int:
    """Exchange the two items of a group that raise the weight most, and fit; return by how much."""
    best, pair = 0, (0, 0)
    for group in lines.groups:
        inside, outside = group[flags[group]], group[~flags[group]]
        if not inside.size or not outside.size:
            continue
        target = items.weight[inside] + room
        place = np.searchsorted(items.weight[outside], target, side="right") - 1
        gain = np.where(place >= 0, items.weight[outside[place]] - items.weight[inside], 0)
        k = int(np.argmax(gain))
        if gain[k] > best:
            best, pair = int(gain[k]), (int(inside[k]), int(outside[place[k]]))
    if best:
        flags[pair[0]], flags[pair[1]] = False, True
    return best


def _two_exchanges(
    items: Ordered,
    group: IntArray,
    room: int,
    flags: npt.NDArray[np.bool_],
    side: int,
    rng: np.random.Generator,
) -> int:
    """Make the two exchanges that raise the weight most within ``room``; return by how much."""
    inside, outside = _near_and_far(group, flags[group], 2 * side, rng)
    half_in, half_out = inside.size // 2, outside.size // 2
    if not half_in or not half_out:
        return 0
    one, other = (inside[:half_in], outside[:half_out]), (inside[half_in:], outside[half_out:])
    first, second = _differences(items, *one), _differences(items, *other)
    order, reverse = np.argsort(first, kind="stable"), np.argsort(second, kind="stable")
    i, j, gained = closest_sum(first[order], second[reverse], room)
    if i < 0 or (room >= 0 and gained <= 0):
        return 0
    for (packed, left), choice in ((one, int(order[i])), (other, int(reverse[j]))):
        if choice < packed.size * left.size:  # the last one is to exchange nothing
            flags[packed[choice // left.size]], flags[left[choice % left.size]] = False, True
    return gained


def _near_and_far(
    group: IntArray, packed: npt.NDArray[np.bool_], count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return items inside and outside: half of them next to where packed items begin and end.

    Near ones differ little in weight, far ones much; sums of two differences need both.
    """
    edges = np.flatnonzero(packed[1:] != packed[:-1])
    far = np.full(group.size, group.size, dtype=np.int64)
    if edges.size:
        place = np.arange(group.size)
        right = edges[np.minimum(np.searchsorted(edges, place), edges.size - 1)]
        left = edges[np.maximum(np.searchsorted(edges, place) - 1, 0)]
        far = np.minimum(np.abs(place - right), np.abs(place - left))
    found = []
    for side in (packed, ~packed):
        places = np.flatnonzero(side)
        near = places[np.argsort(far[places], kind="stable")]
        chosen = np.concatenate([near[: count // 2], rng.permutation(near[count // 2 :])])
        found.append(group[rng.permutation(chosen[:count])])
    return found[0], found[1]


def _differences(items: Ordered, inside: IntArray, outside: IntArray) -> IntArray:
    """Return by how much each exchange raises the weight, in order of items inside; 0 at last."""
    difference: IntArray = items.weight[outside][None, :] - items.weight[inside][:, None]
    return np.append(difference.ravel(), 0)
