"""Raising bounds: each step goes on the trail, and into the activities of sides."""

from __future__ import annotations

import numpy as np

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import (
    FIXED,
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
    """Raise a bound, at most to the opposite one, and put that on the trail.

    Where the trail has no room, the bound stays as it is: what follows is only weaker.
    """
    counts = state.counts
    place = counts[TRAIL]
    if place >= state.entry_code.size:
        return
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
