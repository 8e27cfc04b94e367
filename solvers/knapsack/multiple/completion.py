"""Small knapsacks first: their fillings one after the other, with a surrogate of all the rest.

Where a few knapsacks are much smaller than the others, the surrogate's choice cannot be split only
because of them. So each node decides the filling of the smallest knapsack that is left, and the
rest, as one knapsack, bounds it; mostly that choice can be split (bin completion, as in Fukunaga,
"A branch-and-bound algorithm for hard multiple knapsack problems", 2011, with the bound and the
split of Pisinger, 1999). Nodes are taken by their bounds, the best first.

Fillings are listed as patterns at the prices of the surrogate's relaxation, those of small slack
only.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

import numpy as np

from solvers.knapsack.exact_search import solve_knapsack
from solvers.knapsack.items import IntArray, Knapsack
from solvers.knapsack.multiple.items import LONGEST, NOWHERE, Best
from solvers.knapsack.multiple.prices import EXACT_BITS, MOST_SCALE_BITS
from solvers.native.knapsack_multiple_patterns import list_patterns
from solvers.native.knapsack_multiple_split import split

MOST_FILLINGS = 4_000
"""Fillings of a knapsack that are listed at most; with more it is not small."""

LISTING_NODES = 200_000
"""Nodes of a listing at most: some hundredths of a second."""

MOST_NODES = 2_000
"""Nodes at most: some seconds."""

SPLITS = 3
"""Orders of items in which the rest's choice is split."""

SURROGATE_STATES = 1_000_000
"""Largest length of a list of states in the search for a surrogate's value."""


@dataclass(frozen=True, eq=False)
class Node:
    """Fillings of the first knapsacks: where items are, their profit, and the slack so far."""

    place: IntArray
    filled: int
    profit: int
    slack: int


def root_of(best: Best) -> Node:
    """Return the node where nothing is filled."""
    return Node(np.full(best.problem.num_items, NOWHERE, dtype=np.int64), 0, 0, 0)


def split_choice(best: Best, chosen: IntArray, node: Node, orders: int, seed: int) -> None:
    """Split items among the knapsacks that a node leaves, in so many orders at most."""
    problem, rng = best.problem, np.random.default_rng(seed)
    order = chosen[np.argsort(-problem.weight[chosen], kind="stable")]
    for _ in range(orders):
        place = np.full(problem.num_items, NOWHERE, dtype=np.int64)
        left = split(problem.weight, problem.capacity[node.filled :], order, place)
        place[place >= 0] += node.filled
        best.improve(np.where(node.place >= 0, node.place, place))
        if left == 0 or best.over:
            return
        order = rng.permutation(chosen)


class Completion:
    """The search, for one problem."""

    def __init__(self, best: Best) -> None:
        problem = best.problem
        self._best = best
        bits = EXACT_BITS - int(problem.profit.sum()).bit_length()
        self._scale = 1 << min(max(bits, 0), MOST_SCALE_BITS)
        inside = np.cumsum(problem.weight) <= int(problem.capacity.sum())
        last = min(int(inside.sum()), problem.num_items - 1)
        self._rate = Fraction(int(problem.profit[last]), int(problem.weight[last])) * self._scale
        most = (problem.profit * self._scale).tolist()
        # beyond 64 bits only where the profit is less
        worth = [
            min(int(self._rate * w), p) for w, p in zip(problem.weight.tolist(), most, strict=True)
        ]
        self._value = np.array(worth, dtype=np.int64)
        price = problem.profit * self._scale - self._value
        # of what every knapsack's best filling is worth, rounded up
        ends = [int(self._rate * c) + 1 for c in problem.capacity.tolist()]
        self._worth = np.array(ends, dtype=np.int64)
        self._total = int(price.sum()) + sum(ends)
        self._order = np.argsort(-(self._value / problem.weight), kind="stable")

    def run(self, nodes: int) -> bool:
        """Search to the end and return True, or for so many nodes, while knapsacks are small."""
        best = self._best
        number = count()
        waiting = [(-best.bound, 0, 0, root_of(best))]
        for _ in range(nodes):
            if waiting:
                best.lower(-waiting[0][0], "small knapsacks first")
            if best.over or not waiting:
                break
            bound, _, _, node = heapq.heappop(waiting)
            bound = min(-bound, self._bound(node))
            if bound <= best.profit:
                continue
            fillings = self._fillings(node)
            if fillings is None:
                return False
            for child in fillings:
                heapq.heappush(waiting, (-bound, -child.filled, next(number), child))
        if not waiting:
            best.lower(best.profit, "small knapsacks first")
        return best.over

    def _bound(self, node: Node) -> int:
        """Return the bound of a node by its surrogate, and try to split what that chooses."""
        best, problem = self._best, self._best.problem
        best.nodes += 1
        if (self._total - node.slack) // self._scale <= best.profit:
            return best.profit
        rest = np.flatnonzero(node.place == NOWHERE)
        room = int(problem.capacity[node.filled :].sum())
        surrogate = Knapsack.binary(problem.profit[rest], problem.weight[rest], room)
        packing = solve_knapsack(surrogate, best.progress, most_states=SURROGATE_STATES)
        assert packing.x is not None  # the room is not negative
        bound = node.profit + packing.bound
        if bound > best.profit:
            split_choice(best, rest[packing.x > 0], node, SPLITS, seed=best.nodes)
        return bound

    def _fillings(self, node: Node) -> list[Node] | None:
        """Return the nodes below, one for each filling of the next knapsack; None if too many."""
        best, problem = self._best, self._best.problem
        j = node.filled
        if j == problem.num_knapsacks:
            return []
        budget = self._total - node.slack - self._scale * (best.profit + 1)
        item = np.zeros((MOST_FILLINGS, LONGEST), dtype=np.int16)
        length = np.zeros(MOST_FILLINGS, dtype=np.int64)
        worth = np.zeros(MOST_FILLINGS, dtype=np.int64)
        order = self._order[node.place[self._order] == NOWHERE]
        capacity, least = int(problem.capacity[j]), int(self._worth[j]) - budget
        found = list_patterns(
            self._value,
            problem.weight,
            order,
            capacity,
            least,
            0,
            LISTING_NODES,
            item,
            length,
            worth,
        )
        if found < 0:
            return None
        children = []
        for k in range(found):
            items = item[k, : length[k]].astype(np.int64)
            place = node.place.copy()
            place[items] = j
            profit = node.profit + int(problem.profit[items].sum())
            slack = node.slack + int(self._worth[j] - worth[k])
            children.append(Node(place, j + 1, profit, slack))
        children.sort(key=lambda child: child.slack)
        return children
