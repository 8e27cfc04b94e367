"""Packings of given counts whose weight comes as close to the capacity as possible.

From the heaviest window of neighbouring items that fits, single exchanges within a group bring the
weight up, each time by the largest difference that still fits; then pairs of exchanges, found by
adding up two sorted lists of differences, hit the capacity exactly if anything does: two lists of
16 thousand differences have 270 million sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.kernels.twin import compiled
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.intercepts import Lines
from solvers.knapsack.items import IntArray

EXCHANGES = 16
"""Single exchanges; each leaves a small part of the weight that was missing."""


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
    flags = np.zeros(items.num_items, dtype=np.bool_)
    weight = 0
    for group, count in zip(lines.groups, lines.counts, strict=True):
        flags[group[:count]] = True
        weight += int(items.weight[group[:count]].sum())
    for group, count in zip(lines.groups, lines.counts, strict=True):
        weight = _heaviest_window(items, group, count, weight, flags)
    rng = np.random.default_rng(side)
    for _ in range(EXCHANGES):
        if weight >= wanted:
            break
        gained = _best_exchange(items, lines, items.capacity - weight, flags)
        if gained == 0:
            break
        weight += gained
    for group in lines.groups:
        if weight < wanted:
            room = items.capacity - weight
            weight += _two_exchanges(items, group, room, flags, side, rng)
    return Filled(flags, weight)


def _heaviest_window(
    items: Ordered, group: IntArray, count: int, weight: int, flags: npt.NDArray[np.bool_]
) -> int:
    """Move a group's packed items to heavier neighbours as far as they fit; return the weight."""
    if not 0 < count < group.size:
        return weight
    before = np.concatenate([[0], np.cumsum(items.weight[group])])
    window = before[count:] - before[:-count]
    start = int(np.searchsorted(window, items.capacity - weight + window[0], side="right")) - 1
    flags[group[:count]] = False
    flags[group[start : start + count]] = True
    return int(weight + window[start] - window[0])


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
    inside = rng.permutation(group[flags[group]])[: 2 * side]
    outside = rng.permutation(group[~flags[group]])[: 2 * side]
    half_in, half_out = inside.size // 2, outside.size // 2
    if not half_in or not half_out:
        return 0
    one, other = (inside[:half_in], outside[:half_out]), (inside[half_in:], outside[half_out:])
    first, second = _differences(items, *one), _differences(items, *other)
    order, reverse = np.argsort(first, kind="stable"), np.argsort(second, kind="stable")
    i, j, gained = _closest_sum(first[order], second[reverse], room)
    if gained <= 0:
        return 0
    for (packed, left), choice in ((one, order[i]), (other, reverse[j])):
        flags[packed[choice // left.size]], flags[left[choice % left.size]] = False, True
    return int(gained)


def _differences(items: Ordered, inside: IntArray, outside: IntArray) -> IntArray:
    """Return by how much each exchange raises the weight, by items inside, then outside."""
    difference: IntArray = items.weight[outside][None, :] - items.weight[inside][:, None]
    return difference.ravel()


@compiled
def _closest_sum(first: IntArray, second: IntArray, room: int) -> tuple[int, int, int]:
    """Return places and the sum of two numbers of sorted lists closest to ``room`` from below."""
    best, at, by = np.int64(0), 0, 0
    j = second.size - 1
    for i in range(first.size):
        while j >= 0 and first[i] + second[j] > room:
            j -= 1
        if j < 0:
            break
        if first[i] + second[j] > best:
            best, at, by = first[i] + second[j], i, j
            if best == room:
                break
    return at, by, int(best)
