"""One knapsack problem, solved to proven optimality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.progress import Progress
from solvers.knapsack.dp.core import copies_to_flags, flags_to_copies
from solvers.knapsack.dp.gpu_lists.list_search import Handover
from solvers.knapsack.dp.states import MOST_STATES
from solvers.knapsack.dp.tables import MOST_BYTES
from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.heuristics import first_packing
from solvers.knapsack.items import Knapsack, Packing, normal_form
from solvers.knapsack.lines import find_lines
from solvers.knapsack.rounds import Found, SearchSettings, search_in_rounds

MOST_SINGLE_ITEMS = 200_000
"""Copies of all items up to which each is made an item of its own where that may help."""


def solve_knapsack(
    given: Knapsack,
    progress: Progress | None = None,
    *,
    most_states: int = MOST_STATES,
    table_bytes: int = MOST_BYTES,
    tell: Callable[[int, int], None] | None = None,
    device: str = "cpu",
) -> Packing:
    """Find a packing of largest profit and prove that it is one.

    Parameters
    ----------
    given : Knapsack
    progress : Progress, optional
        Keeps the time limit; when it is up, the best packing so far comes with a valid bound.
    most_states : int
        Largest length of a list of states, which is what memory is needed for.
    table_bytes : int
        Memory that a table over capacities may take; without any there are no tables.
    tell : callable, optional
        Told the best profit and the bound now and then.
    device : str
        Where lists may go on that are too long for one core; see ``EngineOptions``.

    Returns
    -------
    Packing
        With ``x`` None where not even the lightest packing fits.
    """
    stopping = Progress() if progress is None else progress
    form = normal_form(given)
    if not form.is_feasible:
        return Packing(None, 0, 0, "Not even the lightest packing keeps the capacity.")
    small = form.knapsack
    items = by_efficiency(small)
    found = _at_the_root(items)

    def watch(profit: int, bound: int) -> bool:
        if tell is not None:
            tell(form.profit_back(profit), form.profit_back(bound))
        return stopping.should_stop() is not None

    if found.profit < found.bound:
        handover = Handover(device, stopping.log)
        settings = SearchSettings(most_states, watch, table_bytes)
        items, found = _settle(small, items, found, settings, handover)
        handover.end()
    x = form.packing_back(flags_to_copies(items, found.flags, small.num_items))
    packed, weight = given.value_of(x)
    if weight > given.capacity or packed != form.profit_back(found.profit):
        raise EngineError(f"A packing of weight {weight} was said to be worth {packed}.")
    return Packing(x, packed, form.profit_back(found.bound), found.path, found.states)


def _at_the_root(items: Ordered) -> Found:
    """Return a good packing and the bound of the relaxation."""
    profit, flags = first_packing(items)
    return Found(flags, profit, items.dantzig_bound, "bound of the relaxation")


def _settle(
    knapsack: Knapsack,
    items: Ordered,
    found: Found,
    settings: SearchSettings,
    handover: Handover,
) -> tuple[Ordered, Found]:
    """Search, at last with every copy as an item of its own; return the items and what was found.

    Bounds from numbers of items, which correlated classes need, mean nothing for powers of two of
    them, but with these most other problems are solved sooner.
    """
    if items.num_items < int(knapsack.copies.sum()) <= MOST_SINGLE_ITEMS:
        once = replace(knapsack, copies=np.ones_like(knapsack.copies))
        rounds = 1 if find_lines(by_efficiency(once)) is None else 0
        found = search_in_rounds(items, found, replace(settings, rounds=rounds))
        if found.profit == found.bound or settings.watch(found.profit, found.bound):
            return items, found
        copies = flags_to_copies(items, found.flags, knapsack.num_items)
        items = by_efficiency(knapsack, single=True)
        found = replace(found, flags=copies_to_flags(items, copies))
    return items, search_in_rounds(items, found, settings, handover)
