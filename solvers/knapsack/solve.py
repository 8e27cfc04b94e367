"""The front door: one knapsack problem, solved to proven optimality."""

from __future__ import annotations

import numpy as np

from solvers.errors import EngineError
from solvers.knapsack.core import CoreSearch, flags_to_copies
from solvers.knapsack.efficiency import by_efficiency
from solvers.knapsack.greedy import first_packing
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.normal_form import normal_form
from solvers.progress import Progress

MOST_STATES = 40_000_000
"""States that a list may have: two of them and what is remembered take some gigabytes."""


def solve_knapsack(
    given: Knapsack, progress: Progress | None = None, *, most_states: int = MOST_STATES
) -> Packing:
    """Find a packing of largest profit and prove that it is one.

    Parameters
    ----------
    given : Knapsack
    progress : Progress, optional
        Keeps the time limit; when it is up, the best packing so far comes with a valid bound.
    most_states : int
        Largest length of a list of states, which is what memory is needed for.

    Returns
    -------
    Packing
        With ``x`` None where not even the lightest packing fits.
    """
    progress = Progress() if progress is None else progress
    form = normal_form(given)
    if not form.is_feasible:
        return Packing(None, 0, 0, "no packing fits")
    small = form.knapsack
    items = by_efficiency(small)
    profit, flags = first_packing(items)
    bound, path, states = items.dantzig_bound, "bound of the relaxation", 0
    if profit < bound:
        search = CoreSearch(items, profit, most_states)
        found = search.run(lambda: progress.should_stop() is not None)
        profit, bound, states = found.profit, found.bound, found.states
        flags = flags if found.flags is None else found.flags
        path = "core"
    x = form.packing_back(flags_to_copies(items, np.asarray(flags), small.num_items))
    packed, weight = given.value_of(x)
    if weight > given.capacity or packed != form.profit_back(profit):
        raise EngineError(f"A packing of weight {weight} was said to be worth {profit}.")
    return Packing(x, packed, form.profit_back(bound), path, states)
