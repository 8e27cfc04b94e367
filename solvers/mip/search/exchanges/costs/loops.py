"""The annealing with costs: exchanges and shifts judged by the objective and by hard rows."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.mip.model import IndexArray
from solvers.mip.search.exchanges.loops import FINE, add, below, keep, make
from solvers.mip.search.loops import compiled, inlined
from solvers.problem import BoolArray, FloatArray

HARD, WORK, MOVES, STAMP, COST, SUM, VIOLATED = range(7)
"""Places of ``numbers``: weighted violation of what no slack takes up, entries visited, moves made,
the number of the last trial, the objective, of the moves made the absolute changes of it, and how
many sides of rows and ends of slacks are violated, which tells without rounding errors."""

NOTHING = 1e-7
"""Violation, not weighted, up to which nothing is violated."""

BETTER = 1e-9
"""Relative gain below which an objective is not a better one."""

WHOLE = 1e-7
"""How far beyond a whole number a whole slack is not rounded up."""


class CostState(NamedTuple):
    """What :class:`~solvers.mip.search.exchanges.loops.State` has, prices, and slacks.

    Where groups have no values, two of them may exchange labels: ``label`` (n,), and ``by_label``
    (g, l), the column of each. ``slack_mark`` (k,) has the number of the last trial that looked at
    a slack; ``excess`` (k,) is what a unit beyond the end of its bounds counts for.
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
    cost: FloatArray
    row_start: IndexArray
    row_column: IndexArray
    group: IndexArray
    none: IndexArray
    label: IndexArray
    by_label: IndexArray
    of_side: IndexArray
    slack_cost: FloatArray
    slack_least: FloatArray
    slack_most: FloatArray
    slack_whole: BoolArray
    slack_start: IndexArray
    slack_row: IndexArray
    slack_side: IndexArray
    slack_scale: FloatArray
    slack_mark: np.ndarray
    excess: FloatArray


@inlined
def short(state, i, side, activity):
    """Return how much a side of a row is violated; negative where there is room."""
    return state.lower[i] - activity if side == 0 else activity - state.upper[i]


@inlined
def units(state, s, trial):
    """Return what the rows ask of a slack, with the changes of a trial, or as things are for -1."""
    asked = state.slack_least[s]
    for k in range(state.slack_start[s], state.slack_start[s + 1]):
        i = state.slack_row[k]
        activity = state.activity[i]
        if state.stamp[i] == trial:
            activity += state.delta[i]
        asked = max(asked, short(state, i, state.slack_side[k], activity) / state.slack_scale[k])
    if state.slack_whole[s]:
        asked = np.ceil(asked - WHOLE)
    return asked


@inlined
def price(state, s, asked):
    """Return what a slack costs within its bounds."""
    return state.slack_cost[s] * min(asked, state.slack_most[s])


@inlined
def too_much(state, s, asked):
    """Return what a slack is beyond its bounds, weighted."""
    return state.excess[s] * max(0.0, asked - state.slack_most[s])


@inlined
def of_label(state, g, label):
    """Return the column of a group with a label, -1 where there is none."""
    return state.by_label[g, label] if label >= 0 else np.int32(-1)


@inlined
def across(state, j, to):
    """Return another choice with a column in a row of ``j`` or ``to``, and what it goes to.

    That column where it is not chosen, else none; -1 where that cannot be.
    """
    k = j if state.column_start[j] < state.column_start[j + 1] else to
    first, size = state.column_start[k], state.column_start[k + 1] - state.column_start[k]
    if size == 0:
        return np.int64(-1), np.int32(-1)
    i = state.column_row[first + below(state.random, size)]
    begin = state.row_start[i]
    back = state.row_column[begin + below(state.random, state.row_start[i + 1] - begin)]
    other = np.int64(state.group[back])
    if other >= 0 and state.current[other] == back:
        back = state.none[other]
    return (other, back) if back >= 0 else (np.int64(-1), np.int32(-1))


@inlined
def is_out(by):
    """Return 1 for a violation that counts, else 0."""
    return np.int64(1) if by > NOTHING else np.int64(0)


@inlined
def changes_of(state, count, trial):
    """Return by how much violation, objective and number of violated sides would rise.

    The columns' own costs are left out.
    """
    hard, cost, out = 0.0, 0.0, np.int64(0)
    for place in range(count):
        i = state.touched[place]
        if state.delta[i] == 0.0:
            continue
        before = state.activity[i]
        after = before + state.delta[i]
        for side in range(2):
            s = state.of_side[i, side]
            if s < 0:
                short_now, short_then = short(state, i, side, before), short(state, i, side, after)
                hard += state.weight[i] * (max(0.0, short_then) - max(0.0, short_now))
                out += is_out(short_then) - is_out(short_now)
            elif state.slack_mark[s] != trial:
                state.slack_mark[s] = trial
                old, new = units(state, s, np.int64(-1)), units(state, s, trial)
                cost += price(state, s, new) - price(state, s, old)
                hard += too_much(state, s, new) - too_much(state, s, old)
                most = state.slack_most[s]
                out += is_out(new - most) - is_out(old - most)
                state.numbers[WORK] += 2 * (state.slack_start[s + 1] - state.slack_start[s])
    return hard, cost, out


@compiled
def sum_up_costs(state):
    """Sum activities, violation and objective anew, and see who holds which value."""
    for i in range(state.activity.size):
        state.activity[i] = 0.0
    for v in range(state.holder.size):
        state.holder[v] = -1
    hard, cost, violated = 0.0, 0.0, np.int64(0)
    for g in range(state.current.size):
        j = state.current[g]
        cost += state.cost[j]
        if state.value[j] >= 0:
            state.holder[state.value[j]] = g
        for k in range(state.column_start[j], state.column_start[j + 1]):
            state.activity[state.column_row[k]] += state.column_value[k]
    for i in range(state.activity.size):
        for side in range(2):
            if state.of_side[i, side] < 0:
                out = short(state, i, side, state.activity[i])
                hard += state.weight[i] * max(0.0, out)
                violated += is_out(out)
    for s in range(state.slack_cost.size):
        asked = units(state, s, np.int64(-1))
        cost += price(state, s, asked)
        hard += too_much(state, s, asked)
        violated += is_out(asked - state.slack_most[s])
    state.numbers[HARD], state.numbers[COST], state.numbers[VIOLATED] = hard, cost, violated


@compiled
def anneal_costs(state, trials, hot, cold, least):
    """Make ``trials`` trials while the temperature falls from ``hot`` to ``cold``.

    Returns the least objective of a point that violates nothing, whose choices are in ``best``;
    ``least`` is that of ``best`` so far.
    """
    groups = state.current.size
    temperature = hot
    cooling = (cold / hot) ** (1.0 / max(1, trials))
    trial = np.int64(state.numbers[STAMP])
    hard, cost = state.numbers[HARD], state.numbers[COST]
    violated = np.int64(state.numbers[VIOLATED])
    for _ in range(trials):
        temperature *= cooling
        g = below(state.random, groups)
        first = state.start[g]
        to = state.column[first + below(state.random, state.start[g + 1] - first)]
        j = state.current[g]
        v, w = state.value[j], state.value[to]
        other, back = np.int64(-1), np.int32(-1)
        if state.label[j] >= 0 and below(state.random, 2) == 0:
            other = below(state.random, groups)
            to = of_label(state, g, state.label[state.current[other]])
            back = of_label(state, other, state.label[j])
        elif v >= 0 and w >= 0 and v != w:
            other = np.int64(state.holder[w])  # gives it for ours, where it may
            if other >= 0:
                back = state.table[other, v]
        elif below(state.random, 2) == 0:
            other, back = across(state, j, to)
            if other == g:
                other, back = np.int64(-1), np.int32(-1)
        if to < 0 or to == j or (other >= 0 and back < 0):
            continue
        trial += 1
        own = state.cost[to] - state.cost[j]
        count = add(state, j, -1.0, trial, 0)
        count = add(state, to, 1.0, trial, count)
        if other >= 0:
            own += state.cost[back] - state.cost[state.current[other]]
            count = add(state, state.current[other], -1.0, trial, count)
            count = add(state, back, 1.0, trial, count)
        rise, dearer, more = changes_of(state, count, trial)
        dearer += own
        change = rise + dearer
        if change > 0.0 and below(state.random, FINE) >= FINE * np.exp(-change / temperature):
            continue
        make(state, count, g, to, other, back)
        state.numbers[SUM] += abs(dearer)
        hard += rise
        cost += dearer
        violated += more
        if violated == 0 and cost < least - BETTER * max(1.0, abs(least)):
            least = cost
            keep(state)
    state.numbers[STAMP], state.numbers[VIOLATED] = trial, violated
    state.numbers[HARD], state.numbers[COST] = hard, cost
    return least
