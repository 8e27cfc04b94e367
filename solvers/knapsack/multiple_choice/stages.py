"""Classes that enter the core one by one, and the array that controls the search.

A class enters by shifting the list to each of its items, dropping what cannot beat the best profit
any more, and merging the shifted lists in pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from solvers.knapsack.dp.states import States, empty_states
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.multiple_choice.relaxation import Relaxation
from solvers.native.knapsack_multiple_choice_relaxation import alternate, best_pair
from solvers.native.knapsack_multiple_choice_stages import (
    bits_for,
    expand,
    has_room,
    remaining_items,
)

# In what order classes enter the core, and what those outside it can still do.
#
# From the break solution on, a class can add profit at most as steeply as its next step goes, and
# save weight at the cost of at least its last step's steepness. Classes whose next steps are
# steepest and classes whose last steps are least steep enter the core alternately, behind the
# class of the break step: they are where the optimum is most likely to differ from the break
# solution (Pisinger, "A minimal algorithm for the multiple-choice knapsack problem", 1995).


NONE = -1
"""Where a class has no next step, or no last one."""

BROAD = 1.0 + 1e-14
"""Factor that makes a bound computed in double precision too large rather than too small."""


class Core(NamedTuple):
    """What the search reads.

    ``sequence`` (m,) are the classes in the order in which they enter the core. The steepest step
    that may come in and the least steep that may go out, of classes from place t of it on, are
    ``up_profit[t]`` and so on, (m + 1,): (spare_gain, 1) and (1, 0) where there is none.
    ``spare_gain`` is what weight left over counts in bounds (see ``relaxation``).
    """

    profit: IntArray
    weight: IntArray
    first: IntArray
    break_item: IntArray
    sequence: IntArray
    up_profit: IntArray
    up_weight: IntArray
    down_profit: IntArray
    down_weight: IntArray
    step_profit: IntArray
    step_weight: IntArray
    profit_before: IntArray
    weight_before: IntArray
    spare_gain: int


def core_of(choice: MultipleChoice, relaxation: Relaxation, spare_gain: int = 0) -> Core:
    """Return the order of classes around the break step."""
    b, num_classes = relaxation.break_step, choice.num_classes
    num_steps = relaxation.profit.size
    up = np.full(num_classes, num_steps, dtype=np.int64)
    down = np.full(num_classes, NONE, dtype=np.int64)
    up[relaxation.group[b:][::-1]] = np.arange(b, num_steps)[::-1]  # the first of a class stays
    down[relaxation.group[:b]] = np.arange(b)  # and here the last
    sequence = np.empty(num_classes, dtype=np.int64)
    next_up = np.full(num_classes + 1, num_steps, dtype=np.int64)
    next_down = np.full(num_classes + 1, NONE, dtype=np.int64)
    alternate(np.argsort(up), np.argsort(-down), up, down, sequence, next_up, next_down)
    # two more steps at the end stand for none: one that adds nothing but that, one that saves none
    gain = np.append(relaxation.profit, [spare_gain, 1]).astype(np.int64)
    extent = np.append(relaxation.weight, [1, 0]).astype(np.int64)
    next_down[next_down == NONE] = num_steps + 1
    return Core(
        profit=choice.profit,
        weight=choice.weight,
        first=choice.first,
        break_item=relaxation.break_item,
        sequence=sequence,
        up_profit=gain[next_up],
        up_weight=extent[next_up],
        down_profit=gain[next_down],
        down_weight=extent[next_down],
        step_profit=relaxation.profit,
        step_weight=relaxation.weight,
        profit_before=relaxation.profit_before,
        weight_before=relaxation.weight_before,
        spare_gain=spare_gain,
    )


def outside_steps(core: Core, place: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the steps that bound what classes from a place of the sequence on can do."""
    return (
        (int(core.up_profit[place]), int(core.up_weight[place])),
        (int(core.down_profit[place]), int(core.down_weight[place])),
    )


HISTORY_BITS = 64
"""Bits of a state's history, which is also the number of stages it holds at most."""

COUNT, PLACE, STAGE, SHIFT, ITEMS = range(5)
"""Places in the array that controls a search: states in the list; classes in the core; stages in
this history, the bits they take and the items they chose from."""

PROFIT, HISTORY, ANCESTOR, BEST_STAGE, BEST_ITEM = range(5, 10)
"""The best profit; history and ancestor of the state that has it, with how many stages were over
then, and the item of the stage after them."""

VISITED, TARGET, RESIDUE, MODULUS, SWAPPED, KEPT = range(10, 16)
"""States visited so far; the profit that no selection exceeds; the numbers that bound a profit;
whether the list is in the second pair of arrays; and the items that the last class had left."""

STOP = 16
"""Place of what another thread sets to end ``advance`` before a class is in."""

CONTROLS = 17
"""Numbers that steer ``advance``, by their places above."""

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why ``advance`` returns: the list is empty, there is no room for the next class, the history
is full, or the work it was given is done or to stop."""

NO_ROOM, STOPPED = -1, -2
"""What ``expand`` returns for a length where the list has not changed, and why."""


class Stages(NamedTuple):
    """The stages of this history: stage s chose among ``item[begin[s]:begin[s + 1]]``.

    The number of the one chosen is in the history from bit ``shift[s]`` to ``shift[s + 1]``.
    ``run`` is where the shifted lists of a class begin.
    """

    begin: IntArray
    shift: IntArray
    item: IntArray
    run: IntArray

    def chosen(self, word: int, num_stages: int) -> IntArray:
        """Return the items that a word stands for."""
        numbers = [
            (word >> low) & ((1 << (high - low)) - 1)
            for low, high in pairwise(self.shift[: num_stages + 1].tolist())
        ]
        items: IntArray = self.item[self.begin[:num_stages] + np.array(numbers, dtype=np.int64)]
        return items

    def copy(self) -> Stages:
        """Return the same stages in arrays of their own."""
        return Stages(*(values.copy() for values in self))

    def fresh(self) -> Stages:
        """Return arrays for the stages of the next words."""
        return Stages(*(np.zeros_like(values) for values in self))


def empty_stages(core: Core) -> Stages:
    """Return arrays for the stages of one history."""
    largest = int(np.diff(core.first).max(initial=1))
    return Stages(
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(HISTORY_BITS + 1, dtype=np.int64),
        np.zeros(max(min(HISTORY_BITS * largest, core.profit.size), 1), dtype=np.int64),
        np.zeros(largest + 1, dtype=np.int64),
    )


# Selections of two halves: a list of states, and another of the classes that come next.
#
# A list says what the classes in the core can do, and a second one, of some classes outside it,
# what those can. For each state of the one the best partner in the other is found by walking
# through both at once, so that as many selections are looked at as the product of their lengths,
# for the price of the sum (Horowitz and Sahni, "Computing partitions with applications to the
# knapsack problem", 1974). Where profits follow weights, that finds at once what fills the
# capacity exactly; and where the second list has all classes outside the core, nothing better is
# left.


@dataclass(frozen=True, eq=False)
class Pair:
    """The best pair of a state and a partner, if one is better than what was known."""

    profit: int
    """Of the pair, or what was to be beaten."""
    state: int
    """Its number in the list; -1 where no pair is better."""
    items: IntArray
    """What the partner has of the classes outside the core."""
    is_last: bool
    """Whether partners had all classes outside the core, so that nothing better is left."""


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
