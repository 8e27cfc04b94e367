"""One multiple knapsack problem, from cheap to dear, to proven optimality.

1. A surrogate problem, one knapsack with all the capacity, bounds the profit. Where its choice of
   items can be split among the knapsacks, it is the answer, which it mostly is where there are many
   items for each knapsack.
2. Knapsacks are filled again, alone and in pairs, until the bound is reached or nothing helps.
3. Prices of items give another bound (``prices``), and leave few patterns that a better packing can
   have; these are listed and searched (``patterns``, ``cover``), for a target next to the bound at
   first and a lower one where there is none. That is for few items to a knapsack.
4. What is left is searched item by item (``tree``), with more of 2 in between.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.errors import EngineError
from solvers.knapsack.items import IntArray, Knapsack
from solvers.knapsack.multiple import tree as trees
from solvers.knapsack.multiple.items import NOWHERE, MultipleKnapsack, MultiplePacking
from solvers.knapsack.multiple.listed import search_patterns
from solvers.knapsack.multiple.prices import PriceSearch
from solvers.knapsack.multiple.reduce import reduce
from solvers.knapsack.multiple.split import improve, split
from solvers.knapsack.search import solve_knapsack
from solvers.progress import Progress

SPLITS = 8
"""Orders of items in which a choice is split."""

ROUNDS = 20_000
"""Pairs of knapsacks refilled without success before something else is tried, for up to
``ITEMS_PER_ROUND`` items; that takes a tenth of a second."""

ITEMS_PER_ROUND = 100
"""With more items than this rounds are fewer, as each takes longer."""

MOST_PRICED = 400
"""Items up to which prices and patterns are worth trying."""

FIRST_NODES, MOST_NODES = 100_000, 2_000_000
"""Nodes of the last search between two looks at the clock: some hundredths of a second at first."""

Tell = Callable[[int, int], None]


class Best:
    """The best packing of a problem so far, and the bound."""

    def __init__(self, problem: MultipleKnapsack, progress: Progress, tell: Tell) -> None:
        self.problem = problem
        self.place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        self.profit = 0
        self.bound = int(problem.profit.sum())
        self.path = "bound of all profits"
        self.nodes = 0
        self._progress = progress
        self._tell = tell

    def improve(self, place: IntArray) -> int:
        """Keep a packing if it is better than the best; return the best's profit."""
        profit = self.problem.profit_of(place)
        if profit > self.profit:
            self.place, self.profit = place.copy(), profit
            self._tell(self.profit, self.bound)
        return self.profit

    def lower(self, bound: int, path: str) -> None:
        """Keep a bound if it is lower."""
        if bound < self.bound:
            self.bound, self.path = max(bound, self.profit), path
            self._tell(self.profit, self.bound)

    @property
    def over(self) -> bool:
        """Whether the best packing is proven to be one, or time is up."""
        return self.profit >= self.bound or self._progress.should_stop() is not None


def solve_multiple(
    given: MultipleKnapsack,
    progress: Progress | None = None,
    *,
    tell: Tell | None = None,
) -> MultiplePacking:
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
    MultiplePacking
        With ``place`` None where a capacity is negative.
    """
    if (given.capacity < 0).any():
        return MultiplePacking(None, 0, 0, "a capacity is negative")
    form = reduce(given)

    def report(profit: int, bound: int) -> None:
        if tell is not None:
            tell(form.profit_back(profit), form.profit_back(bound))

    best = Best(form.problem, Progress() if progress is None else progress, report)
    if form.problem.num_items:
        _solve(best, Progress() if progress is None else progress)
    place = form.packing_back(best.place)
    profit = given.profit_of(place)
    if profit != form.profit_back(best.profit) or not given.fits(place):
        raise EngineError(f"A packing of {given.num_knapsacks} knapsacks does not keep its word.")
    bound = form.profit_back(best.bound if form.problem.num_items else 0)
    return MultiplePacking(place, profit, bound, best.path, best.nodes)


def _solve(best: Best, progress: Progress) -> None:
    """Settle a reduced problem that has items and knapsacks, or use up the time."""
    problem = best.problem
    chosen = _surrogate(best, progress)
    if best.profit < best.bound:
        _split(best, chosen)
    if best.over:
        return
    _refill(best, ROUNDS, seed=1)
    if problem.num_items <= MOST_PRICED and not best.over:
        prices = PriceSearch(problem)

        def stop(bound: int) -> bool:
            best.lower(bound, "bound by prices")
            return best.over

        prices.run(best.place, best.profit, stop, best.improve)
        _refill(best, ROUNDS, seed=2)
        if prices.best is not None and not best.over:
            search_patterns(best, prices)
    _search_items(best)


def _surrogate(best: Best, progress: Progress) -> IntArray:
    """Solve the surrogate problem; return the items that it chooses."""
    problem = best.problem
    one = Knapsack.binary(problem.profit, problem.weight, int(problem.capacity.sum()))
    packing = solve_knapsack(one, progress)
    assert packing.x is not None  # no capacity is negative
    best.lower(packing.bound, "bound by a surrogate")
    return np.flatnonzero(packing.x)


def _split(best: Best, chosen: IntArray) -> None:
    """Split the surrogate's items among the knapsacks, in several orders."""
    problem = best.problem
    rng = np.random.default_rng(0)
    falling = chosen[np.argsort(-problem.weight[chosen], kind="stable")]
    for attempt in range(SPLITS):
        order = falling if attempt == 0 else rng.permutation(chosen)
        place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        split(problem.weight, problem.capacity, order, place)
        best.improve(place)
        if best.over:
            return


def _refill(best: Best, rounds: int, seed: int) -> None:
    """Refill knapsacks of the best packing."""
    problem = best.problem
    if best.over:
        return
    place = best.place.copy()
    rounds = max(1, rounds * ITEMS_PER_ROUND // max(problem.num_items, ITEMS_PER_ROUND))
    improve(problem.profit, problem.weight, problem.capacity, place, best.bound, rounds, seed)
    best.improve(place)


def _search_items(best: Best) -> None:
    """Search item by item to the end, or until time is up."""
    problem = best.problem
    tree = trees.make_tree(problem, best.profit)
    choice = np.full(problem.num_items, problem.num_knapsacks, dtype=np.int64)
    nodes, seed = FIRST_NODES, 3
    while not best.over:
        before = int(tree.control[trees.BEST])
        reason = trees.search(tree, choice, nodes)
        best.nodes += nodes
        if tree.control[trees.BEST] > before:
            place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
            packed = choice < problem.num_knapsacks
            place[tree.item[packed]] = choice[packed]
            best.improve(place)
        if reason == trees.FINISHED:
            best.lower(best.profit, "search item by item")
            return
        _refill(best, ROUNDS, seed)
        tree.control[trees.BEST] = max(tree.control[trees.BEST], best.profit)
        seed += 1
        nodes = min(2 * nodes, MOST_NODES)
