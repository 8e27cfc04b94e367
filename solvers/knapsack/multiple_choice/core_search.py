"""Dynamic programming over classes from the break class outwards, with memory that is a setting.

Bounds prune every list, and most problems end after few classes: the core. Where a list outgrows
its room it is cut in two by the states' bounds. The better part goes on at once, the other waits,
and shrinks or goes when its turn comes, because the best profit has risen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from solvers.knapsack.dp.states import copy_states, empty_states
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.congruence import Congruence
from solvers.knapsack.multiple_choice.control import (
    ANCESTOR,
    BEST_ITEM,
    BEST_STAGE,
    CHECKPOINT,
    CONTROLS,
    COUNT,
    EMPTY,
    FULL,
    HISTORY,
    ITEMS,
    KEPT,
    MODULUS,
    PAUSE,
    PLACE,
    PROFIT,
    RESIDUE,
    SHIFT,
    STAGE,
    STOP,
    SWAPPED,
    TARGET,
    VISITED,
)
from solvers.knapsack.multiple_choice.core_order import Core
from solvers.knapsack.multiple_choice.history import Past, chosen_at, remembered
from solvers.knapsack.multiple_choice.pairs import find_pair
from solvers.knapsack.multiple_choice.parts import (
    BROAD,
    Waiting,
    less_promising,
    outside_steps,
    state_bounds,
)
from solvers.knapsack.multiple_choice.stages import Stages, empty_stages
from solvers.knapsack.multiple_choice.states import chosen_states
from solvers.native.knapsack_multiple_choice_stages import advance
from solvers.native.knapsack_multiple_choice_states import copy_promising

FIRST_ROOM = 4096
"""States for which there is room at the beginning; most problems need no more."""

FIRST_WORK, MORE_WORK = 20_000, 4
"""States until a list is paired for the first time, which most searches do not live to see, and by
how much more each time after; it is paired as well before it takes more room or is cut, if as many
states were visited since the last time as it has, so that pairing takes no more than a share."""

WORK = 4_000_000
"""States between two looks at the clock: some hundredths of a second."""

MOST_PARTNERS = 1_000_000
"""States that a second list has at most: it is made in some tenths of a second."""

Watch: TypeAlias = Callable[[int, int], bool]
"""Told the best profit and the bound now and then; returns whether to stop."""

PART = [PLACE, STAGE, SHIFT, ITEMS]
"""What a part of a list that waits has of its own in the array that controls the search."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best selection found (None if the one to beat is best), and the bound."""

    chosen: IntArray | None
    profit: int
    bound: int
    states: int


class ChoiceSearch:
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
        self._one, self._other = empty_states(first_room), empty_states(first_room)
        self._stages = empty_stages(core)
        self._past: Past | None = None
        self._waiting: list[Waiting] = []
        self._chosen: IntArray | None = None
        self._settled = False
        self._portion, self._paired = FIRST_WORK, 0
        self._control = np.zeros(CONTROLS, dtype=np.int64)
        self._control[[COUNT, PROFIT, TARGET]] = 1, profit, bound
        self._control[[RESIDUE, MODULUS]] = rule.residue, rule.modulus
        self._one.profit[0] = core.profit[core.break_item].sum()
        self._one.weight[0] = core.weight[core.break_item].sum()
        self._one.history[0], self._one.ancestor[0] = 0, 0

    @property
    def is_settled(self) -> bool:
        """Whether the best selection is proven to be one."""
        return self._settled or bool(self._control[PROFIT] >= self._control[TARGET])

    def run(self, watch: Watch, work: float = np.inf) -> bool:
        """Search until the best selection is proven, and return True, or for so many states.

        The search ends soon after :meth:`stop` was called, too.
        """
        control = self._control
        until = control[VISITED] + work
        while control[VISITED] < until:
            best = int(control[PROFIT])
            reason = self._advance(int(min(self._portion, until - control[VISITED])))
            if control[PROFIT] > best:
                self._chosen = self._selection()
            if control[PROFIT] >= control[TARGET] or (reason == EMPTY and not self._next()):
                self._settled = True
                return True
            if control[STOP]:
                break
            if reason in (PAUSE, FULL) and control[VISITED] - self._paired >= control[COUNT]:
                self._pair()
            if control[COUNT] == 0:
                continue
            if reason == CHECKPOINT:
                self._remember()
            elif reason == FULL:
                self._make_room()
            if watch(int(control[PROFIT]), int(control[TARGET])):
                break
        return False

    def stop(self) -> None:
        """End the search soon, from another thread; it cannot go on after that."""
        self._control[STOP] = 1

    def result(self) -> Found:
        """Return the best selection so far and what is proven of it."""
        profit = int(self._control[PROFIT])
        bound = profit if self.is_settled else max(profit, self._bound())
        return Found(self._chosen, profit, bound, int(self._control[VISITED]))

    def _advance(self, work: int) -> int:
        reason = advance(
            self._core,
            self._capacity,
            self._one,
            self._other,
            self._stages,
            self._control,
            work,
        )
        if self._control[SWAPPED]:
            self._one, self._other = self._other, self._one
        return reason

    def _selection(self) -> IntArray:
        """Return the items of the best state, from its history and its ancestors'."""
        control = self._control
        items = chosen_at(
            self._stages,
            int(control[BEST_STAGE]),
            np.int64(control[HISTORY]).view(np.uint64),
            int(control[ANCESTOR]),
            self._past,
        )
        return self._with_items([*items, int(control[BEST_ITEM])])

    def _with_items(self, items: list[int]) -> IntArray:
        """Return the break solution with items that were chosen instead of its own."""
        chosen = self._core.break_item.copy()
        groups = np.searchsorted(self._core.first, items, side="right") - 1
        chosen[groups] = items
        return chosen

    def _pair(self) -> None:
        """Look for a better selection among pairs of a state and what the next classes can do."""
        control, one = self._control, self._one
        count = int(control[COUNT])
        self._portion = min(MORE_WORK * self._portion, WORK)
        self._paired = int(control[VISITED])
        pair = find_pair(
            self._core,
            self._capacity,
            one,
            count,
            int(control[PLACE]),
            int(control[PROFIT]),
            min(max(2 * count, FIRST_ROOM), MOST_PARTNERS),
        )
        if pair.is_last:
            control[COUNT] = 0
        if pair.state < 0:
            return
        control[PROFIT] = pair.profit
        stage = int(control[STAGE])
        history, ancestor = one.history[pair.state], int(one.ancestor[pair.state])
        past = chosen_at(self._stages, stage, history, ancestor, self._past)
        self._chosen = self._with_items([*past, *pair.items])

    def _remember(self) -> None:
        """Begin a new history: today's states are the ancestors of those to come."""
        count = int(self._control[COUNT])
        one = self._one
        self._past = remembered(
            one.history[:count],
            one.ancestor[:count],
            self._stages,
            int(self._control[STAGE]),
            self._past,
        )
        self._stages = empty_stages(self._core)
        one.history[:count] = 0
        one.ancestor[:count] = np.arange(count, dtype=np.int32)
        self._control[[STAGE, SHIFT, ITEMS]] = 0

    def _make_room(self) -> None:
        """Take more memory for the list, or put the less promising part of it aside.

        What stays is half of the list at most, and as much as the next class makes a full list of.
        """
        count, room = int(self._control[COUNT]), self._one.profit.size
        if room < self._most:
            larger = empty_states(min(2 * room, self._most))
            copy_states(self._one, count, larger)
            self._one, self._other = larger, empty_states(larger.profit.size)
            return
        bound = self._bounds()
        staying = min(count // 2, room // max(int(self._control[KEPT]), 1))
        later = less_promising(bound, max(staying, 1))
        self._waiting.append(
            Waiting(
                chosen_states(self._one, count, later),
                float(bound[later].max()),
                self._control[PART],
                Stages(*(values.copy() for values in self._stages)),
                self._past,
            )
        )
        kept = chosen_states(self._one, count, ~later)
        copy_states(kept, kept.profit.size, self._one)
        self._control[COUNT] = kept.profit.size

    def _next(self) -> bool:
        """Go on with a part that waits; False when there is none left."""
        control = self._control
        while self._waiting:
            part = self._waiting.pop()
            control[PART] = part.control
            self._stages, self._past = part.stages, part.past
            up, down = outside_steps(self._core, int(control[PLACE]))
            count = part.states.profit.size
            control[COUNT] = copy_promising(
                part.states, count, self._one, self._capacity, up, down, control
            )
            if control[COUNT]:
                return True
        return False

    def _bounds(self) -> npt.NDArray[np.float64]:
        """Return the bounds of the states of the list."""
        count, place = int(self._control[COUNT]), int(self._control[PLACE])
        return state_bounds(self._core, place, self._capacity, self._one, count)

    def _bound(self) -> int:
        """Return a bound on what the states left can become."""
        now = self._bounds().max(initial=-np.inf)
        largest = max([float(now), *(part.bound for part in self._waiting)])
        if not np.isfinite(largest):
            return int(self._control[PROFIT])
        return min(int(largest * BROAD) + 1, int(self._control[TARGET]))
