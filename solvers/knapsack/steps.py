"""Steps between the pieces of a search: in turn, with a table as soon as one is due."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from solvers.knapsack.dp.core import CoreSearch, Watch
from solvers.knapsack.dp.tables import Tables
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.fill import fill
from solvers.knapsack.intercepts import Lines
from solvers.knapsack.relaxations import CountBounds, surrogate_bound

Step: TypeAlias = tuple[int, Callable[[int], str]]
"""States that a step may visit, and the step: told how many it may, it says what it settled."""


def in_turn(steps: list[Step], search: CoreSearch, tables: Tables, watch: Watch, path: str) -> str:
    """Take steps until the search is settled; return what is to be said that ``path`` does not.

    A table is made as soon as it is due, and no step gets more work than is left up to there.
    """
    more = ""
    for work, step in steps:
        more += tables.settle(search, watch)
        if search.is_settled:
            break
        said = step(int(min(work, tables.left(search, work))))
        more += said if said not in path + more else ""
    return more


def by_lines(items: Ordered, search: CoreSearch, lines: Lines, side: int) -> str:
    """Lower the bound by numbers of items on lines, and look for a packing that reaches it."""
    path = ""
    if lines.bound < search.target:
        search.lower(lines.bound)
        path = ", bound by counts"
    if not search.is_settled:
        filled = fill(items, lines, lines.least_weight(search.target), side)
        search.improve(int(items.profit[filled.flags].sum()), filled.flags)
    return path


def lower_by_relaxations(
    search: CoreSearch, counts: CountBounds, pivots: tuple[int, ...], work: int
) -> str:
    """Lower the search's bound by numbers of items and by surrogates; return what did."""
    path = ""
    for pivot in pivots:
        if search.is_settled or counts.stop():
            break
        bound = counts.improve(search, pivot, work)
        if bound < search.target:
            search.lower(bound)
            path = ", bound by differences"
    if not search.is_settled:
        bound = surrogate_bound(counts.items, search, counts.solve, counts.stop)
        if bound < search.target:
            search.lower(bound)
            path = ", bound by a surrogate"
    return path
