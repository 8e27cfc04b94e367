"""Raising bounds, and what follows from that by clauses and by sides, with the reason of each."""

from __future__ import annotations

import numpy as np

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import (
    CAPPED,
    CLAUSES,
    CONFLICT,
    FIXED,
    HEAD,
    LEVEL,
    QUEUE_HEAD,
    QUEUE_SIZE,
    TRAIL,
    WORK,
    State,
)
from solvers.mip.search.loops import called, inlined

TOLERANCE = 1e-6
"""Absolute excess of a side at which it is contradicted; also for rounding whole bounds."""

RELATIVE = 1e-9
"""The same relative to the side, for sides so large that sums carry larger errors."""

OUTWARD = 1e-9
"""Bounds of continuous columns give way by this, relative to ``max(1, |bound|)``."""

SIGNIFICANT = 1e-1
"""Least change of a continuous bound, relative to its size and to the width of the interval.

With 1e-3, as in other propagation, a descent through a power grid of 18,000 rows spent its time on
bounds that crept around cycles: with 150 million entries visited it came to no point, with 0.1 to
one after 40 million."""

CREEPING = 0.05
"""Least change of an integer bound, relative to the width of the interval: any for up to 20 values.
Without it a model of railway waggons in numbers of up to 16,000 fixed a quarter as many columns."""

LARGEST_BOUND = 1e15
"""Bounds beyond this are not taken: there a double no longer tells integers apart."""

SMALLEST = 1e-9
"""Coefficients below this tighten nothing."""

UNTRUE = -1
"""No conflict."""


@inlined
def room_of(side: float) -> float:
    """Return the excess that counts as none."""
    return max(TOLERANCE, RELATIVE * abs(side))


@inlined
def wake(sides: Sides, state: State, i: int) -> None:
    """Queue a side if it may tighten something or be contradicted."""
    infinite = state.infinite[i]
    if state.queued[i] == 1 or infinite > 1:
        return
    if infinite == 0 and state.right[i] - state.activity[i] >= sides.widest[i] + TOLERANCE:
        return
    counts = state.counts
    size = state.queue.size
    place = counts[QUEUE_HEAD] + counts[QUEUE_SIZE]
    state.queue[place if place < size else place - size] = i
    state.queued[i] = 1
    counts[QUEUE_SIZE] += 1


@inlined
def move(sides: Sides, state: State, code: int, new: float, wakes: bool) -> None:
    """Give a bound another value, and carry it into the activities."""
    bound, activity, infinite = state.bound, state.activity, state.infinite
    old = bound[code]
    opposite = -bound[code ^ 1]
    if sides.is_integer[code >> 1] == 1:
        state.counts[FIXED] += as_index(new == opposite) - as_index(old == opposite)
    bound[code] = new
    step, count = 0.0, 0
    if np.isfinite(new):
        step, count = new, -1
    if np.isfinite(old):
        step, count = step - old, count + 1
    first, last = sides.code_start[code], sides.code_start[code + 1]
    for p in range(first, last):
        i = sides.code_side[p]
        activity[i] += sides.code_coefficient[p] * step
        infinite[i] += count
        if wakes:
            wake(sides, state, i)
    state.counts[WORK] += last - first + 1


@called
def raise_bound(sides: Sides, state: State, code: int, value: float, reason: int) -> None:
    """Raise a bound, at most to the opposite one, and put that on the trail."""
    counts = state.counts
    place = counts[TRAIL]
    state.entry_code[place] = code
    state.entry_before[place] = state.latest[code]
    state.entry_reason[place] = reason
    state.entry_level[place] = counts[LEVEL]
    state.entry_value[place] = value
    state.entry_old[place] = state.bound[code]
    state.latest[code] = place
    counts[TRAIL] = place + 1
    move(sides, state, code, value, True)


@inlined
def drain(state: State) -> None:
    """Forget the queued sides."""
    counts = state.counts
    size = state.queue.size
    for k in range(counts[QUEUE_SIZE]):
        place = counts[QUEUE_HEAD] + k
        state.queued[state.queue[place if place < size else place - size]] = 0
    counts[QUEUE_HEAD] = 0
    counts[QUEUE_SIZE] = 0


@called
def sum_side(sides: Sides, state: State, i: int) -> None:
    """Sum a side's activity from the bounds."""
    total, infinite = 0.0, 0
    for p in range(sides.start[i], sides.start[i + 1]):
        b = state.bound[sides.code[p]]
        if np.isfinite(b):
            total += sides.coefficient[p] * b
        else:
            infinite += 1
    state.activity[i] = total
    state.infinite[i] = infinite
    state.counts[WORK] += sides.start[i + 1] - sides.start[i]


@inlined
def most_whole(most: float, low: float, high: float) -> float:
    """Return the largest whole value left to a column, or ``high`` if that is no change."""
    whole = np.floor(most + TOLERANCE)
    if np.isfinite(low) and high < np.inf and high - whole < CREEPING * (high - low):
        return float(high)
    return float(max(min(whole, high), low))


@inlined
def most_continuous(most: float, low: float, high: float) -> float:
    """Return the largest value left to a continuous column, or ``high`` if little changes."""
    most += OUTWARD * max(1.0, abs(most))
    least = SIGNIFICANT * max(1.0, abs(most))
    if high < np.inf:
        if np.isfinite(low):
            least = max(least, SIGNIFICANT * (high - low))
        if high - most <= least:
            return high
    return max(most, low)


@called
def visit_side(sides: Sides, state: State, i: int) -> bool:
    """Check a side and raise what it says; False on a contradiction."""
    if sides.is_exact[i] == 0:
        sum_side(sides, state, i)
    right, bound = state.right[i], state.bound
    infinite = state.infinite[i]
    slack = right - state.activity[i]
    if infinite == 0 and slack < -room_of(right):
        state.counts[CONFLICT] = i
        return False
    if infinite > 1:
        return True
    if infinite == 0:
        slack = max(slack, 0.0)
    first, last = sides.start[i], sides.start[i + 1]
    state.counts[WORK] += last - first
    if i == state.right.size - 1:
        last -= 1  # the count of the objective, which only clauses and decisions bound
    for p in range(first, last):
        code, c = as_index(sides.code[p]), sides.coefficient[p]
        low, high = bound[code], -bound[code ^ 1]
        is_free = not np.isfinite(low)
        if is_free != (infinite == 1) or (not is_free and c * (high - low) <= slack):
            continue
        most = slack / c if is_free else low + slack / c
        if c < SMALLEST or not abs(most) <= LARGEST_BOUND:
            continue
        if sides.is_integer[code >> 1] == 1:
            most = most_whole(most, low, high)
        else:
            most = most_continuous(most, low, high)
        if most < high:
            raise_bound(sides, state, code ^ 1, -most + 0.0, i)
    return True


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


@called
def watch_all(state: State) -> None:
    """Rebuild the lists of watches, and look at every clause once more."""
    for code in range(state.watch_first.size):
        state.watch_first[code] = -1
    for c in range(state.counts[CLAUSES]):
        watch(state, c, 0)
        watch(state, c, 1)
