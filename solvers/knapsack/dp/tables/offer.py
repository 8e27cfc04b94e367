"""When a table over capacities is cheaper than going on with lists of states.

What a table takes is known beforehand, what a list will take is not. So a table is made when the
search has cost as much as the table would: whichever is cheaper, at most about twice as much is
spent. Until then the search gets no larger pieces of work than are left up to there. All of it is
counted in states that a list visits, not in seconds, so that the same problem goes the same way
every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.dp.core import CoreSearch, Watch
from solvers.knapsack.dp.tables.dense import (
    MOST_BYTES,
    Segment,
    fill_sums,
    fill_table,
    fits,
    following,
    profit_type,
    segments,
    unit_profit,
)
from solvers.knapsack.dp.tables.plan import (
    Changes,
    Plan,
    Types,
    find_changes,
    find_types,
    make_plan,
)
from solvers.knapsack.efficiency import Ordered

STATE = 11.0
"""Nanoseconds for a state of a list on one core: 11.4 (``benchmarks.knapsack_tables``)."""

CELL = {np.int32: 0.25, np.int64: 0.4}
"""Nanoseconds for a column that a stage treats, by the type of profits: 0.25, 0.38 (as above)."""

RECORDED_CELL = {np.int32: 0.5, np.int64: 0.6}
"""The same where bits are recorded, from which the packing is read off: 0.48, 0.50 (as above; more
on a machine that is busy)."""

FETCHED = {np.int32: 0.3, np.int64: 0.55}
"""Nanoseconds more for a column that comes from memory, once for all stages that follow each other
(stages of weights of 300,000 columns by themselves, beside light ones)."""

CACHED = 1 << 19
"""Columns that a core's own cache holds."""

WORD = 1.7
"""Nanoseconds for a word of 64 columns of a table of sums: 1.67 (as above)."""

MARKED_COLUMN = 5.0
"""Nanoseconds to mark a column of it, which happens once to each, and for the memory it needs."""

FEWEST_STATES = 500_000
"""States, some milliseconds, before which no table is made: most searches are over then."""

STAGE = 1500.0
"""Nanoseconds that a stage takes whatever the number of columns."""

REDUCED_ITEM = 200.0
"""Nanoseconds to see for an item how often it may be packed otherwise."""

PLANNED_ITEM = 2000.0
"""Nanoseconds to plan a table for each item that may change."""

PLANNING_SHARE = 1 / 8
"""Part of what has been spent that seeing what a table would take may cost."""


@dataclass(frozen=True, eq=False)
class Offer:
    """A table that can be made: its plan, what it costs in nanoseconds, and its kind."""

    plan: Plan
    cost: float
    of_sums: bool


class Tables:
    """Offers to settle one search by a table, and knows what else has been spent on it.

    Parameters
    ----------
    items : Ordered
    most_bytes : int
        Memory that a table may take; without any there are none.
    """

    def __init__(self, items: Ordered, most_bytes: int = MOST_BYTES) -> None:
        self._items, self.most_bytes = items, most_bytes
        self._other = 0.0
        self._closed = most_bytes == 0 or items.break_item >= items.num_items
        self._profit = -1
        self._types: Types | None = None
        self._changes: Changes | None = None
        self._offer: Offer | None = None

    def count(self, states: float) -> None:
        """Count work that the search itself does not know of, in states."""
        self._other += states

    def left(self, search: CoreSearch, ahead: float = 0.0) -> float:
        """Return the states that may be visited before a table is due: none if it is now.

        Nothing is planned before many states are visited, or the next step may take ``ahead``.
        """
        spent = search.spent + self._other
        if self._closed or spent + ahead < FEWEST_STATES:
            return float("inf")
        if search.profit > self._profit:
            before = REDUCED_ITEM * self._items.num_items / STATE / PLANNING_SHARE
            if before > spent:
                return before - spent
            self._profit, self._offer = search.profit, None
            if self._types is None:
                self._types = find_types(self._items)
            self._changes = find_changes(self._items, self._types, search.profit)
        if self._changes is not None:
            before = PLANNED_ITEM * self._changes.origin.size / STATE / PLANNING_SHARE
            if before > spent:
                return before - spent
            self._offer = find_offer(self._items, self._changes, search.target, self.most_bytes)
            self._changes = None
        if self._offer is None:
            return float("inf")
        return max(max(self._offer.cost / STATE, FEWEST_STATES) - spent, 0.0)

    def settle(self, search: CoreSearch, watch: Watch, *, ahead: float = 0.0) -> str:
        """Make a table if it is due; return what is to be said where it settles the search.

        It is also due where the next step takes ``ahead`` states at once and more than are left.
        """
        if search.is_settled or self.left(search, ahead) > ahead or self._offer is None:
            return ""
        return self._make(self._offer, search, watch)

    def _make(self, offer: Offer, search: CoreSearch, watch: Watch) -> str:
        self._closed = True  # it settles the search, or there is no time or memory for it

        def stop() -> bool:
            return watch(search.profit, search.target)

        try:
            if offer.of_sums:
                made = fill_sums(offer.plan, search.profit, search.target, stop)
            else:
                made = fill_table(offer.plan, search.profit, search.target, stop, self.most_bytes)
        except MemoryError:
            return ""
        if not made.is_complete:
            return ""
        if made.taken is not None:
            search.improve(made.profit, offer.plan.flags(self._items, made.taken))
        search.lower(max(made.profit, search.profit))
        return ", by a table of sums" if offer.of_sums else ", by a table of profits"


def find_offer(
    items: Ordered, changes: Changes, bound: int, most_bytes: int = MOST_BYTES
) -> Offer | None:
    """Return the cheapest table; None if none fits in memory.

    Parameters
    ----------
    items : Ordered
        Not all of them fit.
    changes : Changes
        What may be otherwise than in the break solution.
    bound : int
        Profit that no packing exceeds.
    most_bytes : int
    """
    once = make_plan(items, changes, repeats=False)
    if once is None:
        return None
    found = []
    if once.num_stages and unit_profit(once) and fits(once, most_bytes):
        found.append(Offer(once, _cost_of_sums(once), True))
    plans = [once]
    if int(once.times.max(initial=1)) > 1:
        repeating = make_plan(items, changes)
        plans += [repeating] if repeating is not None and repeating.repeated.any() else []
    for plan in plans:
        if segments(plan, bound, most_bytes) is not None:
            found.append(Offer(plan, _cost(plan, bound), False))
    return min(found, key=lambda offer: offer.cost, default=None)


def _cost(plan: Plan, bound: int) -> float:
    """Return nanoseconds for a table of profits that is made twice, to read the packing off."""
    kind = profit_type(plan, bound)
    fetched = 0
    for start, end in following(plan, Segment(0, plan.num_stages)):
        columns = int(plan.high[start:end].max() - plan.low[start:end].min()) + 1
        fetched += columns if columns > CACHED else 0
    passes = CELL[kind] + RECORDED_CELL[kind]
    return plan.cells * passes + 2 * (fetched * FETCHED[kind] + STAGE * plan.num_stages)


def _cost_of_sums(plan: Plan) -> float:
    """Return nanoseconds for a table of sums."""
    return plan.cells / 64 * WORD + plan.width * MARKED_COLUMN + STAGE * plan.num_stages
