"""Sub-problems by the number of items packed.

The relaxation packs some number of items and a fraction. Asking for a whole number k of them cuts
it off, and each k has its own duals, bound and reduced costs (Vimont, Boussier, Vasquez, "Reduced
costs propagation in an efficient implicit enumeration for the 01 multidimensional knapsack
problem", 2008, section 3). Only the few k whose bound exceeds the best packing are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.progress import Progress
from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack
from solvers.knapsack.multidimensional.node import (
    AT_UPPER,
    CUT_OFF,
    Node,
    Rows,
    copy_node,
    make_rows,
    root_node,
)
from solvers.native.knapsack_multidimensional_tree import reoptimise


@dataclass(frozen=True, eq=False)
class Subproblems:
    """The sub-problems that are open: rows (the last one counts items) and a node for each."""

    rows: Rows
    nodes: tuple[Node, ...]


def largest_count(problem: MultidimensionalKnapsack) -> int:
    """Return how many items the row that allows fewest has room for, lightest first."""
    weights = np.cumsum(np.sort(problem.weight, axis=1), axis=1)
    return int((weights <= problem.capacity[:, None]).sum(axis=1).min())


def by_count(
    problem: MultidimensionalKnapsack, target: int, progress: Progress
) -> Subproblems | None:
    """Return the sub-problems that may hold a packing worth ``target``, the best bound first.

    None where ``progress`` says stop before all are known.
    """
    weight = np.vstack([problem.weight, np.ones((1, problem.num_items), dtype=np.int64)])
    rows = make_rows(problem.profit, weight, equations=1)
    free = make_rows(problem.profit, problem.weight)
    start = root_node(free, problem.capacity)
    if reoptimise(free, start, target) == CUT_OFF:
        return Subproblems(rows, ())
    most = largest_count(problem)
    middle = min(int((start.place[: problem.num_items] == AT_UPPER).sum()), most)
    found = []
    for step, first in ((1, middle), (-1, middle - 1)):
        count = first
        node = root_node(rows, np.append(problem.capacity, count))
        while 0 <= count <= most:
            if progress.should_stop() is not None:
                return None
            status = reoptimise(rows, node, target)
            if status != CUT_OFF:
                found.append(node)
            elif node.bound[0] < target and node.dual[-1] * step <= 0.0:
                break  # the same duals cut off all that are farther away
            count += step
            node = _next_count(rows, node, step)
    found.sort(key=lambda node: -float(node.bound[0]))
    return Subproblems(rows, tuple(found))


def _next_count(rows: Rows, node: Node, step: int) -> Node:
    """Return the node for ``step`` items more, with the basis of this one: a few pivots away."""
    further = copy_node(node)
    further.residual[-1] += step
    further.side[-1] += step * rows.scale[-1]
    return further


def core_threshold(node: Node, size: int) -> float:
    """Return the reduced cost that leaves about ``size`` items free."""
    costs = np.sort(np.abs(node.reduced))
    return float(costs[min(size, costs.size - 1)])
