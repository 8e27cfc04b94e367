"""Items on few parallel lines: b * profit = a * weight + intercept, with few intercepts.

In most correlated classes profits follow from weights up to a constant, which takes one or two
values. A packing with k_g items of intercept c_g then has b * profit = a * weight + sum of c_g
k_g, so that its profit is settled by its weight and its counts, and

    b * profit <= max  a * min(capacity, most(k)) + sum of c_g k_g,   over least(k) <= capacity,

where ``least`` and ``most`` are the weights of the lightest and heaviest k_g items of each
group. That is often tight where Dantzig's bound is off by half an intercept, and it says which
counts to look for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.efficiency import Ordered, sums_before
from solvers.knapsack.items import IntArray

PAIRS = 512
"""Pairs of items whose slope is looked at; a slope that one pair in eight has is not missed."""

SLOPES = 3
"""Most frequent slopes that are tried."""

EXACT_GROUPS, MOST_GROUPS = 2, 8
"""Lines for which the best counts are found exactly, and lines up to which those of the break
solution are used instead, to look for a packing that reaches Dantzig's bound."""

LARGEST_TERM = 2**60
"""Terms of the bound stay below this."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Items on few lines, and the counts to look for."""

    a: int
    b: int
    """b * profit = a * weight + intercept."""
    groups: tuple[IntArray, ...]
    """Places of each line's items, lightest first."""
    intercepts: tuple[int, ...]
    counts: tuple[int, ...]
    """Of each line, and how many of its items a packing of largest bound has; the break solution's
    where there are more than two lines."""
    bound: int
    """Upper bound on the profit of any packing."""

    def least_weight(self, profit: int) -> int:
        """Return the weight that a packing with these counts needs for a profit."""
        terms = sum(c * k for c, k in zip(self.intercepts, self.counts, strict=True))
        return -((terms - self.b * profit) // self.a)


def find_lines(items: Ordered) -> Lines | None:
    """Return the lines of least bound on which all items lie, or None if there are none."""
    if items.num_items < 2:
        return None
    found = [_on_lines(items, a, b) for a, b in _frequent_slopes(items)]
    return min((lines for lines in found if lines), key=lambda lines: lines.bound, default=None)


def _frequent_slopes(items: Ordered) -> list[tuple[int, int]]:
    """Return the slopes a / b > 0, in lowest terms, that most pairs of items have."""
    n = items.num_items
    rng = np.random.default_rng(n)
    one = rng.integers(0, n, PAIRS)
    other = (one + rng.integers(1, n, PAIRS)) % n
    rise = items.profit[one] - items.profit[other]
    run = items.weight[one] - items.weight[other]
    rising = (run != 0) & (np.sign(rise) == np.sign(run))
    rise, run = np.abs(rise[rising]), np.abs(run[rising])
    if not rise.size:
        return []
    divisor = np.gcd(rise, run)
    slopes, often = np.unique(
        np.stack([rise // divisor, run // divisor]), axis=1, return_counts=True
    )
    best = np.argsort(-often, kind="stable")[:SLOPES]
    return [(int(slopes[0, k]), int(slopes[1, k])) for k in best]


def _on_lines(items: Ordered, a: int, b: int) -> Lines | None:
    """Return the lines of one slope if few of them hold all items."""
    largest = max(
        int(items.profit_before[-1]) * b, (int(items.weight_before[-1]) + items.capacity) * a
    )
    if largest >= LARGEST_TERM:
        return None
    intercept = b * items.profit - a * items.weight
    values = np.unique(intercept[:PAIRS])
    if values.size > MOST_GROUPS:
        return None
    values = np.unique(intercept)
    if values.size > MOST_GROUPS:
        return None
    groups = []
    for value in values:
        places = np.flatnonzero(intercept == value)
        groups.append(places[np.argsort(items.weight[places], kind="stable")])
    intercepts = tuple(int(value) for value in values)
    if len(groups) > EXACT_GROUPS:
        counts = tuple(int(np.count_nonzero(group < items.break_item)) for group in groups)
        return Lines(a, b, tuple(groups), intercepts, counts, items.dantzig_bound)
    counts, most = _best_counts(items, a, groups, values)
    return Lines(a, b, tuple(groups), intercepts, counts, most // b)


def _best_counts(
    items: Ordered, a: int, groups: list[IntArray], values: IntArray
) -> tuple[tuple[int, ...], int]:
    """Return the counts of largest bound, and that bound times b."""
    if len(groups) == 1:  # beside a second line without items
        counts, most = _best_counts(
            items, a, [groups[0], groups[0][:0]], np.array([values[0], 0], dtype=np.int64)
        )
        return counts[:1], most
    capacity = items.capacity
    least_first, most_first = _sums(items.weight[groups[0]])
    least_second, most_second = _sums(items.weight[groups[1]])
    first = np.arange(np.searchsorted(least_first, capacity, side="right"))
    limit = np.searchsorted(least_second, capacity - least_first[first], side="right") - 1
    # concave in the second count, with a kink where the capacity is reached
    reach = np.searchsorted(most_second, capacity - most_first[first])
    heaviest = np.diff(most_second)
    worth = np.searchsorted(-(a * heaviest + values[1]), 0)
    usual = np.abs(first - np.count_nonzero(groups[0] < items.break_item))
    best = (-LARGEST_TERM, 0, 0, 0)
    for candidate in (limit, reach, reach - 1, np.full(first.size, worth)):
        second = np.clip(candidate, 0, limit)
        weight = np.minimum(capacity, most_first[first] + most_second[second])
        bound = a * weight + values[0] * first + values[1] * second
        # of equals the counts nearest to the break solution's, which most packings have
        k = int(np.lexsort((usual, -bound))[0])
        best = max(best, (int(bound[k]), -int(usual[k]), int(first[k]), int(second[k])))
    return best[2:], best[0]


def _sums(weight: IntArray) -> tuple[IntArray, IntArray]:
    """Return weights of the 0, 1, 2, ... lightest and of as many heaviest items."""
    return sums_before(weight), sums_before(weight[::-1])
