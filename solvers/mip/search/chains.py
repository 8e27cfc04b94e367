"""Compound moves: chains in which each move repairs a row that the one before has violated.

No single step can walk on equations: one column alone always leaves them. A chain starts with a
step that is worth nothing by itself and goes on, each link closing the gap of a row that the
chain has opened, until the sum of all progress is positive; otherwise everything is put back.
Chains of two are the equality pairs (step of k = -a_j step of j / a_k) and the swaps 1 <-> 0 in
set partitioning rows, those of three and four the exchanges of assignments and the detours of
flows; continuous columns take up what an integer column has left over. (Notes, section 4.4.)
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.mip.search.candidates import FREE_ONLY, NONE, gap_of, gather_row
from solvers.mip.search.loops import compiled, inlined
from solvers.mip.search.moves import draw, set_value
from solvers.mip.search.scoring import choose, objective_progress, row_progress
from solvers.mip.search.settings import SMALLEST_STEP

ROW_LOOKS = 32
"""Rows of a column among which the row to be repaired next is looked for."""


@compiled
def try_link(matrix, state, parameters, j, delta):
    """Change a column for a trial, remember its value from before, and sum up the chain's gain.

    Rows are judged from the chain's beginning to where they stand now. Step by step, a row that
    one link opens wide and two others close a little would seem to be won.
    """
    status = state.status[0]
    link = state.chain[status.num_chain]
    link.place, link.value = j, state.columns[j].x
    status.num_chain += 1
    gain = 0.0
    first, last = matrix.column_start[j], matrix.column_start[j + 1]
    status.work += last - first
    for k in range(first, last):
        i = np.uint32(matrix.column_row[np.uint64(k)])
        row, origin = state.rows[i], state.origins[i]
        now = row.activity
        after = now + matrix.column_value[np.uint64(k)] * delta
        if origin.place == status.chains:
            gain -= row_progress(row, parameters.jump, origin.value, now)
        else:
            origin.place, origin.value = status.chains, now
        gain += row_progress(row, parameters.jump, origin.value, after)
    status.chain_gain += gain
    set_value(matrix, state, j, state.columns[j].x + delta)


@compiled
def opened_row(matrix, state, before):
    """Return a violated row of the chain's columns, the heaviest seen, -1 without one.

    Rows of the last link come first; ``before`` holds for links that were looked through.
    """
    status = state.status[0]
    for back in range(status.num_chain):
        j = state.chain[status.num_chain - 1 - back].place
        first = matrix.column_start[j]
        length = matrix.column_start[j + 1] - first
        at = draw(status, length) if length > ROW_LOOKS else 0
        best, heaviest = np.int64(-1), -1.0
        for _ in range(min(length, ROW_LOOKS)):
            i = np.int64(matrix.column_row[first + at])
            at = at + 1 if at + 1 < length else 0
            row = state.rows[i]
            if row.place >= 0 and i != before:
                weight = row.lower_weight if row.activity < row.lower else row.upper_weight
                if weight > heaviest:
                    best, heaviest = i, weight
        if best >= 0:
            return best
    return np.int64(-1)


@inlined
def worth(state, parameters, before):
    """Return the progress of the chain: of its rows, and of the objective, from end to end."""
    status = state.status[0]
    now = status.objective
    status.objective = before
    progress = status.chain_gain + objective_progress(status, parameters.jump, now - before)
    status.objective = now
    return progress


@compiled
def drop_used(state, count):
    """Take the columns of the chain out of the candidates for its next link."""
    for place in range(state.status[0].num_chain):
        j, at = state.chain[place].place, 0
        while at < count:
            if state.links[at].place == j:
                count -= 1
                state.links[at].place = state.links[count].place
                state.links[at].value = state.links[count].value
            else:
                at += 1
    return count


@compiled
def follow(matrix, state, parameters, before):
    """Add links to the chain while it is worth nothing; return whether it came to be.

    ``before`` is the objective at its beginning.
    """
    status = state.status[0]
    last = np.int64(-1)
    while status.num_chain < parameters.chain_depth:
        i = opened_row(matrix, state, last)
        if i < 0:
            return False
        last = i
        gap = gap_of(state.rows[i])
        room = parameters.chain_breadth
        count = gather_row(matrix, state, parameters, i, gap, room, state.links, NONE, FREE_ONLY)
        count = drop_used(state, count)
        best = choose(matrix, state, parameters, state.links, count)
        if best < 0:
            return False
        j, delta = state.links[best].place, state.links[best].value
        try_link(matrix, state, parameters, j, delta)
        if worth(state, parameters, before) > SMALLEST_STEP:
            return True
    return False


@compiled
def try_chains(matrix, state, parameters, count, first):
    """Try chains from the ``count`` candidates of this step, the one at ``first`` to begin with.

    Returns whether one was worth it and stands; without, everything is as before.
    """
    status = state.status[0]
    for trial in range(parameters.chain_trials):
        place = first if trial == 0 else draw(status, count)
        j, delta = state.candidates[place].place, state.candidates[place].value
        status.num_chain = 0
        status.chain_gain = 0.0
        status.chains += 1
        before = status.objective
        try_link(matrix, state, parameters, j, delta)
        if follow(matrix, state, parameters, before):
            for link in range(status.num_chain):
                column = state.columns[state.chain[link].place]
                until = (
                    status.step + parameters.tabu_base + draw(status, parameters.tabu_spread + 1)
                )
                if column.x > state.chain[link].value:
                    column.no_fall = until
                else:
                    column.no_rise = until
                column.changed = status.step
            status.moves += status.num_chain
            status.moves_since_refresh += status.num_chain
            return True
        while status.num_chain > 0:
            status.num_chain -= 1
            undo_link = state.chain[status.num_chain]
            set_value(matrix, state, undo_link.place, undo_link.value)
    return False
