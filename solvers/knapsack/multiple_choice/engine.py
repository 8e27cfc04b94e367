"""Dynamic programming over classes from the break class outwards, with memory that is a setting.

Bounds prune every list, and most problems end after few classes: the core. Where a list outgrows
its room it is cut in two by the states' bounds. The better part goes on at once, the other waits,
and shrinks or goes when its turn comes, because the best profit has risen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.core.errors import EngineError
from solvers.core.progress import Progress
from solvers.knapsack.dp.states import (
    FIRST_ROOM,
    MOST_STATES,
    WORK,
    Found,
    History,
    Part,
    WaitingList,
    cut,
    empty_lists,
    first_states,
    larger_lists,
    spare_lists,
    state_bounds,
)
from solvers.knapsack.engine import alarm
from solvers.knapsack.items import IntArray, Packing
from solvers.knapsack.multiple_choice import stages as at
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.multiple_choice.relaxation import (
    Congruence,
    congruence,
    first_selection,
    multiple_choice_form,
    relax,
)
from solvers.knapsack.multiple_choice.stages import (
    Core,
    Stages,
    core_of,
    empty_stages,
    find_pair,
    outside_steps,
)
from solvers.native.knapsack_multiple_choice_relaxation import copy_promising
from solvers.native.knapsack_multiple_choice_stages import advance

FIRST_WORK, MORE_WORK = 20_000, 4
"""States until a list is paired for the first time, which most searches do not live to see, and by
how much more each time after; it is paired as well before it takes more room or is cut, if as many
states were visited since the last time as it has, so that pairing takes no more than a share."""

MOST_PARTNERS = 1_000_000
"""States that a second list has at most: it is made in some tenths of a second."""

Watch: TypeAlias = Callable[[int, int], bool]
"""Told the best profit and the bound now and then; returns whether to stop."""

ITS_PLACE = [at.PLACE, at.STAGE, at.SHIFT, at.ITEMS]
"""What a part of a list that waits has of its own in the array that controls the search."""


class MultipleChoiceSearch:
    """One search for a selection better than ``profit``, which ends where one is worth ``bound``.

    ``room`` is the number of states that a list may have.
    """

    def __init__(
        self, core: Core, capacity: int, profit: int, bound: int, rule: Congruence, room: int
    ) -> None:
        self._core, self._capacity = core, capacity
        largest = int(np.diff(core.first).max(initial=1))
        self._most = max(room, FIRST_ROOM, largest)
        first_room = max(FIRST_ROOM, largest)
        self._one, self._other = empty_lists(first_room)
        self._history = History(empty_stages(core))
        self._waiting: WaitingList[Stages] = WaitingList()
        self._chosen: IntArray | None = None
        self._settled = False
        self._portion, self._paired = FIRST_WORK, 0
        self._control = np.zeros(at.CONTROLS, dtype=np.int64)
        self._control[[at.COUNT, at.PROFIT, at.TARGET]] = 1, profit, bound
        self._control[[at.RESIDUE, at.MODULUS]] = rule.residue, rule.modulus
        self._one.profit[0] = core.profit[core.break_item].sum()
        self._one.weight[0] = core.weight[core.break_item].sum()
        self._one.history[0], self._one.ancestor[0] = 0, 0

    @property
    def is_settled(self) -> bool:
        """Whether the best selection is proven to be one."""
        return self._settled or bool(self._control[at.PROFIT] >= self._control[at.TARGET])

    def run(self, watch: Watch, work: float = np.inf) -> bool:
        """Search until the best selection is proven, and return True, or for so many states.

        The search ends soon after :meth:`stop` was called, too.
        """
        control = self._control
        until = control[at.VISITED] + work
        while control[at.VISITED] < until:
            best = int(control[at.PROFIT])
            reason = self._advance(int(min(self._portion, until - control[at.VISITED])))
            if control[at.PROFIT] > best:
                self._chosen = self._selection()
            if control[at.PROFIT] >= control[at.TARGET] or (
                reason == at.EMPTY and not self._waiting.resume(self._restore)
            ):
                self._settled = True
                return True
            if control[at.STOP]:
                break
            if (
                reason in (at.PAUSE, at.FULL)
                and control[at.VISITED] - self._paired >= control[at.COUNT]
            ):
                self._pair()
            if control[at.COUNT] == 0:
                continue
            if reason == at.CHECKPOINT:
                self._checkpoint()
            elif reason == at.FULL:
                self._make_room()
            if watch(int(control[at.PROFIT]), int(control[at.TARGET])):
                break
        return False

    def stop(self) -> None:
        """End the search soon, from another thread; it cannot go on after that."""
        self._control[at.STOP] = 1

    def result(self) -> Found:
        """Return the best selection so far and what is proven of it."""
        profit = int(self._control[at.PROFIT])
        bound = profit if self.is_settled else max(profit, self._bound())
        return Found(self._chosen, profit, bound, int(self._control[at.VISITED]))

    def end(self) -> None:
        """Leave the arrays to the next search; this one cannot go on."""
        spare_lists(self._one, self._other)

    def _advance(self, work: int) -> int:
        reason = advance(
            self._core,
            self._capacity,
            self._one,
            self._other,
            self._history.stages,
            self._control,
            work,
        )
        if self._control[at.SWAPPED]:
            self._one, self._other = self._other, self._one
        return reason

    def _selection(self) -> IntArray:
        """Return the items of the best state, from its history and its ancestors'."""
        control = self._control
        items = self._history.chosen(
            int(control[at.HISTORY]), int(control[at.ANCESTOR]), int(control[at.BEST_STAGE])
        )
        return self._with_items(items, control[[at.BEST_ITEM]])

    def _with_items(self, *chosen_items: IntArray) -> IntArray:
        """Return the break solution with items that were chosen instead of its own."""
        chosen, items = self._core.break_item.copy(), np.concatenate(chosen_items)
        groups = np.searchsorted(self._core.first, items, side="right") - 1
        chosen[groups] = items
        return chosen

    def _pair(self) -> None:
        """Look for a better selection among pairs of a state and what the next classes can do."""
        control, one = self._control, self._one
        count = int(control[at.COUNT])
        self._portion = min(MORE_WORK * self._portion, WORK)
        self._paired = int(control[at.VISITED])
        pair = find_pair(
            self._core,
            self._capacity,
            one,
            count,
            int(control[at.PLACE]),
            int(control[at.PROFIT]),
            min(max(2 * count, FIRST_ROOM), MOST_PARTNERS),
        )
        if pair.is_last:
            control[at.COUNT] = 0
        if pair.state < 0:
            return
        control[at.PROFIT] = pair.profit
        stage = int(control[at.STAGE])
        word, ancestor = int(one.history[pair.state]), int(one.ancestor[pair.state])
        self._chosen = self._with_items(self._history.chosen(word, ancestor, stage), pair.items)

    def _checkpoint(self) -> None:
        """Begin new words for the list."""
        control = self._control
        self._history.close(self._one, int(control[at.COUNT]), int(control[at.STAGE]))
        control[[at.STAGE, at.SHIFT, at.ITEMS]] = 0

    def _make_room(self) -> None:
        """Take more memory for the list, or put the less promising part of it aside.

        What stays is half of the list at most, and as much as the next class makes a full list of.
        """
        count, room = int(self._control[at.COUNT]), self._one.profit.size
        if room < self._most:
            lists, larger = (self._one, self._other), min(2 * room, self._most)
            self._one, self._other = larger_lists(lists, count, larger)
            return
        staying = min(count // 2, room // max(int(self._control[at.KEPT]), 1))
        states, bound, self._control[at.COUNT] = cut(self._one, self._bounds(), staying)
        self._waiting.add(Part(states, self._control[ITS_PLACE], self._history.copy(), bound))

    def _restore(self, part: Part[Stages]) -> int:
        """Make a part that waited the list; return how many of its states may still be of use."""
        control, states = self._control, part.states
        control[ITS_PLACE], self._history = part.place, part.history
        steps = outside_steps(self._core, int(control[at.PLACE]))
        control[at.COUNT] = copy_promising(
            states, states.profit.size, self._one, self._capacity, *steps, control
        )
        return int(control[at.COUNT])

    def _bounds(self) -> npt.NDArray[np.float64]:
        """Return the bounds of the states of the list."""
        one = first_states(self._one, int(self._control[at.COUNT]))
        steps = outside_steps(self._core, int(self._control[at.PLACE]))
        return state_bounds(one.profit, one.weight, self._capacity, *steps)

    def _bound(self) -> int:
        """Return a bound on what the states left can become."""
        now = self._bounds().max(initial=-np.inf)
        largest = self._waiting.bound(float(now))
        if not np.isfinite(largest):
            return int(self._control[at.PROFIT])
        return min(int(largest * at.BROAD) + 1, int(self._control[at.TARGET]))


def solve_multiple_choice(
    given: MultipleChoice,
    progress: Progress | None = None,
    *,
    most_states: int = MOST_STATES,
    tell: Callable[[int, int], None] | None = None,
) -> Packing:
    """Find a selection of largest profit and prove that it is one.

    Parameters
    ----------
    given : MultipleChoice
    progress : Progress, optional
        Keeps the time limit; when it is up, the best selection so far comes with a valid bound.
    most_states : int
        Largest length of a list of states, which is what memory is needed for.
    tell : callable, optional
        Told the best profit and the bound now and then.

    Returns
    -------
    Packing
        ``x`` (m,) has the item chosen of each class; None where not even the lightest fit.
    """
    stopping = Progress() if progress is None else progress
    form = multiple_choice_form(given)
    if form is None:
        return Packing(None, 0, 0, "The lightest items of all classes exceed the capacity.")
    small = form.choice
    relaxation = relax(small)
    profit, chosen = first_selection(small, relaxation)
    bound, path, states = relaxation.bound, "bound of the relaxation", 0
    if profit < bound:
        rule = congruence(small, relaxation)
        if rule.rounded_down(bound) < bound:
            bound, path = rule.rounded_down(bound), "bound of the relaxation and a congruence"
    if profit < bound:

        def watch(best: int, at_most: int) -> bool:
            if tell is not None:
                tell(form.profit_back(best), form.profit_back(at_most))
            return stopping.should_stop() is not None

        core = core_of(small, relaxation, rule.factor)
        search = MultipleChoiceSearch(core, small.capacity, profit, bound, rule, most_states)
        with alarm(stopping, search.stop):
            search.run(watch)
        found = search.result()
        search.end()
        chosen = chosen if found.packed is None else found.packed
        profit, bound, states, path = found.profit, found.bound, found.states, "DP core"
    items = form.selection_back(chosen)
    packed, weight = given.value_of(items)
    if weight > given.capacity or packed != form.profit_back(profit):
        raise EngineError(f"A selection of weight {weight} was said to be worth {packed}.")
    return Packing(items, packed, form.profit_back(bound), path, states)
