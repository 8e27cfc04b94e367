"""The compiled loop: decide, propagate, learn, go back."""

from __future__ import annotations

import numpy as np

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.analyse import analyse, spread_of
from solvers.mip.learning.back import go_back
from solvers.mip.learning.bounds import TOLERANCE, drain, raise_bound
from solvers.mip.learning.explain import explain_conflict, explain_terms, weaken
from solvers.mip.learning.order import FADING, next_column
from solvers.mip.learning.propagate import propagate
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import (
    CLAUSES,
    CONFLICTS,
    DECISION,
    EXPLAINED,
    FIXED,
    HEAD,
    LEVEL,
    LITERALS,
    MOST_FIXED,
    NOTHING,
    RECORDED,
    ROOT,
    RUNGS,
    STEP,
    TRAIL,
    UNTIL_RESTART,
    WORK,
    State,
)
from solvers.mip.learning.watches import watch
from solvers.mip.model import IndexArray
from solvers.mip.search.loops import called, inlined
from solvers.problem import FloatArray

RUNNING, CANDIDATE, RESTART, EXHAUSTED, REFUTED = 0, 1, 2, 3, 4
"""How a slice ends: work spent, all integers fixed, time for a restart, nothing left to search,
nothing left below a rung."""


@inlined
def decide(sides: Sides, state: State, j: int) -> None:
    """Bring a column to its wish, or one of its bounds there where that lies between them."""
    counts = state.counts
    low, high = state.bound[2 * j], -state.bound[2 * j + 1]
    value = min(max(np.round(state.wish[j]), low), high)
    state.level_start[counts[LEVEL]] = counts[TRAIL]
    counts[LEVEL] += 1
    is_upper = as_index(value < high)
    raise_bound(sides, state, 2 * j + is_upper, (1 - 2 * is_upper) * value + 0.0, DECISION)


@inlined
def next_rung(state: State) -> int:
    """Return the first rung that the count may still be above, or -1."""
    code = state.bound.size - 1
    for k in range(state.counts[RUNGS]):
        if state.bound[code] < -state.rung[k]:
            return k
    return -1


@called
def assume(sides: Sides, state: State, k: int) -> bool:
    """Decide that the count is at most a rung; False where it is known to be above it.

    That is known because of the rungs before it, if of anything, as they come before all other
    decisions; and who is below this rung is below them. So it holds at the root.
    """
    counts = state.counts
    code = state.bound.size - 1
    least = state.bound[code - 1]
    if least > state.rung[k]:
        go_back(sides, state, ROOT)
        if state.bound[code - 1] < least:
            raise_bound(sides, state, code - 1, least, DECISION)
        return False
    state.level_start[counts[LEVEL]] = counts[TRAIL]
    counts[LEVEL] += 1
    raise_bound(sides, state, code, -state.rung[k] + 0.0, DECISION)
    return True


@called
def keep_closest(sides: Sides, state: State) -> None:
    """Remember the values where most columns were fixed."""
    counts = state.counts
    if counts[FIXED] <= counts[MOST_FIXED]:
        return
    counts[MOST_FIXED] = counts[FIXED]
    for j in range(sides.is_integer.size):
        low = state.bound[2 * j]
        state.closest[j] = low if low == -state.bound[2 * j + 1] else state.wish[j]
    counts[WORK] += sides.is_integer.size


@called
def take_clause(sides: Sides, state: State) -> bool:
    """Keep the clause of the entries in ``lits``; False where there is no room."""
    counts = state.counts
    c, first, size = counts[CLAUSES], counts[LITERALS], counts[RECORDED]
    if c >= state.clause_spread.size or first + size > state.literal_code.size:
        return False
    for k in range(size):
        place = as_index(state.lits[k])
        state.literal_code[first + k] = state.entry_code[place] ^ 1
        state.literal_value[first + k] = 1.0 - state.entry_value[place]
    state.clause_start[c + 1] = first + size
    counts[CLAUSES] = c + 1
    counts[LITERALS] = first + size
    watch(state, c, 0)
    watch(state, c, 1)
    return True


@called
def learn(sides: Sides, state: State) -> int:
    """Learn from the entries in ``found``, go back, and draw the clause's conclusion."""
    counts = state.counts
    counts[CONFLICTS] += 1
    counts[UNTIL_RESTART] -= 1
    keep_closest(sides, state)
    level = analyse(sides, state)
    if level < 0:
        return EXHAUSTED
    state.numbers[STEP] /= FADING
    size = counts[RECORDED]
    spread = spread_of(state, size)
    point = as_index(state.lits[0])
    code, value = as_index(state.entry_code[point]) ^ 1, 1.0 - state.entry_value[point]
    reason = DECISION
    if size > 1:
        c = counts[CLAUSES]
        if not take_clause(sides, state):
            go_back(sides, state, ROOT)
            return RESTART
        state.clause_spread[c] = spread
        reason = -2 - c
    go_back(sides, state, level)
    if state.bound[code] < value:
        if value > -state.bound[code ^ 1]:  # sums erred: begin anew with what was learned
            go_back(sides, state, ROOT)
            return EXHAUSTED if value > -state.bound[code ^ 1] else RESTART
        raise_bound(sides, state, code, value, reason)
    return RESTART if counts[UNTIL_RESTART] <= 0 else RUNNING


@called
def search(sides: Sides, state: State, end: int) -> int:
    """Go on until the counter of work reads ``end``, or something has to be decided outside."""
    counts = state.counts
    while True:
        if not propagate(sides, state):
            explain_conflict(sides, state)
            status = learn(sides, state)
            if status != RUNNING:
                return int(status)
            continue
        if counts[WORK] >= end:
            return RUNNING
        if counts[TRAIL] >= state.entry_code.size or counts[LEVEL] >= state.level_start.size:
            go_back(sides, state, ROOT)  # no room: begin anew, where bounds are settled
            return RESTART
        k = next_rung(state)
        if k >= 0:
            if not assume(sides, state, k):
                return REFUTED
            continue
        j = next_column(state)
        if j < 0:
            return CANDIDATE
        decide(sides, state, j)


@called
def learn_row(
    sides: Sides, state: State, codes: IndexArray, coefficients: FloatArray, right: float
) -> int:
    """Learn from a valid side that the box contradicts; RUNNING where it does not."""
    end = as_index(state.counts[TRAIL])
    excess = explain_terms(state, codes, coefficients, ROOT, codes.size, NOTHING, end, right)
    room = TOLERANCE * max(1.0, abs(right))
    if not excess > room:
        return -1
    weaken(state, coefficients, ROOT, excess - room)
    return int(learn(sides, state))


@called
def learn_decisions(sides: Sides, state: State) -> int:
    """Learn that the present decisions lead nowhere."""
    counts, kept = state.counts, 0
    for level in range(counts[LEVEL]):
        state.found[kept] = state.level_start[level]
        kept += 1
    counts[EXPLAINED] = kept
    drain(state)
    return int(learn(sides, state))


@called
def forget(state: State) -> None:
    """Make the bounds at the root those that explanations end at."""
    counts = state.counts
    for place in range(counts[TRAIL]):
        state.latest[state.entry_code[place]] = -1
    for code in range(state.bound.size):
        state.root[code] = state.bound[code]
    counts[TRAIL] = 0
    counts[HEAD] = 0
