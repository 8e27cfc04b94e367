"""The walk itself: one slice of steps, each a lift, a move worth its while, a chain, or a kick."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.search.candidates import (
    FREE_ONLY,
    NOT_BACK,
    find_lift,
    gather_breakthroughs,
    gather_satisfied,
    gather_violated,
)
from solvers.mip.search.chains import try_chains
from solvers.mip.search.loops import compiled
from solvers.mip.search.moves import draw, keep_point, make_move, refresh, uniform
from solvers.mip.search.scoring import choose
from solvers.mip.search.settings import (
    BUMPED_ROWS,
    LARGEST_WEIGHT,
    REFRESH_MOVES,
    SMALLEST_STEP,
)
from solvers.mip.search.state import BEST, LEAST

ONE_ROW = np.int64(1)

CHAIN_REWARD, CHAIN_FADE, CHAIN_LEAST = 0.2, 0.98, 0.05
"""A chain that is worth it raises the chance of the next by the first, others fade it by the
second; some are always tried. A chain costs as much as a hundred steps."""


@compiled
def aim_below(state, best):
    """Set the objective to beat, and the target that moves aim at below it."""
    status = state.status[0]
    status.best = best
    if best < np.inf:
        distance = status.aim * max(1.0, abs(best))
        status.target = best - max(distance, status.granularity)


@compiled
def record_feasible(state):
    """Keep the current point, which violates nothing, if it is better than the best."""
    status = state.status[0]
    least = max(SMALLEST_STEP * max(1.0, abs(status.best)), 0.5 * status.granularity)
    if status.best < np.inf and status.objective >= status.best - least:
        return
    keep_point(state, BEST)
    status.found = 1
    status.improved = status.step
    status.least_violated = 0
    aim_below(state, status.objective)
    if state.priced.size == 0:
        status.done = 1


@compiled
def raise_weights(state, parameters):
    """Make violated rows heavier, or now and then satisfied ones lighter."""
    status = state.status[0]
    if status.num_violated == 0:
        status.objective_weight += 1.0
        return
    if uniform(status) < parameters.smoothing:
        if status.objective <= status.target and status.objective_weight > 0.0:
            status.objective_weight = max(0.0, status.objective_weight - 1.0)
        for i in range(state.rows.size):
            row = state.rows[i]
            if row.place < 0:
                row.lower_weight = max(0.0, row.lower_weight - 1.0)
                row.upper_weight = max(0.0, row.upper_weight - 1.0)
        status.work += state.rows.size
        return
    bumped = min(status.num_violated, BUMPED_ROWS)
    at = draw(status, status.num_violated) if bumped < status.num_violated else 0
    heaviest = 0.0
    for _ in range(bumped):
        row = state.rows[state.violated[at]]
        at = at + 1 if at + 1 < status.num_violated else 0
        rise = parameters.equality_weight if row.lower == row.upper else 1.0
        if row.activity < row.lower:
            row.lower_weight += rise
            heaviest = max(heaviest, row.lower_weight)
        else:
            row.upper_weight += rise
            heaviest = max(heaviest, row.upper_weight)
    status.work += bumped
    if heaviest > LARGEST_WEIGHT:
        status.objective_weight *= 0.5
        for i in range(state.rows.size):
            state.rows[i].lower_weight *= 0.5
            state.rows[i].upper_weight *= 0.5


@compiled
def make_candidate(matrix, state, parameters, best):
    """Make the move of a candidate."""
    pair = state.candidates[best]
    make_move(matrix, state, parameters, pair.place, pair.value)


@compiled
def gather(matrix, state, parameters):
    """Fill the candidates of a step, and leave the best of them in the status."""
    count = gather_violated(matrix, state, parameters, parameters.rows, FREE_ONLY)
    if state.status[0].target > -np.inf:
        count = gather_breakthroughs(state, parameters, count, FREE_ONLY)
    return count


@compiled
def kick(matrix, state, parameters, count, best):
    """Make the best move that closes the gap of one violated row, be it worth nothing.

    Where a step samples one row only, that row's best move is taken instead of another's.
    """
    if parameters.rows > 1 or best < 0:
        count = gather_violated(matrix, state, parameters, ONE_ROW, NOT_BACK)
        if count == 0 or state.status[0].num_violated == 0:
            count = gather_breakthroughs(state, parameters, count, NOT_BACK)
        best = choose(matrix, state, parameters, state.candidates, count)
    if best >= 0:
        make_move(
            matrix, state, parameters, state.candidates[best].place, state.candidates[best].value
        )


@compiled
def take_step(matrix, state, parameters):
    """Make one step of the walk."""
    status = state.status[0]
    status.step += 1
    status.work += 1
    if status.num_violated == 0:
        j, step = find_lift(matrix, state, parameters)
        if j >= 0:
            make_move(matrix, state, parameters, j, step)
            return
        record_feasible(state)
        if status.done == 1:
            return
    count = gather(matrix, state, parameters)
    best = choose(matrix, state, parameters, state.candidates, count)
    if best < 0 or status.progress <= SMALLEST_STEP:
        more = gather_satisfied(matrix, state, parameters, count)
        if more > count:
            count = more
            best = choose(matrix, state, parameters, state.candidates, count)
    if best >= 0 and status.progress > SMALLEST_STEP:
        make_move(
            matrix, state, parameters, state.candidates[best].place, state.candidates[best].value
        )
        return
    if 0 < status.num_violated < status.least_violated:
        status.least_violated = status.num_violated
        status.improved = status.step
        keep_point(state, LEAST)
    if count > 0 and uniform(status) < status.chain_chance:
        if try_chains(matrix, state, parameters, count, best):
            status.chain_chance = min(1.0, status.chain_chance + CHAIN_REWARD)
            return
        status.chain_chance = max(CHAIN_LEAST, status.chain_chance * CHAIN_FADE)
    raise_weights(state, parameters)
    kick(matrix, state, parameters, count, best)


@compiled
def run_slice(matrix, state, parameters, work):
    """Take steps until ``work`` entries were visited, or nothing is left to improve.

    Where a point's sums have drifted so far that it only seemed to keep all rows, it is not
    recorded: activities are summed anew before every record that follows many moves.
    """
    status = state.status[0]
    end = status.work + work
    while status.work < end and status.done == 0:
        if status.moves_since_refresh >= REFRESH_MOVES:
            refresh(matrix, state)
        take_step(matrix, state, parameters)
    if status.done == 0 and status.num_violated == 0:
        record_feasible(state)
