"""What Python may call of the compiled search.

Numba makes a wrapper for Python around each compiled function, which takes a second where arguments
are tuples of dozens of arrays; so there is a single one, with a door for each purpose.
"""

from __future__ import annotations

import numpy as np

from solvers.mip.learning import loop
from solvers.mip.learning.back import go_back
from solvers.mip.learning.bounds import raise_bound
from solvers.mip.learning.order import fill_heap
from solvers.mip.learning.propagate import propagate, sum_all
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import DECISION, HEAD, ROOT, TRAIL, State
from solvers.mip.learning.watches import watch_all
from solvers.mip.model import IndexArray
from solvers.mip.search.loops import compiled
from solvers.problem import FloatArray

SEARCH, LEARN_ROW, LEARN_DECISIONS, TO_ROOT, SETTLE_ROOT, BEGIN, WATCH, LIMIT = range(8)
"""What to do; see the functions below."""

NO_CODES, NO_NUMBERS = np.empty(0, dtype=np.int32), np.empty(0)


@compiled
def act(
    sides: Sides,
    state: State,
    door: int,
    end: int,
    codes: IndexArray,
    coefficients: FloatArray,
    right: float,
) -> int:
    """Go through one of the doors; returns a status of ``loop``."""
    if door == SEARCH:
        return int(loop.search(sides, state, end))
    if door == LEARN_ROW:
        return int(loop.learn_row(sides, state, codes, coefficients, right))
    if door == LEARN_DECISIONS:
        return int(loop.learn_decisions(sides, state))
    if door in (TO_ROOT, SETTLE_ROOT, LIMIT):
        go_back(sides, state, ROOT)
    if door == SETTLE_ROOT and state.counts[HEAD] == state.counts[TRAIL]:
        if not propagate(sides, state):
            return loop.EXHAUSTED
        loop.forget(state)
    if door == BEGIN:
        sum_all(sides, state)
        fill_heap(sides, state)
    if door == WATCH:
        watch_all(state)
    if door == LIMIT:
        last = state.bound.size - 1
        if -right < state.bound[last - 1]:
            return loop.EXHAUSTED
        if state.bound[last] < right:
            raise_bound(sides, state, last, right, DECISION)
    return loop.RUNNING


def search(sides: Sides, state: State, end: int) -> int:
    """Go on until the counter of work reads ``end``, or something has to be decided outside."""
    return int(act(sides, state, SEARCH, end, NO_CODES, NO_NUMBERS, 0.0))


def learn_row(
    sides: Sides, state: State, codes: IndexArray, coefficients: FloatArray, right: float
) -> int:
    """Learn from a valid side that the box contradicts; -1 where it does not."""
    return int(act(sides, state, LEARN_ROW, 0, codes, coefficients, right))


def learn_decisions(sides: Sides, state: State) -> int:
    """Learn that the present decisions lead nowhere."""
    return int(act(sides, state, LEARN_DECISIONS, 0, NO_CODES, NO_NUMBERS, 0.0))


def to_root(sides: Sides, state: State) -> None:
    """Undo all decisions."""
    act(sides, state, TO_ROOT, 0, NO_CODES, NO_NUMBERS, 0.0)


def settle_root(sides: Sides, state: State) -> int:
    """Undo all decisions, propagate what was learned, and forget how it came about."""
    return int(act(sides, state, SETTLE_ROOT, 0, NO_CODES, NO_NUMBERS, 0.0))


def begin(sides: Sides, state: State) -> None:
    """Sum all activities, and put open columns into the heap, at the root."""
    act(sides, state, BEGIN, 0, NO_CODES, NO_NUMBERS, 0.0)


def watch_clauses(sides: Sides, state: State) -> None:
    """Rebuild the lists of watches."""
    act(sides, state, WATCH, 0, NO_CODES, NO_NUMBERS, 0.0)


def limit_count(sides: Sides, state: State, most: float) -> int:
    """Undo all decisions and let the count of the objective be ``most`` at most from now on."""
    return int(act(sides, state, LIMIT, 0, NO_CODES, NO_NUMBERS, -most + 0.0))
