"""Filling one knapsack: subsets whose weight comes closest to a capacity, or whose profit is best.

Both are small problems that a search asks for by the thousand, hence compiled and bounded in work.
"""

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import compiled
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple.items import BoolArray

WORDS = 1 << 16
"""Words of 64 marked sums for the closest subset: half a megabyte, which stays in a cache."""

HALF_ITEMS = 13
"""Items of each half where sums are listed instead: lists of 8 thousand sums."""

ERROR = 1e-14
"""Part by which a bound in double precision is raised, far more than its roundings."""

ONE = np.uint64(1)


@compiled
def marked_subset(weight: IntArray, count: int, target: int, chosen: BoolArray) -> int:
    """Choose items whose weight is the largest up to ``target``; return it.

    Sums are marked by bits, item by item; going back, later items are left out where possible.
    """
    words = (target >> 6) + 1
    marks = np.zeros((count + 1, words), dtype=np.uint64)
    marks[0, 0] = ONE
    for k in range(count):
        shift, bits = weight[k] >> 6, np.uint64(weight[k] & 63)
        for word in range(words):
            now = marks[k, word]
            if word >= shift:
                now |= marks[k, word - shift] << bits
                if bits and word > shift:
                    now |= marks[k, word - shift - 1] >> (np.uint64(64) - bits)
            marks[k + 1, word] = now
    best = target
    while not (marks[count, best >> 6] >> np.uint64(best & 63)) & ONE:
        best -= 1
    left = best
    for k in range(count - 1, -1, -1):
        chosen[k] = not (marks[k, left >> 6] >> np.uint64(left & 63)) & ONE
        if chosen[k]:
            left -= weight[k]
    return int(best)


@compiled
def listed_sums(weight: IntArray, first: int, last: int, target: int) -> tuple[IntArray, IntArray]:
    """Return the sums up to ``target`` of items first..last-1 in rising order, and their bits."""
    size = 1 << (last - first)
    sums, bits = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    one, one_bits = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    length = 1
    for k in range(first, last):
        for i in range(length):
            one[i], one_bits[i] = sums[i], bits[i]
        i = j = place = 0
        while i < length or j < length:
            if j == length or (i < length and one[i] <= one[j] + weight[k]):
                sums[place], bits[place] = one[i], one_bits[i]
                i += 1
            else:
                if one[j] + weight[k] > target:
                    j = length
                    continue
                sums[place] = one[j] + weight[k]
                bits[place] = one_bits[j] | (1 << (k - first))
                j += 1
            place += 1
        length = place
    return sums[:length], bits[:length]


@compiled
def listed_subset(weight: IntArray, count: int, target: int, chosen: BoolArray) -> int:
    """Choose items whose weight is the largest up to ``target``, by meeting in the middle."""
    half = count // 2
    sums, bits = listed_sums(weight, 0, half, target)
    others, other_bits = listed_sums(weight, half, count, target)
    best, at, by = np.int64(-1), 0, 0
    j = others.size - 1
    for i in range(sums.size):
        while j >= 0 and sums[i] + others[j] > target:
            j -= 1
        if j < 0:
            break
        if sums[i] + others[j] > best:
            best, at, by = sums[i] + others[j], i, j
            if best == target:
                break
    for k in range(count):
        chosen[k] = (bits[at] >> k) & 1 if k < half else (other_bits[by] >> (k - half)) & 1
    return int(best)


@compiled
def closest_subset(weight: IntArray, count: int, target: int, chosen: BoolArray) -> int:
    """Choose among the first ``count`` items so that the weight is close to ``target`` from below.

    The best choice, or the best among the first items where there are too many sums. Return the
    weight; ``chosen`` gets the flags.
    """
    total = np.int64(0)
    for k in range(count):
        total += weight[k]
    for k in range(count):
        chosen[k] = total <= target
    if total <= target:
        return int(total)
    if ((target >> 6) + 1) * (count + 1) <= WORDS:
        return int(marked_subset(weight, count, target, chosen))
    few = min(count, 2 * HALF_ITEMS)
    return int(listed_subset(weight, few, target, chosen))


@compiled
def best_subset(
    profit: IntArray,
    weight: IntArray,
    count: int,
    capacity: int,
    floor: int,
    nodes: int,
    chosen: BoolArray,
) -> tuple[int, bool]:
    """Choose items of profit above ``floor`` that fit, the best ones if ``nodes`` suffice.

    Items come by falling efficiency. Depth first, after Horowitz and Sahni ("Computing partitions
    with applications to the knapsack problem", 1974). Return the profit, or ``floor`` if nothing
    better was found (then ``chosen`` is undefined), and whether the search came to its end.
    """
    taken = np.zeros(count, dtype=np.bool_)
    best, now, room, j = np.int64(floor), np.int64(0), np.int64(capacity), 0
    for _ in range(nodes):
        k, left, value = j, room, now
        while k < count and weight[k] <= left:
            left -= weight[k]
            value += profit[k]
            k += 1
        bound = float(value)
        if k < count:
            bound += left * (profit[k] / weight[k])
        if bound * (1.0 + ERROR) >= best + 1:
            for i in range(j, k):
                taken[i] = True
            if value > best:
                best = value
                for i in range(count):
                    chosen[i] = taken[i] if i < k else False
            now, room = value, left
            if k < count:
                taken[k] = False
                j = k + 1
                continue
            j = k
        while j > 0 and not taken[j - 1]:
            j -= 1
        if j == 0:
            return int(best), True
        taken[j - 1] = False
        now -= profit[j - 1]
        room += weight[j - 1]
    return int(best), False
