"""Best improvement by single columns, then by pairs, until neither finds anything.

Shifts of single columns within the slack of their rows, and pairs from shared rows, of which the
exchange of two binaries in a partitioning row is one. Moves are scored at one point for
many columns at once, on the GPU if there is one, sorted by gain, and made by the CPU one after the
other, each checked again at the point as it then is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.one_opt.walk import Walk
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.model import IndexArray, MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget

PARTNERS = 256
"""Columns of the blocking row tried with each column in one round; other rounds try others."""

SLICE = 2_000_000
"""Entries of the matrix scored on the CPU in one call: about 10 ms."""

DEVICE_SLICE = 500_000_000
"""The same on a GPU."""

MISSES = 4
"""Rounds of pairs that find nothing, one after the other, before the end: where the rows are longer
than the partners tried, each round tries others."""

MOST_ROUNDS = 200
"""Rounds of pairs, and of single columns between two of them: more only go on like this where the
objective is unbounded, or where continuous columns take ever smaller steps."""

LARGEST_OFFSET = 2**30
"""Offsets stay below, so that adding a number of partners does not leave 32 bits."""

SETTLED = 1e-6
"""Relative gain of a round that moves continuous columns only, below which there is no other: an
LP does that better."""


def improve(
    model: MipModel, x: FloatArray, budget: Budget, seed: int, device: DeviceModel | None = None
) -> FloatArray:
    """Improve a feasible point by moves of one and of two columns.

    Parameters
    ----------
    model : MipModel
    x : (n,) float64
        A feasible point; not changed. Continuous columns are moved, too, but an LP over them
        should come before and after.
    budget : Budget
        Asked about every 10 ms.
    seed : int
        Where the search for partners begins in long rows.
    device : DeviceModel, optional
        The model in the memory of a GPU, which then scores the moves; the same bits come out.

    Returns
    -------
    (n,) array
        A feasible point of no greater objective in which, if the budget was not spent, no step of
        a single integer column improves the objective, nor one of the pairs that the last round
        tried. A copy of ``x`` if that is not feasible with its integer columns rounded and its
        columns within their bounds.
    """
    start = model.rounded(x)
    if not is_feasible(model, start):
        return np.array(x, dtype=np.float64)
    with nullcontext() if device is None else device.device.activate():
        walk = Walk(model, start, device)
        _descend(walk, budget, seed)
    better = model.objective_at(walk.x) <= model.objective_at(x)
    return walk.x if better and is_feasible(model, walk.x) else np.array(x, dtype=np.float64)


def _descend(walk: Walk, budget: Budget, seed: int) -> None:
    """Alternate between single columns and pairs until as many rounds of pairs as tell failed."""
    generator = np.random.default_rng(seed)
    longest = int(np.max(walk.model.rows.lengths, initial=0))
    patience = min(MISSES, -(-longest // PARTNERS))
    misses = 0
    _one_opt(walk, budget)
    for _ in range(MOST_ROUNDS):
        if misses >= patience or budget.spent():
            return
        if _two_opt(walk, budget, int(generator.integers(LARGEST_OFFSET))):
            misses = 0
            _one_opt(walk, budget)
        else:
            misses += 1


def _one_opt(walk: Walk, budget: Budget) -> None:
    """Shift single columns, the largest gain first, until nothing moves."""
    wanted = walk.open_columns()
    walk.changed[:] = 0
    cost = np.abs(walk.model.cost)
    for _ in range(MOST_ROUNDS):
        if budget.spent() or not wanted.any():
            return
        moves, gained = 0, 0.0
        for columns in _slices(walk, np.flatnonzero(wanted).astype(np.int32), 0.0, budget):
            gain = cost[columns] * walk.score_shifts(columns)[0]
            order = np.argsort(-gain, kind="stable")
            order = order[gain[order] > walk.least_gain]
            some, more = walk.shift(columns[order])
            moves, gained = moves + some, gained + more
        if not moves and gained <= SETTLED * max(1.0, abs(walk.model.objective_at(walk.x))):
            return
        wanted = walk.touched_columns() & walk.open_columns()


def _two_opt(walk: Walk, budget: Budget, offset: int) -> bool:
    """Try pairs of all blocked columns once; return whether one with an integer has moved."""
    columns = np.flatnonzero(walk.open_columns()).astype(np.int32)
    columns = columns[np.argsort(-np.abs(walk.model.cost[columns]), kind="stable")]
    moves = 0
    for part in _slices(walk, columns, _partners(walk.model), budget):
        _, blocking = walk.score_shifts(part)
        part, blocking = part[blocking >= 0], blocking[blocking >= 0]
        partner, partner_step, gain = walk.score_pairs(part, blocking, offset, PARTNERS)
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > walk.least_gain]
        moves += walk.shift_pairs(part[order], partner[order], partner_step[order])[0]
    return moves > 0


def _slices(
    walk: Walk, columns: IndexArray, partners: float, budget: Budget
) -> Iterator[IndexArray]:
    """Cut columns into parts of about a slice's work each, until the budget is spent."""
    model = walk.model
    lengths = model.columns.indptr[columns + 1] - model.columns.indptr[columns]
    mean = model.num_nonzeros / max(1, model.num_columns)
    work = np.cumsum(lengths + partners * (lengths + mean) + 1.0)
    slice_ = DEVICE_SLICE if walk.on_device else SLICE
    first = 0
    while first < columns.size and not budget.spent():
        before = float(work[first - 1]) if first else 0.0
        last = max(first + 1, int(np.searchsorted(work, before + slice_)))
        budget.charge(float(work[last - 1]) - before)
        yield columns[first:last]
        first = last


def _partners(model: MipModel) -> float:
    """Return how many partners a column of an average entry has, as far as they are tried."""
    lengths = model.rows.lengths.astype(np.float64)
    return float(np.sum(lengths * np.minimum(lengths, PARTNERS)) / max(1.0, lengths.sum()))
