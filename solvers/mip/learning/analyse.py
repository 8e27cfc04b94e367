"""From a contradiction to a clause: resolution up to the first unique implication point.

Entries of continuous columns are always resolved further, as a clause has literals of integer
columns only.
"""

from __future__ import annotations

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.explain import explain_entry
from solvers.mip.learning.order import bump
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import (
    AT,
    CONFLICTS,
    DECISION,
    EXPLAINED,
    OPEN,
    RECORDED,
    TOUCHED,
    TRAIL,
    State,
)
from solvers.mip.search.loops import called, inlined

LONGEST_SHORTENED = 200
"""Entries of a side up to which it is tried as the reason for leaving a literal out."""


@called
def mark_found(sides: Sides, state: State) -> None:
    """Mark the listed entries: those of level ``AT`` wait, others make the clause."""
    counts = state.counts
    for k in range(counts[EXPLAINED]):
        place = as_index(state.found[k])
        if state.seen[place] != 0:
            continue
        state.seen[place] = 1
        state.touched[counts[TOUCHED]] = place
        counts[TOUCHED] += 1
        bump(sides, state, as_index(state.entry_code[place]) >> 1)
        if state.entry_level[place] == counts[AT]:
            counts[OPEN] += 1
        else:
            state.lits[counts[RECORDED]] = place
            counts[RECORDED] += 1


@inlined
def descend(state: State) -> bool:
    """Go to the highest level among the clause's entries; False if there is none."""
    counts = state.counts
    highest = as_index(0)
    for k in range(counts[RECORDED]):
        highest = max(highest, as_index(state.entry_level[state.lits[k]]))
    if highest == 0:
        return False
    kept = 0
    counts[AT] = highest
    for k in range(counts[RECORDED]):
        if state.entry_level[state.lits[k]] == highest:
            counts[OPEN] += 1
        else:
            state.lits[kept] = state.lits[k]
            kept += 1
    counts[RECORDED] = kept
    return True


@called
def first_point(sides: Sides, state: State) -> int:
    """Resolve until one integer entry of the level is left; -1 if nothing is."""
    counts, seen = state.counts, state.seen
    place = counts[TRAIL] - 1
    while True:
        if counts[OPEN] == 0 and not descend(state):
            return -1
        while seen[place] != 1 or state.entry_level[place] != counts[AT]:
            place -= 1
        code = as_index(state.entry_code[place])
        if counts[OPEN] == 1 and sides.is_integer[code >> 1] == 1:
            return int(place)
        counts[OPEN] -= 1
        seen[place] = 2
        explain_entry(sides, state, place)
        mark_found(sides, state)
        place -= 1


@called
def resolve_continuous(sides: Sides, state: State) -> None:
    """Replace entries of continuous columns by what made them."""
    counts, lits = state.counts, state.lits
    k = 0
    while k < counts[RECORDED]:
        place = as_index(lits[k])
        if sides.is_integer[as_index(state.entry_code[place]) >> 1] == 1:
            k += 1
            continue
        counts[RECORDED] -= 1
        lits[k] = lits[counts[RECORDED]]
        state.seen[place] = 2
        explain_entry(sides, state, place)
        mark_found(sides, state)


@called
def follows(sides: Sides, state: State, place: int) -> bool:
    """Whether an entry follows from the others of the clause by its own reason."""
    reason = as_index(state.entry_reason[place])
    if reason == DECISION:
        return False
    if reason >= 0 and sides.start[reason + 1] - sides.start[reason] > LONGEST_SHORTENED:
        return False
    explain_entry(sides, state, place)
    for k in range(state.counts[EXPLAINED]):
        one = as_index(state.found[k])
        stands = as_index(state.chosen[state.entry_code[one]])
        if not one <= stands < place:
            return False
    return True


@called
def shorten(sides: Sides, state: State, point: int) -> None:
    """Keep the strongest entry of each code, and of those what does not follow from others."""
    counts, lits, chosen, code = state.counts, state.lits, state.chosen, state.entry_code
    chosen[code[point]] = point
    for k in range(counts[RECORDED]):
        place = lits[k]
        chosen[code[place]] = max(chosen[code[place]], place)
    kept = 0
    for k in range(counts[RECORDED]):
        place = as_index(lits[k])
        if chosen[code[place]] == place and not follows(sides, state, place):
            lits[kept] = place
            kept += 1
    counts[RECORDED] = kept
    for k in range(counts[TOUCHED]):
        chosen[code[state.touched[k]]] = -1


@inlined
def spread_of(state: State, size: int) -> int:
    """Return how many levels the first entries of the clause are from."""
    spread = 0
    now = state.counts[CONFLICTS] & 0x3FFFFFFF
    for k in range(size):
        level = state.entry_level[state.lits[k]]
        if state.stamp[level] != now:
            state.stamp[level] = now
            spread += 1
    return spread


@called
def analyse(sides: Sides, state: State) -> int:
    """Make a clause of the entries listed in ``found``: its entries then stand in ``lits``.

    The first is the implication point, the second that of the highest level besides. Returns the
    level to go back to, or -1 where the contradiction holds at the root.
    """
    counts, lits = state.counts, state.lits
    counts[TOUCHED] = 0
    counts[RECORDED] = 0
    counts[OPEN] = 0
    counts[AT] = -1
    mark_found(sides, state)
    point = first_point(sides, state)
    level = -1
    if point >= 0:
        resolve_continuous(sides, state)
        shorten(sides, state, point)
        size = counts[RECORDED]
        lits[size] = lits[0]
        lits[0] = point
        counts[RECORDED] = size + 1
        level = 0
        for k in range(1, size + 1):
            if state.entry_level[lits[k]] > level:
                level = as_index(state.entry_level[lits[k]])
                lits[1], lits[k] = lits[k], lits[1]
    for k in range(counts[TOUCHED]):
        state.seen[state.touched[k]] = 0
    return level
