"""Which earlier entries of the trail made a bound rise, or contradict a side or a clause.

Explanations of a side are weakened as far as its slack allows: bounds that it would not have needed
are left out, or replaced by the weaker ones that they had before.
"""

from __future__ import annotations

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.bounds import TOLERANCE
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import CONFLICT, EXPLAINED, NOTHING, TRAIL, WORK, State
from solvers.mip.learning.tighten import SMALLEST, room_of
from solvers.mip.model import IndexArray
from solvers.mip.search.loops import called, inlined
from solvers.problem import FloatArray

SPARE = 1e-9
"""Slack that is left unused, relative to the sum: rounding errors."""


@inlined
def latest_before(state: State, code: int, end: int) -> int:
    """Return the last entry of a code before a place of the trail, or -1."""
    place = as_index(state.latest[code])
    while place >= end:
        place = as_index(state.entry_before[place])
    return place


@called
def explain_terms(
    state: State,
    codes: IndexArray,
    coefficients: FloatArray,
    first: int,
    last: int,
    without: int,
    end: int,
    right: float,
) -> float:
    """List the entries before ``end`` behind a sum without one code; return ``sum - right``."""
    found, total, size = state.found, 0.0, 0
    for p in range(first, last):
        code = as_index(codes[p])
        place = -1
        if code != without:
            place = latest_before(state, code, end)
            value = state.entry_value[place] if place >= 0 else state.root[code]
            total += coefficients[p] * value
        found[size] = place
        size += 1
    state.counts[EXPLAINED] = size
    state.counts[WORK] += size
    return total - right


@called
def weaken(state: State, coefficients: FloatArray, first: int, spare: float) -> None:
    """Leave out of the listed entries what ``spare`` allows, and those of the root."""
    found, kept = state.found, 0
    for k in range(state.counts[EXPLAINED]):
        place, c = as_index(found[k]), coefficients[first + k]
        while place >= 0 and state.entry_level[place] > 0 and state.seen[place] == 0:
            change = c * (state.entry_value[place] - state.entry_old[place])
            if not change <= spare:
                break
            spare -= change
            place = as_index(state.entry_before[place])
        if place >= 0 and state.entry_level[place] > 0:
            found[kept] = place
            kept += 1
    state.counts[EXPLAINED] = kept


@called
def explain_by_clause(state: State, c: int, without: int, end: int) -> None:
    """List the entries that made the literals of a clause false, but for one code's."""
    kept = 0
    for k in range(state.clause_start[c], state.clause_start[c + 1]):
        code = as_index(state.literal_code[k])
        if code == without:
            continue
        place = latest_before(state, code ^ 1, end)
        needed = 1.0 - state.literal_value[k]
        while place >= 0 and state.entry_old[place] >= needed:
            place = as_index(state.entry_before[place])
        if place >= 0 and state.entry_level[place] > 0:
            state.found[kept] = place
            kept += 1
    state.counts[EXPLAINED] = kept
    state.counts[WORK] += state.clause_start[c + 1] - state.clause_start[c]


@called
def explain_entry(sides: Sides, state: State, place: int) -> None:
    """List why an entry that is no decision came onto the trail."""
    reason, code = as_index(state.entry_reason[place]), as_index(state.entry_code[place])
    if reason < 0:
        explain_by_clause(state, -2 - reason, code, place)
        return
    first, last = as_index(sides.start[reason]), as_index(sides.start[reason + 1])
    mine, right = code ^ 1, state.right[reason]
    excess = explain_terms(state, sides.code, sides.coefficient, first, last, mine, place, right)
    c = SMALLEST
    for p in range(first, last):
        if sides.code[p] == mine:
            c = sides.coefficient[p]
    most = -state.entry_value[place]
    if sides.is_integer[code >> 1] == 1:
        most += 1.0 - 2.0 * TOLERANCE
    spare = c * most + excess - SPARE * (abs(right) + abs(excess))
    weaken(state, sides.coefficient, first, spare)


@called
def explain_conflict(sides: Sides, state: State) -> None:
    """List what contradicts the side or clause that is noted as contradicted."""
    culprit, end = as_index(state.counts[CONFLICT]), as_index(state.counts[TRAIL])
    if culprit < 0:
        explain_by_clause(state, -2 - culprit, NOTHING, end)
        return
    first, last = as_index(sides.start[culprit]), as_index(sides.start[culprit + 1])
    right = state.right[culprit]
    excess = explain_terms(state, sides.code, sides.coefficient, first, last, NOTHING, end, right)
    spare = excess - room_of(right) - SPARE * (abs(right) + abs(excess))
    weaken(state, sides.coefficient, first, spare)
