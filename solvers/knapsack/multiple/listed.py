"""Packings of listed patterns, for one target after the other.

The lower the target, the larger the budget of slack and the more patterns there are; so the search
begins with targets next to the bound, and each that is not reached lowers the bound.
"""

from __future__ import annotations

import numpy as np

from solvers.core.progress import Progress
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import IntArray, Knapsack
from solvers.knapsack.multiple.best import Best
from solvers.knapsack.multiple.items import NOWHERE
from solvers.knapsack.multiple.node import (
    KIND,
    LENGTH,
    NODES,
    SCALE,
    SPARE,
    TARGET,
    TOTAL,
    Cover,
    Int16Array,
    first_node,
)
from solvers.knapsack.multiple.prices import PriceSearch
from solvers.native.knapsack_multiple_cover import search as search_cover
from solvers.native.knapsack_multiple_patterns import list_patterns

FINISHED, PAUSED, NO_ROOM = range(3)
"""Why a search returns."""

UNFINISHED = -2
"""What a listing returns after its nodes; another negative number where room is short."""

FIRST_PATTERNS = 1_000
"""Patterns of one kind of knapsack for which there is room at first."""

FEW_PATTERNS, MOST_PATTERNS = 60_000, 600_000
"""Patterns that are listed at most: before a search item by item was tried, and after that."""

LONGEST = 48
"""Items of a pattern at most."""

LISTING_NODES = 3_000_000
"""Nodes of the listing of one kind's patterns at most: some tenths of a second."""

VISITS = 5_000_000
"""Patterns looked at between two looks at the clock: some hundredths of a second."""


def search_patterns(best: Best, search: PriceSearch, most: int) -> bool:
    """Lower the bound and improve the packing until they meet; False if there are too many.

    ``search`` has prices; the bound of ``best`` is no larger than theirs. ``most`` is the number of
    patterns.
    """
    step = 1
    while not best.over:
        target = max(best.bound - step + 1, best.profit + 1)
        listed = _listed(best, search, target, most)
        if listed is None or not _search(best, search, *listed):
            return False
        step *= 2
    return True


def _listed(
    best: Best, search: PriceSearch, target: int, most: int
) -> tuple[Cover, IntArray] | None:
    """List the patterns that a packing worth ``target`` can have, and return the search's control.

    None if there are too many, or time is up.
    """
    problem, prices = search.problem, search.best
    assert prices is not None
    value = problem.profit * prices.scale - prices.price
    order = np.argsort(-(value / problem.weight), kind="stable")
    spare = _spare(search, target)
    budget = prices.total - prices.scale * target
    items, patterns = [], []
    for kind in range(search.kinds.size - 1, -1, -1):  # the largest have the most
        capacity = int(search.kinds[kind])
        least = int(prices.best[kind]) - budget
        limits = capacity, least, capacity - spare
        found = None if best.over else _of_kind(value, problem.weight, order, limits, most)
        if found is None:
            return None
        most -= found[1].size
        item, length, worth = found
        inside = np.arange(LONGEST) < length[:, None]
        waste = capacity - (problem.weight[item] * inside).sum(axis=1)
        items.append(item)
        whole = np.full(length.size, kind, dtype=np.int64)
        patterns.append(np.stack([length, whole, prices.best[kind] - worth, waste]))
    cover = Cover(
        np.concatenate(items),
        np.ascontiguousarray(np.concatenate(patterns, axis=1)),
        np.stack([problem.profit, problem.weight, prices.price]),
        search.kinds,
    )
    control = np.zeros(6, dtype=np.int64)
    control[[TARGET, TOTAL, SCALE]] = target, prices.total, prices.scale
    control[SPARE] = spare
    return cover, control


def _of_kind(
    value: IntArray, weight: IntArray, order: IntArray, limits: tuple[int, int, int], most: int
) -> tuple[Int16Array, IntArray, IntArray] | None:
    """List the patterns of one kind: their items, the number of these, and what they are worth.

    None if there are more than ``most``, or it takes too long.
    """
    room = min(FIRST_PATTERNS, most)
    while True:
        item = np.zeros((room, LONGEST), dtype=np.int16)
        length, worth = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        found = list_patterns(value, weight, order, *limits, LISTING_NODES, item, length, worth)
        if found >= 0:
            return item[:found], length[:found], worth[:found]
        if room == most or found == UNFINISHED:
            return None
        room = min(8 * room, most)


def _spare(search: PriceSearch, target: int) -> int:
    """Return how much of the capacity a packing worth ``target`` can leave unused at most.

    What it weighs at least follows from what may be left out: a knapsack problem with the roles of
    profits and weights exchanged.
    """
    problem = search.problem
    rest = int(problem.profit.sum()) - target
    left_out = solve_knapsack(Knapsack.binary(problem.weight, problem.profit, rest), Progress(1.0))
    return int(problem.capacity.sum()) - (int(problem.weight.sum()) - left_out.bound)


def _search(best: Best, search: PriceSearch, cover: Cover, control: IntArray) -> bool:
    """Search for packings worth a target, to the end; False if room or time ended it."""
    stack = first_node(cover, search.count)
    found = np.full(search.problem.num_knapsacks + 1, -1, dtype=np.int64)
    nodes = max(1, VISITS // (cover.item.shape[0] + 1))
    while True:
        now = int(control[TARGET])
        before = int(control[NODES])
        reason = search_cover(cover, stack, control, found, nodes)
        best.nodes += int(control[NODES]) - before
        if control[TARGET] > now:
            best.improve(_packing(search, cover, found))
        if reason == FINISHED:
            best.lower(int(control[TARGET]) - 1, "search of patterns")
            return True
        if reason == NO_ROOM or best.over:
            return False


def _packing(search: PriceSearch, cover: Cover, patterns: IntArray) -> IntArray:
    """Return the packing of chosen patterns."""
    place = np.full(search.problem.num_items, NOWHERE, dtype=np.int64)
    following = search.first.copy()
    for p in patterns[patterns >= 0]:
        length, kind = cover.pattern[[LENGTH, KIND], p]
        place[cover.item[p, :length]] = following[kind]
        following[kind] += 1
    return place
