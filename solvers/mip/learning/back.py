"""Undoing decisions."""

from __future__ import annotations

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.bounds import drain, move
from solvers.mip.learning.order import put_in_heap
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import HEAD, LEVEL, TRAIL, State
from solvers.mip.search.loops import called


@called
def go_back(sides: Sides, state: State, level: int) -> None:
    """Undo all decisions after the first ``level`` ones, and keep the values they had."""
    counts = state.counts
    if counts[LEVEL] <= level:
        return
    end = as_index(state.level_start[level])
    drain(state)
    for place in range(counts[TRAIL] - 1, end - 1, -1):
        code = as_index(state.entry_code[place])
        j = code >> 1
        if sides.is_integer[j] == 1:
            if state.bound[code] == -state.bound[code ^ 1]:
                state.wish[j] = state.bound[code] if code & 1 == 0 else -state.bound[code]
            if j != sides.is_integer.size - 1:  # the count is decided by rungs alone
                put_in_heap(state, j)
        state.latest[code] = state.entry_before[place]
        move(sides, state, code, state.entry_old[place], False)
    counts[TRAIL] = end
    counts[HEAD] = end
    counts[LEVEL] = level
