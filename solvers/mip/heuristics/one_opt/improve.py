"""Best improvement by single columns, then by pairs, until neither finds anything.

Shifts of single columns within the slack of their rows, and pairs from shared rows, of which the
exchange of two binaries in a partitioning row is one. Moves are scored at one point for
many columns at once, sorted by gain, and made one after the other, each checked again at the point
as it then is. The schedule asks once for each best point.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.budget import SLICE, Budget
from solvers.mip.model import ROUNDING, SAME, ByteArray, IndexArray, MipModel, is_feasible
from solvers.mip.portfolio.heuristic import (
    UNFINISHED,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
)
from solvers.native.mip_heuristics_one_opt import (
    apply_pairs,
    apply_shifts,
    columns_of,
    score_pairs,
    score_shifts,
)


class Walk:
    """A feasible point, changed by moves that keep every row and improve the objective.

    Parameters
    ----------
    x : (n,) float64
        A feasible point whose integer columns are whole; copied.
    """

    def __init__(self, model: MipModel, x: FloatArray) -> None:
        self.model = model
        self.x = np.array(x, dtype=np.float64)
        self.activity = model.activity(self.x)
        self.changed: ByteArray = np.zeros(model.num_rows, dtype=np.uint8)
        scale = abs(model.objective_at(self.x))
        self.least_gain = max(SAME, ROUNDING * scale)
        """Moves that gain no more than this are not made."""

    def open_columns(self) -> BoolArray:
        """Return which columns (n,) could improve the objective as far as their bound goes."""
        model = self.model
        room = np.where(model.cost < 0.0, model.upper - self.x, self.x - model.lower)
        least = np.where(model.is_integer == 1, 0.5, SAME)
        open_: BoolArray = (model.cost != 0.0) & (room > least)
        return open_

    def score_shifts(self, columns: IndexArray) -> tuple[FloatArray, IndexArray]:
        """Return the largest step of each column (k,), and the row that allows none or -1."""
        step, blocking = np.empty(columns.size), np.empty(columns.size, dtype=np.int32)
        score_shifts(columns, self.model, self, step, blocking)
        return step, blocking

    def score_pairs(
        self, columns: IndexArray, blocking: IndexArray, offset: int, limit: int
    ) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Return the best partner of each blocked column (k,) or -1, its step, and the gain."""
        partner = np.empty(columns.size, dtype=np.int32)
        step, gain = np.empty(columns.size), np.empty(columns.size)
        score_pairs(columns, blocking, offset, limit, self.model, self, partner, step, gain)
        return partner, step, gain

    def shift(self, columns: IndexArray) -> tuple[int, float]:
        """Move columns in this order; return moves of integer columns, and the gain of all."""
        return apply_shifts(columns, self.least_gain, self.model, self)

    def shift_pairs(
        self, columns: IndexArray, partner: IndexArray, partner_step: FloatArray
    ) -> tuple[int, float]:
        """Move pairs in this order; return moves with integer columns, and the gain of all."""
        return apply_pairs(columns, partner, partner_step, self.least_gain, self.model, self)

    def touched_columns(self) -> BoolArray:
        """Return the columns (n,) of rows changed since the last call."""
        wanted = np.zeros(self.model.num_columns, dtype=np.uint8)
        columns_of(self.changed, self.model, wanted)
        self.changed[:] = 0
        return wanted.astype(np.bool_)


PARTNERS = 256
"""Columns of the blocking row tried with each column in one round; other rounds try others."""

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


def improve(model: MipModel, x: FloatArray, budget: Budget, seed: int) -> FloatArray:
    """Improve a feasible point by moves of one and of two columns.

    Parameters
    ----------
    x : (n,) float64
        A feasible point; not changed. Continuous columns are moved, too, but an LP over them
        should come before and after.
    budget : Budget
        Asked about every 10 ms.
    seed : int
        Where the search for partners begins in long rows.

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
    walk = Walk(model, start)
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
    first = 0
    while first < columns.size and not budget.spent():
        before = float(work[first - 1]) if first else 0.0
        last = max(first + 1, int(np.searchsorted(work, before + SLICE)))
        budget.charge(float(work[last - 1]) - before)
        yield columns[first:last]
        first = last


def _partners(model: MipModel) -> float:
    """Return how many partners a column of an average entry has, as far as they are tried."""
    lengths = model.rows.lengths.astype(np.float64)
    return float(np.sum(lengths * np.minimum(lengths, PARTNERS)) / max(1.0, lengths.sum()))


SOURCE = "one-opt, two-opt"


@dataclass(eq=False)
class _Improving:
    context: HeuristicContext
    tried: int = 0


class Improve(Heuristic[_Improving, _Improving]):
    """One-opt and two-opt."""

    name = "improve"
    needs = Needs(pool_size=1)

    def prepare(self, context: HeuristicContext) -> _Improving:
        """Remember which point was tried last."""
        return _Improving(context)

    def share(self, prepared: _Improving, usual: float) -> float:
        """Return the share while the best point is new: this takes moments."""
        return usual if prepared.context.acceptance.pool.version != prepared.tried else 0.0

    def run(self, state: _Improving, budget: Budget, seed: int) -> Report:
        """Improve the best point."""
        model, pool = state.context.model, state.context.acceptance.pool
        version, best = pool.version, pool.best
        if best is None or version == state.tried:
            return UNFINISHED
        state.tried = version
        better = improve(model, best.x, budget, seed)
        if model.objective_at(better) < best.objective and state.context.submit(better, SOURCE):
            state.tried = pool.version
        return UNFINISHED
