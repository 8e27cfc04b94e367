"""One knapsack problem, solved to proven optimality."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.errors import EngineError
from solvers.knapsack.core import CoreSearch, Watch, flags_to_copies
from solvers.knapsack.efficiency import Ordered, by_efficiency
from solvers.knapsack.exchanges import two_exchanges
from solvers.knapsack.fill import fill
from solvers.knapsack.greedy import first_packing
from solvers.knapsack.intercepts import find_lines
from solvers.knapsack.items import IntArray, Knapsack, Packing
from solvers.knapsack.lists.elsewhere import Elsewhere
from solvers.knapsack.normal_form import normal_form
from solvers.knapsack.surrogate import cases, surrogate
from solvers.progress import Progress

FIRST_WORK, FIRST_WORK_PER_ITEM = 200_000, 20
"""States of the search before anything else is tried, at least and for each item: that takes about
as long."""

SIDES = (48, 192, 768)
"""Items on each side of the break item whose exchanges are looked at, one size after the other."""

WORK_PER_SUM = 100
"""States of the search for each exchange that was listed before: as much time for one as the other,
as exchanges have to be sorted."""

MOST_STATES = 8_000_000
"""States that a list may have: two take half a gigabyte, and a stage takes a tenth of a second,
in which nobody looks at the clock."""


def solve_knapsack(
    given: Knapsack,
    progress: Progress | None = None,
    *,
    most_states: int = MOST_STATES,
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
        return Packing(None, 0, 0, "no packing fits")
    small = form.knapsack
    items = by_efficiency(small)
    found = _at_the_root(items)

    def watch(profit: int, bound: int) -> bool:
        if tell is not None:
            tell(form.profit_back(profit), form.profit_back(bound))
        return stopping.should_stop() is not None

    if found.profit < found.bound:
        elsewhere = Elsewhere(device, stopping.log)
        found = _search(items, found, most_states, watch, elsewhere=elsewhere)
        elsewhere.end()
    x = form.packing_back(flags_to_copies(items, found.flags, small.num_items))
    packed, weight = given.value_of(x)
    if weight > given.capacity or packed != form.profit_back(found.profit):
        raise EngineError(f"A packing of weight {weight} was said to be worth {packed}.")
    return Packing(x, packed, form.profit_back(found.bound), found.path, found.states)


@dataclass(frozen=True, eq=False)
class _Found:
    flags: npt.NDArray[np.bool_]
    profit: int
    bound: int
    path: str
    states: int = 0


def _at_the_root(items: Ordered) -> _Found:
    """Return a good packing and the bound of the relaxation."""
    profit, flags = first_packing(items)
    return _Found(flags, profit, items.dantzig_bound, "bound of the relaxation")


def _search(
    items: Ordered,
    found: _Found,
    most_states: int,
    watch: Watch,
    *,
    work: float = np.inf,
    nested: bool = False,
    elsewhere: Elsewhere | None = None,
) -> _Found:
    """Search, and between its first pieces look for bounds and packings in other ways.

    Most problems are solved by the first piece, and what the others cost grows with the search.
    ``work`` is a limit on states; ``nested`` says that the problem is a surrogate of another.
    """
    search = CoreSearch(items, found.profit, found.bound, most_states, elsewhere)
    path = "core"
    first = max(FIRST_WORK, FIRST_WORK_PER_ITEM * items.num_items)
    settled = search.run(watch, min(work, first))
    if not settled and not watch(search.profit, search.target):
        path += _by_lines_and_surrogates(items, search, most_states, watch, nested)
        search.run(watch, work)
    result = search.result()
    flags = found.flags if result.flags is None else result.flags
    return _Found(flags, result.profit, result.bound, path, result.states)


def _by_lines_and_surrogates(
    items: Ordered,
    search: CoreSearch,
    most_states: int,
    watch: Watch,
    nested: bool,
) -> str:
    """Improve a search's packing and bound; return what is to be said of how."""
    path = ""
    lines = find_lines(items)
    if lines is not None and lines.bound < search.target:
        search.lower(lines.bound)
        path = ", bound by counts"
    for side in SIDES:
        if search.is_settled or watch(search.profit, search.target):
            break
        search.improve(*two_exchanges(items, side))
        if lines is not None and not search.is_settled:
            filled = fill(items, lines, lines.least_weight(search.target), side)
            search.improve(int(items.profit[filled.flags].sum()), filled.flags)
        if not nested and not search.is_settled:
            bound = _surrogate_bound(items, search, most_states, watch, side)
            if bound < search.target:
                search.lower(bound)
                path = ", bound by a surrogate"
        search.run(watch, WORK_PER_SUM * side**2)
    return path


def _surrogate_bound(
    items: Ordered,
    search: CoreSearch,
    most_states: int,
    watch: Watch,
    side: int,
) -> int:
    """Solve the surrogate problems; improve the search by their packings, and return the bound."""

    def silent(profit: int, bound: int) -> bool:  # of another problem
        return watch(search.profit, search.target)

    bound = search.profit
    for case in cases(items, search.profit):
        problem = surrogate(items, case)
        if problem is None:
            return search.target
        form = normal_form(problem)
        small = by_efficiency(form.knapsack)
        # what is no better than the packing at hand need not be found
        floor = max((search.profit - form.base) // form.profit_unit, 0)
        start = _Found(np.zeros(small.num_items, dtype=np.bool_), floor, small.dantzig_bound, "")
        work = WORK_PER_SUM * side**2
        if floor < start.bound:
            start = _search(small, start, most_states, silent, work=work, nested=True)
        bound = max(bound, form.profit_back(max(start.bound, floor)))
        if start.profit > floor:
            x = form.packing_back(flags_to_copies(small, start.flags, form.knapsack.num_items))
            if problem_fits(items, x):
                search.improve(int((items.profit * x).sum()), x.astype(np.bool_))
    return bound


def problem_fits(items: Ordered, x: IntArray) -> bool:
    """Whether a packing of a surrogate problem keeps the capacity itself."""
    return int((items.weight * x).sum()) <= items.capacity
