"""Lists of undominated states, and what one more item does to them.

A state is a packing of the items treated so far: its weight, its profit, and how it came about. A
list is sorted by weight, and profits rise with it, because a state that weighs no less than another
and brings no more is dominated. Treating an item merges the list with a shifted copy of itself.

Each state remembers the last 64 stages as bits and its ancestor before those by number, so that a
packing can be read back at the end (``history`` keeps the ancestors).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.knapsack.items import IntArray
from solvers.native import knapsack_dp_states as native

STAGES = 64
"""Stages that a state's history holds."""

COUNT, LEFT, RIGHT, STAGE, PROFIT, HISTORY, ANCESTOR, VISITED, TARGET = range(9)
"""Places in the array that controls a search: states in the list; the next item to the left and to
the right of those treated; stages in this history; the best profit, and the history and ancestor of
the state that has it; states visited so far; the profit that no packing exceeds."""

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why ``advance`` returns: the list is empty, there is no room for the next stage, the history
is full, or the work it was given is done."""

UintArray = npt.NDArray[np.uint64]


class States(NamedTuple):
    """Arrays of a list, on the host or on a device; only the first entries are in use."""

    profit: IntArray
    weight: IntArray
    history: UintArray
    ancestor: npt.NDArray[np.int32]


def empty_states(room: int) -> States:
    """Return arrays for ``room`` states."""
    return States(
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.uint64),
        np.empty(room, dtype=np.int32),
    )


def map_states(change: Callable[[Any], Any], states: States) -> States:
    """Return a list with every array changed."""
    profit, weight, history, ancestor = map(change, states)
    return States(profit, weight, history, ancestor)


def copy_states(source: States, count: int, target: States) -> None:
    """Copy the first ``count`` states into the arrays of another list."""
    target.profit[:count] = source.profit[:count]
    target.weight[:count] = source.weight[:count]
    target.history[:count] = source.history[:count]
    target.ancestor[:count] = source.ancestor[:count]


def first_states(states: States, count: int) -> States:
    """Return the first ``count`` states, without a copy."""
    return map_states(lambda values: values[:count], states)


def chosen_states(states: States, count: int, flags: npt.NDArray[np.bool_]) -> States:
    """Return copies of those of the first ``count`` states whose flag is set."""
    return map_states(lambda values: values[:count][flags], states)


def larger_lists(states: States, count: int, room: int) -> tuple[States, States]:
    """Return a list with the first ``count`` states and more room, and one for its other side."""
    larger = empty_states(room)
    copy_states(states, count, larger)
    return larger, empty_states(room)


def relaxed_bounds(
    states: States, count: int, step: int, capacity: int, gain: float, loss: float
) -> npt.NDArray[np.float64]:
    """Return the bounds of every ``step``-th of the first ``count`` states.

    They are in double precision, from prices of a unit of capacity: ``gain`` for what is left, and
    ``loss`` for what a state is too heavy by.
    """
    found = np.empty(-(-count // step))
    native.relaxed_bounds(states, count, step, capacity, gain, loss, found)
    return found
