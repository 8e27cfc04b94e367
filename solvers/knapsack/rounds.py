"""One search, and what is tried between its pieces to lower its bound and raise its profit.

Most problems are solved by the first piece. The other ways come in rounds that cost ever more, as
much as the pieces of the search between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.clusters import climb_clusters
from solvers.knapsack.dp.core import CoreSearch, Watch
from solvers.knapsack.dp.gpu_lists.list_search import Handover
from solvers.knapsack.dp.heavy_first import search_heavy_first
from solvers.knapsack.dp.states import Found as Result
from solvers.knapsack.dp.tables import MOST_BYTES, Tables
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.heuristics import fill, two_exchanges
from solvers.knapsack.lines import Lines, find_lines
from solvers.knapsack.relaxations import (
    PIVOTS,
    SET_UP_PER_ITEM,
    CountBounds,
    Solved,
    surrogate_bound,
)

FIRST_WORK, FIRST_WORK_PER_ITEM = 20_000, 2
"""States of the search before lines are looked for, altogether and for each item: that takes about
as long."""

BRIEF_TO_LONG = 9
"""Times as many states of the search before anything else is tried."""

LIKELY_REACHED = 1000
"""A bound nearer than this part of an item's profit is mostly reached by some packing: what is to
be found first is that, and not a lower bound."""

SIDES = (48, 192, 768)
"""Items on each side of the break item whose exchanges are looked at, one size after the other."""

WORK_PER_SUM = 100
"""States of the search for each exchange that was listed before: as much time for one as the other,
as exchanges have to be sorted."""

EXCHANGE = 25
"""States for each exchange of those sides that is really there, to list two exchanges, and as many
to fill the capacity by them."""

RELAXATIONS = 4
"""Relaxations for numbers of items that one pivot's share of the time allows."""

HEAVY_FIRST = (2, 10, 30)
"""States of a search from the heaviest item for one of the other search, in each round. In the last
it comes before relaxations, which would take longer than it does."""

LONG_HEAVY_FIRST = 2 * 10**10
"""States of the last search from the heaviest item: some minutes."""

CLIMB = (10, 100, 400)
"""States of a search by clusters of weights for one of the other search, in each round. Where there
are clusters it is what helps most, and elsewhere it costs nothing."""


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


@dataclass(frozen=True, eq=False)
class Found:
    """The best packing known (flags of items), the bound, and what proved it."""

    flags: npt.NDArray[np.bool_]
    profit: int
    bound: int
    path: str
    states: int = 0


@dataclass(frozen=True)
class SearchSettings:
    """What limits a search."""

    most_states: int
    """Largest length of a list of states."""
    watch: Watch
    """Told the best profit and the bound now and then; returns whether to stop."""
    table_bytes: int = MOST_BYTES
    """Memory that a table over capacities may take."""
    rounds: int = len(SIDES)
    """After fewer than all of them the search ends."""
    nested: bool = False
    """Whether the problem is a relaxation of another."""


def search_in_rounds(
    items: Ordered, found: Found, settings: SearchSettings, handover: Handover | None = None
) -> Found:
    """Search, and between its first pieces look for bounds and packings in other ways.

    Most problems are solved by the first piece, and what the others cost grows with the search.
    """
    search = CoreSearch(items, found.profit, found.bound, settings.most_states, handover)
    run = _Run(items, search, Tables(items, settings.table_bytes), settings)
    path = run.in_pieces()
    result = search.result()
    search.end()
    flags = found.flags if result.packed is None else result.packed
    return Found(flags, result.profit, result.bound, path, result.states)


@dataclass(frozen=True, eq=False)
class _Run:
    """One search with all that takes part; its methods return what is to be said of how it went."""

    items: Ordered
    search: CoreSearch
    tables: Tables
    settings: SearchSettings

    @property
    def watch(self) -> Watch:
        """That of the settings."""
        return self.settings.watch

    @property
    def is_over(self) -> bool:
        """Whether the best packing is proven, or the search is to stop."""
        return self.search.is_settled or self.stop()

    def stop(self) -> bool:
        """Tell how the search stands; return whether to stop."""
        return self.watch(self.search.profit, self.search.target)

    def in_pieces(self) -> str:
        """Search for a moment, then for longer, then beside other ways, and at last to the end."""
        items, search = self.items, self.search
        path = "DP core"
        brief = FIRST_WORK + FIRST_WORK_PER_ITEM * items.num_items
        if search.run(self.watch, brief) or self.stop():
            return path
        lines = find_lines(items)
        if lines is not None:
            path += by_lines(items, search, lines, SIDES[0])
        if search.run(self.watch, BRIEF_TO_LONG * brief) or self.stop():
            return path
        path += self._by_other_ways(lines)
        return path + self._to_the_end(path) if self.settings.rounds == len(SIDES) else path

    def _by_other_ways(self, lines: Lines | None) -> str:
        """Improve packing and bound in rounds that cost ever more."""
        items, search, tables, path = self.items, self.search, self.tables, ""

        def solve(relaxation: Ordered, floor: int) -> Solved:
            solved = self._solve_relaxation(relaxation, floor, k + 1)
            tables.count(solved.states + SET_UP_PER_ITEM * items.num_items)
            return solved

        def by_relaxations(work: int) -> str:
            return lower_by_relaxations(search, counts, PIVOTS[k], work)

        counts = CountBounds(items, solve, self.stop)
        for k, side in enumerate(SIDES[: self.settings.rounds]):
            unit = WORK_PER_SUM * side**2
            b = items.break_item
            exchanges = min(side, b) * min(side, items.num_items - b)
            listing = EXCHANGE * exchanges * (2 if lines is not None and k > 0 else 1)
            path += tables.settle(search, self.watch, ahead=listing)
            if self.is_over:
                break
            search.improve(*two_exchanges(items, side))
            if lines is not None and not search.is_settled and k > 0:
                by_lines(items, search, lines, side)
            tables.count(listing)
            gap = search.target - search.profit
            likely = gap * LIKELY_REACHED < items.profit[min(b, items.num_items - 1)]
            steps: list[Step] = []
            if not self.settings.nested:
                steps = [
                    (CLIMB[k] * unit, self._by_clusters),
                    (HEAVY_FIRST[k] * unit, self._by_heavy_first),
                ]
                if k > 0 or not likely:
                    last = k + 1 == len(SIDES)
                    work = RELAXATIONS * (unit + SET_UP_PER_ITEM * items.num_items)
                    steps.insert(2 if last else 1, (work, by_relaxations))
            path += in_turn([*steps, (unit, self._by_search)], search, tables, self.watch, path)
        return path

    def _to_the_end(self, path: str) -> str:
        """Search until the best packing is proven or time is up."""
        search, tables, more = self.search, self.tables, ""
        if not self.settings.nested:
            steps: list[Step] = [
                (LONG_HEAVY_FIRST, self._by_clusters),
                (LONG_HEAVY_FIRST, self._by_heavy_first),
            ]
            more = in_turn(steps, search, tables, self.watch, path)
        while not self.is_over:
            more += tables.settle(search, self.watch)
            search.run(self.watch, tables.left(search))
        return more

    def _by_search(self, work: int) -> str:
        """Go on with the search itself."""
        self.search.run(self.watch, work)
        return ""

    def _by_heavy_first(self, work: int) -> str:
        """Treat items in another order."""
        return self._beside(search_heavy_first, work, ", from the heaviest item")

    def _by_clusters(self, work: int) -> str:
        """Go up through clusters of weights, if there are any."""
        return self._beside(climb_clusters, work, ", by clusters of weights")

    def _beside(self, run: Callable[..., Result], work: int, said: str) -> str:
        """Take what another search for the same packing finds."""
        search, most = self.search, self.settings.most_states
        found = run(self.items, search.profit, search.target, most, work, self.watch)
        search.count_states(found.states)
        if found.packed is not None:
            search.improve(found.profit, found.packed)
        if found.bound >= search.target and not (found.is_settled or search.is_settled):
            return ""
        search.lower(found.bound)
        return said

    def _solve_relaxation(self, items: Ordered, floor: int, rounds: int) -> Solved:
        """Solve another problem as far as its packings may be worth more than ``floor``."""

        def silent(profit: int, bound: int) -> bool:  # of another problem
            return self.stop()

        floor = max(floor, 0)
        start = Found(np.zeros(items.num_items, dtype=np.bool_), floor, items.dantzig_bound, "")
        if floor >= start.bound:
            return Solved(None, floor)
        settings = replace(self.settings, watch=silent, rounds=rounds, nested=True)
        found = search_in_rounds(items, start, settings)
        flags = found.flags if found.profit > floor else None
        return Solved(flags, found.bound, found.states)
