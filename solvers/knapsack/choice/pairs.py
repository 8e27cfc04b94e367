"""Selections of two halves: a list of states, and another of the classes that come next.

A list says what the classes in the core can do, and a second one, of some classes outside it, what
those can. For each state of the one the best partner in the other is found by walking through both
at once, so that as many selections are looked at as the product of their lengths, for the price of
the sum (Horowitz and Sahni, "Computing partitions with applications to the knapsack problem",
1974). Where profits follow weights, that finds at once what fills the capacity exactly.
"""

from __future__ import annotations

import numpy as np

from solvers.knapsack.choice.control import (
    CONTROLS,
    HISTORY_BITS,
    ITEMS,
    SHIFT,
    STAGE,
)
from solvers.knapsack.choice.core_order import Core
from solvers.knapsack.choice.past import chosen_at
from solvers.knapsack.choice.stages import (
    Stages,
    bits_for,
    empty_stages,
    expand,
    has_room,
    remaining_items,
)
from solvers.knapsack.choice.states import States, best_pair, empty_states
from solvers.knapsack.items import IntArray


def best_partner(
    core: Core, capacity: int, states: States, count: int, place: int, best: int, room: int
) -> tuple[int, int, list[int]]:
    """Return the best sum above ``best``, which state it is of, and the items that its partner has.

    Partners are made of the classes from ``place`` of the sequence on, as long as there is
    ``room`` for them. The state is -1 where no pair is better.
    """
    partners, others, stages, num_stages = _partners(core, capacity, place, best, room)
    profit, state, partner = best_pair(states, count, partners, others, capacity, best)
    if state < 0:
        return best, -1, []
    items = chosen_at(stages, num_stages, partners.history[partner], 0, None)
    return int(profit), int(state), items


def _partners(
    core: Core, capacity: int, place: int, best: int, room: int
) -> tuple[States, int, Stages, int]:
    """Return the list of what the next classes can add to a state, with its stages."""
    now, then = empty_states(room), empty_states(room)
    for values in now:
        values[0] = 0
    length = 1
    stages = empty_stages(core)
    control: IntArray = np.zeros(CONTROLS, dtype=np.int64)
    nothing = (0, 1)
    for group in core.sequence[place:]:
        if not has_room(core, group, stages, control):
            break
        begin = int(control[ITEMS])
        kept = remaining_items(core, group, capacity, best + 1, stages.item, begin)
        if kept < 2:  # none is no pair better, and one that is not the break item is rare
            continue
        if control[SHIFT] + bits_for(kept) > HISTORY_BITS or kept * length > room:
            break
        length, swaps = expand(
            core, now, length, then, stages, group, kept, False, 0, nothing, nothing, control
        )
        if swaps % 2:
            now, then = then, now
    return now, length, stages, int(control[STAGE])
