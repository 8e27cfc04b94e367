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
from solvers.knapsack.intercepts import Lines, find_lines
from solvers.knapsack.items import Knapsack, Packing
from solvers.knapsack.lists.elsewhere import Elsewhere
from solvers.knapsack.normal_form import NormalForm, normal_form
from solvers.knapsack.relaxations import PIVOTS, CountBounds, Solve, Solved, surrogate_bound
from solvers.progress import Progress

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

RELAXATIONS = 4
"""Relaxations for numbers of items that one pivot's share of the time allows."""

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
    side: int | None = None,
    elsewhere: Elsewhere | None = None,
) -> _Found:
    """Search, and between its first pieces look for bounds and packings in other ways.

    Most problems are solved by the first piece, and what the others cost grows with the search.
    ``side`` says that the problem is a relaxation of another, and how much work it is worth.
    """
    work = np.inf if side is None else WORK_PER_SUM * side**2
    search = CoreSearch(items, found.profit, found.bound, most_states, elsewhere)
    path = "core"
    brief = FIRST_WORK + FIRST_WORK_PER_ITEM * items.num_items
    settled = search.run(watch, min(work, brief))
    if not settled and not watch(search.profit, search.target):
        lines = find_lines(items)
        if lines is not None:
            path += _by_lines(items, search, lines, SIDES[0])
        settled = search.run(watch, min(work, BRIEF_TO_LONG * brief))
        if not settled and not watch(search.profit, search.target):
            path += _by_other_ways(items, search, lines, most_states, watch, side)
            search.run(watch, work)
    result = search.result()
    flags = found.flags if result.flags is None else result.flags
    return _Found(flags, result.profit, result.bound, path, result.states)


def _by_lines(items: Ordered, search: CoreSearch, lines: Lines, side: int) -> str:
    """Lower the bound by numbers of items on lines, and look for a packing that reaches it."""
    path = ""
    if lines.bound < search.target:
        search.lower(lines.bound)
        path = ", bound by counts"
    if not search.is_settled:
        filled = fill(items, lines, lines.least_weight(search.target), side)
        search.improve(int(items.profit[filled.flags].sum()), filled.flags)
    return path


def _by_other_ways(
    items: Ordered,
    search: CoreSearch,
    lines: Lines | None,
    most_states: int,
    watch: Watch,
    nested_side: int | None,
) -> str:
    """Improve a search's packing and bound; return what is to be said of how."""
    path = ""

    def solve(form: NormalForm, floor: int) -> Solved:
        return _solve_relaxation(form, floor, search, most_states, watch, side)

    counts = CountBounds(items, solve)
    for side, pivots in zip(SIDES, PIVOTS, strict=True):
        if search.is_settled or watch(search.profit, search.target):
            break
        search.improve(*two_exchanges(items, side))
        if lines is not None and not search.is_settled and side > SIDES[0]:
            _by_lines(items, search, lines, side)
        gap = search.target - search.profit
        likely = gap * LIKELY_REACHED < items.profit[min(items.break_item, items.num_items - 1)]
        if nested_side is None and (side > SIDES[0] or not likely):
            work = RELAXATIONS * WORK_PER_SUM * side**2
            said = _by_relaxations(items, search, counts, pivots, work, solve)
            path += said if said not in path else ""
        search.run(watch, WORK_PER_SUM * side**2)
        if side == nested_side:
            break
    return path


def _by_relaxations(
    items: Ordered,
    search: CoreSearch,
    counts: CountBounds,
    pivots: tuple[int, ...],
    work: int,
    solve: Solve,
) -> str:
    """Lower the search's bound by numbers of items and by surrogates; return what did."""
    path = ""
    for pivot in pivots:
        if search.is_settled:
            break
        bound = counts.improve(search, pivot, work)
        if bound < search.target:
            search.lower(bound)
            path = ", bound by differences"
    if not search.is_settled:
        bound = surrogate_bound(items, search, solve)
        if bound < search.target:
            search.lower(bound)
            path = ", bound by a surrogate"
    return path


def _solve_relaxation(
    form: NormalForm, floor: int, search: CoreSearch, most_states: int, watch: Watch, side: int
) -> Solved:
    """Solve another problem as far as its packings may be worth more than ``floor``."""

    def silent(profit: int, bound: int) -> bool:  # of another problem
        return watch(search.profit, search.target)

    floor = max(floor, 0)
    if not form.is_feasible:
        return Solved(None, floor)
    small = by_efficiency(form.knapsack)
    start = _Found(np.zeros(small.num_items, dtype=np.bool_), floor, small.dantzig_bound, "")
    if floor >= start.bound:
        return Solved(None, floor)
    found = _search(small, start, most_states, silent, side=side)
    if found.profit <= floor:
        return Solved(None, found.bound, found.states)
    copies = flags_to_copies(small, found.flags, form.knapsack.num_items)
    return Solved(form.packing_back(copies), found.bound, found.states)
