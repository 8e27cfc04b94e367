"""One multiple knapsack problem, from cheap to dear, to proven optimality.

1. A surrogate problem, one knapsack with all the capacity, bounds the profit. Where its choice of
   items can be split among the knapsacks, it is the answer, which it mostly is where there are many
   items for each knapsack.
2. Knapsacks are filled again, alone and in pairs, until the bound is reached or nothing helps.
3. Where some knapsacks are much smaller than others, their fillings are tried (``completion``).
4. Prices of items give another bound (``prices``), and leave few patterns that a better packing can
   have; these are listed and searched (``patterns.cpp``, ``cover.cpp``), for a target next to the
   bound at first and a lower one where there is none. That is for few items to a knapsack.
5. What is left is searched item by item (``tree.cpp``), with more of 2 in between. An item goes
   into each knapsack in which it fits, the tightest first, and at last nowhere. What the items that
   follow add is bounded by the surrogate problem's relaxation. (Its exact values, tabulated for
   every number of items and every room, proved none of 160 drawn problems more.) Knapsacks with
   equal room are tried once, and no item is packed while one that is no heavier and worth no less
   is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.progress import Progress
from solvers.knapsack.engine import Tell, alarm
from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import IntArray, Knapsack, Packing
from solvers.knapsack.multiple import completion
from solvers.knapsack.multiple.completion import Completion, root_of, split_choice
from solvers.knapsack.multiple.items import (
    NOWHERE,
    Best,
    MultipleKnapsack,
    reduce,
)
from solvers.knapsack.multiple.listed import FEW_PATTERNS, MOST_PATTERNS, search_patterns
from solvers.knapsack.multiple.prices import EXACT_BITS, PriceSearch
from solvers.native.knapsack_multiple_split import improve
from solvers.native.knapsack_multiple_tree import search

DEPTH, PROFIT, BEST, NODES = range(4)
"""Places in ``control``: items decided, their profit, the profit to beat, nodes so far."""

FINISHED, PAUSED = range(2)
"""Why a search returns."""

UNTRIED = -1
"""Choice of an item that nothing was decided for."""

SPLITS = 8
"""Orders of items in which a choice is split."""

STARTS, EMPTIED = 5, 0.5
"""Packings that are refilled in turn: the best, and others without the items of this part of its
knapsacks."""

ROUNDS = 10_000
"""Pairs of knapsacks refilled without success before something else is tried, for up to
``ITEMS_PER_ROUND`` items; that takes some hundredths of a second."""

ITEMS_PER_ROUND = 100
"""With more items than this rounds are fewer, as each takes longer."""

MOST_PRICED = 400
"""Items up to which prices and patterns are worth trying."""

MOST_COMPLETED = 30_000
"""Items up to which small knapsacks are filled first: patterns number items in 16 bits."""

FIRST_VISITS, MOST_VISITS = 5_000_000, 100_000_000
"""Items that nodes of the search item by item look at between two looks at the clock: some
hundredths of a second at first, and less than half a second later."""

FIRST_ITEM_NODES = 20_000_000
"""Nodes of that search before many patterns are listed: some seconds."""


class Tree(NamedTuple):
    """A search: items by falling efficiency, knapsacks, and what is decided.

    ``choice`` (n,) is a knapsack, or their number for none; ``room`` (m,) is what is left.
    """

    profit: IntArray
    weight: IntArray
    choice: IntArray
    room: IntArray
    control: IntArray


def make_tree(problem: MultipleKnapsack, best: int) -> Tree:
    """Return the search for packings worth more than ``best``."""
    control = np.zeros(4, dtype=np.int64)
    control[BEST] = best
    choice = np.full(problem.num_items, UNTRIED, dtype=np.int64)
    return Tree(problem.profit, problem.weight, choice, problem.capacity.copy(), control)


def solve_multiple(
    given: MultipleKnapsack,
    progress: Progress | None = None,
    *,
    tell: Tell | None = None,
) -> Packing:
    """Find a packing of largest profit and prove that it is one.

    Parameters
    ----------
    given : MultipleKnapsack
    progress : Progress, optional
        Keeps the time limit; when it is up, the best packing so far comes with a valid bound.
    tell : callable, optional
        Told the best profit and the bound whenever one has changed.

    Returns
    -------
    Packing
        ``x`` (n,) has the knapsack of each item or ``NOWHERE``; None where a capacity is negative.
    """
    if (given.capacity < 0).any():
        return Packing(None, 0, 0, "A knapsack has a negative capacity.")
    form = reduce(given)

    def report(profit: int, bound: int) -> None:
        if tell is not None:
            tell(form.profit_back(profit), form.profit_back(bound))

    best = Best(form.problem, Progress() if progress is None else progress, report)
    if form.problem.num_items:
        with alarm(best.progress, best.ring):
            _solve(best)
    place = form.packing_back(best.place)
    profit = given.profit_of(place)
    if profit != form.profit_back(best.profit) or not given.fits(place):
        raise EngineError(f"A packing of {given.num_knapsacks} knapsacks does not keep its word.")
    bound = form.profit_back(best.bound if form.problem.num_items else 0)
    return Packing(place, profit, bound, best.path, best.nodes)


def _solve(best: Best) -> None:
    """Settle a reduced problem that has items and knapsacks, or use up the time."""
    problem = best.problem
    chosen = _surrogate(best)
    if best.profit < best.bound:
        split_choice(best, chosen, root_of(best), SPLITS, seed=0)
    if best.over:
        return
    _refill(best, seed=1)
    scalable = int(problem.profit.sum()) < 1 << EXACT_BITS
    if scalable and problem.num_items <= MOST_COMPLETED:
        Completion(best).run(completion.MOST_NODES)
    items = ItemSearch(best)
    if scalable and problem.num_items <= MOST_PRICED and not best.over:
        prices = PriceSearch(problem)

        def stop(bound: int) -> bool:
            best.lower(bound, "bound by prices")
            return best.over

        prices.run(best.place, best.profit, stop, best.improve)
        _refill(best, seed=2)
        search_patterns(best, prices, FEW_PATTERNS)
        items.run(FIRST_ITEM_NODES)
        search_patterns(best, prices, MOST_PATTERNS)
    items.run(np.inf)


def _surrogate(best: Best) -> IntArray:
    """Solve the surrogate problem; return the items that it chooses."""
    problem = best.problem
    one = Knapsack.binary(problem.profit, problem.weight, int(problem.capacity.sum()))
    packing = solve_knapsack(one, best.progress)
    assert packing.x is not None  # no capacity is negative
    best.lower(packing.bound, "bound by a surrogate")
    return np.flatnonzero(packing.x)


def _refill(best: Best, seed: int) -> None:
    """Refill knapsacks of the best packing, and of others."""
    problem = best.problem
    rounds = max(1, ROUNDS * ITEMS_PER_ROUND // max(problem.num_items, ITEMS_PER_ROUND))
    rng = np.random.default_rng(seed)
    for start in range(STARTS):
        if best.over:
            return
        place = best.place.copy()
        if start > 0:  # without the items of some knapsacks
            place[rng.random(problem.num_knapsacks)[place] < EMPTIED] = NOWHERE
        improve(
            problem.profit,
            problem.weight,
            problem.capacity,
            place,
            best.bound,
            rounds,
            STARTS * seed + start,
            best.stop,
        )
        best.improve(place)


class ItemSearch:
    """The search item by item, which goes on where it was left."""

    def __init__(self, best: Best) -> None:
        self._best = best
        self._tree: Tree | None = None
        self._choice = np.full(best.problem.num_items, best.problem.num_knapsacks, dtype=np.int64)
        self._visits = FIRST_VISITS
        self._seed = 3

    def run(self, most: float) -> None:
        """Search to the end, until time is up, or for so many nodes."""
        best, problem = self._best, self._best.problem
        if best.over:
            return
        if self._tree is None:
            self._tree = make_tree(problem, best.profit)
        control = self._tree.control
        until = control[NODES] + most
        while not best.over and control[NODES] < until:
            control[BEST] = max(control[BEST], best.profit)
            before = control[[BEST, NODES]]
            nodes = max(1, self._visits // problem.num_items)
            reason = search(self._tree, self._choice, nodes, best.stop)
            best.nodes += int(control[NODES] - before[1])
            if control[BEST] > before[0]:
                place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
                packed = self._choice < problem.num_knapsacks
                place[packed] = self._choice[packed]
                best.improve(place)
            if reason == FINISHED:
                best.lower(best.profit, "search item by item")
                return
            _refill(best, self._seed)
            self._seed += 1
            self._visits = min(2 * self._visits, MOST_VISITS)
