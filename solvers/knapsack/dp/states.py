"""Lists of undominated states, and what one more item does to them.

A state is a packing of the items treated so far: its weight, its profit, and how it came about. A
list is sorted by weight, and profits rise with it, because a state that weighs no less than another
and brings no more is dominated. Treating an item merges the list with a shifted copy of itself.

Each state remembers the last 64 stages as bits and its ancestor before those by number, so that a
packing can be read off at the end without solving anything again (``core`` keeps the ancestors).
"""

from __future__ import annotations

from typing import NamedTuple

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
    """Arrays of a list; only the first entries are in use."""

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


def copy_states(source: States, count: int, target: States) -> None:
    """Copy the first ``count`` states into the arrays of another list."""
    target.profit[:count] = source.profit[:count]
    target.weight[:count] = source.weight[:count]
    target.history[:count] = source.history[:count]
    target.ancestor[:count] = source.ancestor[:count]


def first_states(states: States, count: int) -> States:
    """Return the first ``count`` states, without a copy."""
    return States(
        states.profit[:count],
        states.weight[:count],
        states.history[:count],
        states.ancestor[:count],
    )


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
