"""The annealing itself: exchanges and shifts that keep every group at one, judged by all rows."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.mip.model import IndexArray
from solvers.mip.search.loops import compiled, inlined
from solvers.problem import FloatArray

SHIFT_A, SHIFT_B, SHIFT_C, HALF = np.uint64(13), np.uint64(7), np.uint64(17), np.uint64(32)
"""Shifts of Marsaglia's xorshift generator of 64 bits, and the half of them that is used."""

FINE = np.int64(1 << 30)
"""Steps between 0 and 1 of what decides whether a rise is taken."""

ENERGY, WORK, MOVES, STAMP = range(4)
"""Places of ``numbers``: weighted violation, entries visited, moves made, and the number of the
last trial."""

NOTHING = 1e-9
"""Weighted violation below which nothing is violated."""


class State(NamedTuple):
    """Matrix by columns, groups, rows, and the column that is 1 in each group.

    ``delta`` (m,) are changes of a trial to the activities of the rows ``touched``, where ``stamp``
    has its number; ``holder`` (v,) says which group has a value.
    """

    column_start: IndexArray
    column_row: IndexArray
    column_value: FloatArray
    start: IndexArray
    column: IndexArray
    value: IndexArray
    table: IndexArray
    lower: FloatArray
    upper: FloatArray
    weight: FloatArray
    activity: FloatArray
    delta: FloatArray
    stamp: np.ndarray
    touched: IndexArray
    holder: IndexArray
    current: IndexArray
    best: IndexArray
    numbers: FloatArray
    random: np.ndarray


@inlined
def below(random, bound):
    """Return a whole number from 0 to ``bound`` - 1."""
    word = random[0]
    word ^= word << SHIFT_A
    word ^= word >> SHIFT_B
    word ^= word << SHIFT_C
    random[0] = word
    return np.int64(((word >> HALF) * np.uint64(bound)) >> HALF)


@inlined
def outside(state, i, activity):
    """Return the weighted violation of a row."""
    over = max(state.lower[i] - activity, activity - state.upper[i])
    return state.weight[i] * max(over, 0.0)


@inlined
def add(state, j, sign, trial, count):
    """Add a column's entries to the trial's changes; return how many rows it touches now."""
    first, last = state.column_start[j], state.column_start[j + 1]
    for k in range(first, last):
        i = state.column_row[k]
        if state.stamp[i] != trial:
            state.stamp[i] = trial
            state.delta[i] = 0.0
            state.touched[count] = i
            count += 1
        state.delta[i] += sign * state.column_value[k]
    state.numbers[WORK] += last - first
    return count


@inlined
def change_of(state, count):
    """Return by how much the weighted violation would rise."""
    change = 0.0
    for place in range(count):
        i = state.touched[place]
        if state.delta[i] != 0.0:
            before = state.activity[i]
            change += outside(state, i, before + state.delta[i]) - outside(state, i, before)
    return change


@compiled
def sum_up(state):
    """Sum activities and the weighted violation anew, and see who holds which value."""
    for i in range(state.activity.size):
        state.activity[i] = 0.0
    for v in range(state.holder.size):
        state.holder[v] = -1
    for g in range(state.current.size):
        j = state.current[g]
        if state.value[j] >= 0:
            state.holder[state.value[j]] = g
        for k in range(state.column_start[j], state.column_start[j + 1]):
            state.activity[state.column_row[k]] += state.column_value[k]
    energy = 0.0
    for i in range(state.activity.size):
        energy += outside(state, i, state.activity[i])
    state.numbers[ENERGY] = energy


@inlined
def make(state, count, g, to, other, back):
    """Make the trial: group ``g`` goes to column ``to``, ``other``, if any, to ``back``."""
    for place in range(count):
        i = state.touched[place]
        state.activity[i] += state.delta[i]
    v, w = state.value[state.current[g]], state.value[to]
    if v >= 0 and state.holder[v] == g:
        state.holder[v] = other
    if w >= 0:
        state.holder[w] = g
    state.current[g] = to
    if other >= 0:
        state.current[other] = back
    state.numbers[MOVES] += 1


@inlined
def keep(state):
    """Write down which column is 1 in each group."""
    for g in range(state.current.size):
        state.best[g] = state.current[g]


@compiled
def anneal(state, trials, hot, cold, least):
    """Make ``trials`` trials while the temperature falls from ``hot`` to ``cold``.

    Returns the least weighted violation, whose groups are in ``best``; ends where nothing is
    violated. ``least`` is that of ``best`` so far.
    """
    groups = state.current.size
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(1, trials))
    trial, energy = np.int64(state.numbers[STAMP]), state.numbers[ENERGY]
    for _ in range(trials):
        temperature *= cooling
        g = below(state.random, groups)
        first = state.start[g]
        to = state.column[first + below(state.random, state.start[g + 1] - first)]
        j = state.current[g]
        v, w = state.value[j], state.value[to]
        other, back = np.int64(-1), np.int32(-1)
        if v >= 0 and w >= 0 and v != w:
            other = np.int64(state.holder[w])  # gives it for ours, where it may
        if other >= 0:
            back = state.table[other, v]
        if to == j or (other >= 0 and back < 0):
            continue
        trial += 1
        count = add(state, j, -1.0, trial, 0)
        count = add(state, to, 1.0, trial, count)
        if other >= 0:
            count = add(state, state.current[other], -1.0, trial, count)
            count = add(state, back, 1.0, trial, count)
        change = change_of(state, count)
        if change > 0.0 and below(state.random, FINE) >= FINE * np.exp(-change / temperature):
            continue
        make(state, count, g, to, other, back)
        energy += change
        if energy < least:
            least = energy
            keep(state)
            if least <= NOTHING:
                break
    state.numbers[STAMP], state.numbers[ENERGY] = trial, energy
    return least
