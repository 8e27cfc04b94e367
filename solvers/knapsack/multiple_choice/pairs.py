"""Selections of two halves: a list of states, and another of the classes that come next.

A list says what the classes in the core can do, and a second one, of some classes outside it, what
those can. For each state of the one the best partner in the other is found by walking through both
at once, so that as many selections are looked at as the product of their lengths, for the price of
the sum (Horowitz and Sahni, "Computing partitions with applications to the knapsack problem",
1974). Where profits follow weights, that finds at once what fills the capacity exactly; and where
the second list has all classes outside the core, nothing better is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.knapsack.dp.states import States, empty_states
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.core_order import Core
from solvers.knapsack.multiple_choice.stages import (
    CONTROLS,
    HISTORY_BITS,
    ITEMS,
    SHIFT,
    STAGE,
    Stages,
    empty_stages,
)
from solvers.native.knapsack_multiple_choice_pairs import best_pair
from solvers.native.knapsack_multiple_choice_stages import (
    bits_for,
    expand,
    has_room,
    remaining_items,
)


@dataclass(frozen=True, eq=False)
class Pair:
    """The best pair of a state and a partner, if one is better than what was known.

    Parameters
    ----------
    profit : int
        Of the pair, or what was to be beaten.
    state : int
        Its number in the list; -1 where no pair is better.
    items : int64 array
        What the partner has of the classes outside the core.
    is_last : bool
        Whether partners had all classes outside the core, so that nothing better is left.
    """

    profit: int
    state: int
    items: IntArray
    is_last: bool


@dataclass(frozen=True, eq=False)
class _Partners:
    states: States
    count: int
    stages: Stages
    num_stages: int
    are_all: bool


def find_pair(
    core: Core, capacity: int, states: States, count: int, place: int, best: int, room: int
) -> Pair:
    """Pair a list with one of the next classes, as many as make at most ``room`` states.

    ``place`` is that of the first of them in the sequence.
    """
    others = _partners(core, capacity, place, best, room)
    arguments = states, count, others.states, others.count, capacity, best
    profit, state, partner = best_pair(*arguments)
    items = np.empty(0, dtype=np.int64)
    if state >= 0:
        items = others.stages.chosen(int(others.states.history[partner]), others.num_stages)
    return Pair(profit, state, items, others.are_all)


def _partners(core: Core, capacity: int, place: int, best: int, room: int) -> _Partners:
    """Return the list of what the next classes can add to a state."""
    now, then = empty_states(room), empty_states(room)
    for values in now:
        values[0] = 0
    length, are_all = 1, True
    stages = empty_stages(core)
    control: IntArray = np.zeros(CONTROLS, dtype=np.int64)
    nothing = (0, 1)
    for group in core.sequence[place:].tolist():
        if not has_room(core, group, stages, control):
            are_all = False
            break
        begin = int(control[ITEMS])
        kept = remaining_items(core, group, capacity, best + 1, stages.item, begin)
        if kept == 1 and stages.item[begin] == core.break_item[group]:
            continue
        if control[SHIFT] + bits_for(kept) > HISTORY_BITS or kept * length > room:
            are_all = False
            break
        length, swaps = expand(
            core, now, length, then, stages, group, kept, False, 0, nothing, nothing, control
        )
        if swaps % 2:
            now, then = then, now
        if not length:
            break  # a class without items that can be part of anything better
    return _Partners(now, length, stages, int(control[STAGE]), are_all)
