"""Packings of listed patterns, for one target after the other.

The lower the target, the larger the budget of slack and the more patterns there are; so the search
begins with targets next to the bound, and each that is not reached lowers the bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.progress import Progress
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import IntArray, Knapsack
from solvers.knapsack.multiple.items import LONGEST, NOWHERE, Best
from solvers.knapsack.multiple.prices import PriceSearch
from solvers.native.knapsack_multiple_cover import search as search_cover
from solvers.native.knapsack_multiple_patterns import list_patterns

LENGTH, KIND, SLACK, WASTE = range(4)
"""Rows of ``pattern``."""

SIZE = 1
"""Column of ``node`` with the number of patterns."""

LEVEL, TARGET, NODES, TOTAL, SCALE, SPARE = range(6)
"""Places in ``control``: open levels, smallest profit of interest, nodes so far; the bound and what
it and slacks are multiplied by; the capacity that no packing of interest leaves unused."""

ROOM_PER_PATTERN, LEAST_ROOM = 6, 100_000
"""Places for the lists of patterns of all open nodes; they shrink quickly from one to the next."""

FINISHED, PAUSED, NO_ROOM = range(3)
"""Why a search returns."""

UNFINISHED = -2
"""What a listing returns after its nodes; another negative number where room is short."""

FIRST_PATTERNS = 1_000
"""Patterns of one kind of knapsack for which there is room at first."""

FEW_PATTERNS, MOST_PATTERNS = 60_000, 600_000
"""Patterns that are listed at most: before a search item by item was tried, and after that."""

LISTING_NODES = 3_000_000
"""Nodes of the listing of one kind's patterns at most: some tenths of a second."""

VISITS = 5_000_000
"""Patterns looked at between two looks at the clock: some hundredths of a second."""


Int16Array = npt.NDArray[np.int16]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]


class Cover(NamedTuple):
    """Listed patterns of t kinds of knapsacks, and items by falling efficiency.

    ``item`` (p, longest) has the items of each pattern, ``pattern`` (4, p) their number, the kind,
    the slack and the waste; ``good`` (3, n) profits, weights and prices of items, ``capacity`` (t,)
    is of kinds. Prices and slacks are times a scale.
    """

    item: Int16Array
    pattern: IntArray
    good: IntArray
    capacity: IntArray


class Stack(NamedTuple):
    """Open nodes: ``active`` lists the patterns left of each, one after the other.

    ``node`` (levels, 5) says where they begin and how many they are, the pattern that the node
    began with, and what was paid and wasted so far; ``left`` (levels, t + 1) are the knapsacks to
    fill, and their sum, ``state`` (levels, n) is what is known of items.
    """

    active: Int32Array
    node: IntArray
    left: IntArray
    state: Int8Array


def first_node(cover: Cover, count: IntArray) -> Stack:
    """Return a stack that holds the root; ``count`` has the knapsacks of each kind."""
    levels, patterns = int(count.sum()) + 2, cover.item.shape[0]
    stack = Stack(
        np.zeros(ROOM_PER_PATTERN * patterns + LEAST_ROOM, dtype=np.int32),
        np.zeros((levels, 5), dtype=np.int64),
        np.zeros((levels, count.size + 1), dtype=np.int64),
        np.zeros((levels, cover.good.shape[1]), dtype=np.int8),
    )
    stack.active[:patterns] = np.arange(patterns)
    stack.node[0, SIZE] = patterns
    stack.left[0] = np.append(count, count.sum())
    return stack


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
