"""Clauses that watch two of their literals, and are looked at when one of these turns false."""

from __future__ import annotations

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.bounds import raise_bound
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import CLAUSES, CONFLICT, WORK, State
from solvers.mip.search.loops import called, inlined


@inlined
def is_true(state: State, k: int) -> bool:
    """Whether a literal holds in the whole box."""
    return bool(state.bound[state.literal_code[k]] >= state.literal_value[k])


@inlined
def is_false(state: State, k: int) -> bool:
    """Whether a literal holds nowhere in the box."""
    return bool(state.bound[state.literal_code[k] ^ 1] >= 1.0 - state.literal_value[k])


@inlined
def watch(state: State, c: int, w: int) -> None:
    """Enter a clause into the list of the code that makes its literal ``w`` false."""
    code = state.literal_code[state.clause_start[c] + w] ^ 1
    state.watch_next[2 * c + w] = state.watch_first[code]
    state.watch_first[code] = 2 * c + w


@inlined
def swap_literals(state: State, a: int, b: int) -> None:
    """Exchange two literals of a clause."""
    codes, values = state.literal_code, state.literal_value
    codes[a], codes[b] = codes[b], codes[a]
    values[a], values[b] = values[b], values[a]


@called
def visit_clauses(sides: Sides, state: State, code: int) -> bool:
    """Look at the clauses that watch a code which rose; False on a contradiction."""
    watch_next, start = state.watch_next, state.clause_start
    before, node = -1, as_index(state.watch_first[code])
    seen = 0
    while node >= 0:
        following = as_index(watch_next[node])
        c, w = node >> 1, node & 1
        first, last = as_index(start[c]), as_index(start[c + 1])
        mine, other = first + w, first + 1 - w
        seen += 1
        if not is_false(state, mine) or is_true(state, other):
            before, node = node, following
            continue
        moved = False
        for k in range(first + 2, last):
            seen += 1
            if not is_false(state, k):
                swap_literals(state, mine, k)
                if before < 0:
                    state.watch_first[code] = following
                else:
                    watch_next[before] = following
                watch(state, c, w)
                moved = True
                break
        if moved:
            node = following
            continue
        if is_false(state, other):
            state.counts[CONFLICT] = -2 - c
            state.counts[WORK] += seen
            return False
        raise_bound(
            sides,
            state,
            as_index(state.literal_code[other]),
            state.literal_value[other],
            -2 - c,
        )
        before, node = node, following
    state.counts[WORK] += seen
    return True


@called
def watch_all(state: State) -> None:
    """Rebuild the lists of watches, and look at every clause once more."""
    for code in range(state.watch_first.size):
        state.watch_first[code] = -1
    for c in range(state.counts[CLAUSES]):
        watch(state, c, 0)
        watch(state, c, 1)
