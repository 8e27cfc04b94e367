"""What follows from raised bounds, by clauses and by sides, with the reason of each."""

from __future__ import annotations

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.bounds import drain, sum_side, wake
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import (
    CAPPED,
    CONFLICT,
    FIXED,
    HEAD,
    QUEUE_HEAD,
    QUEUE_SIZE,
    TRAIL,
    State,
)
from solvers.mip.learning.tighten import visit_side
from solvers.mip.learning.watches import visit_clauses
from solvers.mip.search.loops import called

UNTRUE = -1
"""No conflict."""


@called
def propagate(sides: Sides, state: State) -> bool:
    """Raise bounds until nothing more follows; False on a contradiction, noted in ``CONFLICT``.

    Clauses come first, as they cost least. Where the trail has no room left, but for decisions,
    the rest is left out.
    """
    counts = state.counts
    counts[CONFLICT] = UNTRUE
    full = state.entry_code.size - state.level_start.size - sides.is_integer.size
    while True:
        if counts[TRAIL] > full:
            counts[CAPPED] += 1
            counts[HEAD] = counts[TRAIL]
            drain(state)
            return True
        if counts[HEAD] < counts[TRAIL]:
            code = as_index(state.entry_code[counts[HEAD]])
            counts[HEAD] += 1
            if not visit_clauses(sides, state, code):
                break
            continue
        if counts[QUEUE_SIZE] == 0:
            return True
        i = as_index(state.queue[counts[QUEUE_HEAD]])
        counts[QUEUE_HEAD] += 1
        if counts[QUEUE_HEAD] == state.queue.size:
            counts[QUEUE_HEAD] = 0
        counts[QUEUE_SIZE] -= 1
        state.queued[i] = 0
        if not visit_side(sides, state, i):
            break
    drain(state)
    return False


@called
def sum_all(sides: Sides, state: State) -> None:
    """Sum all activities, and queue what may act."""
    drain(state)
    state.counts[FIXED] = 0
    for j in range(sides.is_integer.size):
        if sides.is_integer[j] == 1 and state.bound[2 * j] == -state.bound[2 * j + 1]:
            state.counts[FIXED] += 1
    for i in range(state.right.size):
        sum_side(sides, state, i)
        wake(sides, state, i)
