"""Best improvement by single columns, then by pairs, until neither finds anything.

Shifts of single columns within the slack of their rows, and pairs from shared rows, of which the
exchange of two binaries in a partitioning row is one. Moves are scored at one point for
many columns at once, on the GPU if there is one, sorted by gain, and made by the CPU one after the
other, each checked again at the point as it then is. The schedule asks once for each best point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.heuristics.one_opt.kernels.moves import MOVES
from solvers.mip.model import ROUNDING, SAME, ByteArray, IndexArray, MipModel, is_feasible
from solvers.mip.portfolio.budget import SLICE, Budget
from solvers.mip.portfolio.heuristic import (
    UNFINISHED,
    Declined,
    Heuristic,
    HeuristicContext,
    Needs,
    Report,
)
from solvers.native.mip_heuristics_one_opt import apply_pairs, apply_shifts, columns_of

Static = tuple[tuple[Any, ...], ...]
"""A model as the kernels read it: its matrix by rows and columns, its rows' sides, its columns."""


class Walk:
    """A feasible point, changed by moves that keep every row and improve the objective.

    Parameters
    ----------
    x : (n,) float64
        A feasible point whose integer columns are whole; copied.
    device : Device, optional
        The device that scores moves; the CPU scores them without one.
    there : Static, optional
        The model in its memory, where that is there already.
    """

    def __init__(
        self, model: MipModel, x: FloatArray, device: Device | None, there: Static | None = None
    ) -> None:
        self.model = model
        self.x = np.array(x, dtype=np.float64)
        self.activity = model.activity(self.x)
        self.changed: ByteArray = np.zeros(model.num_rows, dtype=np.uint8)
        self._device = device
        self._is_integer = model.is_integer.astype(np.int32)
        self._there = laid_out(model, device) if there is None else there
        scale = abs(model.objective_at(self.x))
        self.least_gain = max(SAME, ROUNDING * scale)
        """Moves that gain no more than this are not made."""

    @property
    def on_device(self) -> bool:
        """Whether moves are scored on a GPU."""
        return self._device is not None and self._device.kind != "cpu"

    def open_columns(self) -> BoolArray:
        """Return which columns (n,) could improve the objective as far as their bound goes."""
        model = self.model
        room = np.where(model.cost < 0.0, model.upper - self.x, self.x - model.lower)
        least = np.where(model.is_integer == 1, 0.5, SAME)
        open_: BoolArray = (model.cost != 0.0) & (room > least)
        return open_

    def score_shifts(self, columns: IndexArray) -> tuple[FloatArray, IndexArray]:
        """Return the largest step of each column (k,), and the row that allows none or -1."""
        put, get = self._put, self._get
        step = put(np.empty(columns.size))
        blocking = put(np.empty(columns.size, dtype=np.int32))
        matrix = self._there[0]
        MOVES["score_shifts"](
            columns.size, put(columns), matrix[0], *matrix[3:], *self._point(), step, blocking,
            threads=1,
        )  # fmt: skip
        return get(step), get(blocking)

    def score_pairs(
        self, columns: IndexArray, blocking: IndexArray, offset: int, limit: int
    ) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Return the best partner of each blocked column (k,) or -1, its step, and the gain."""
        put, get = self._put, self._get
        partner = put(np.empty(columns.size, dtype=np.int32))
        step, partner_step, gain = (put(np.empty(columns.size)) for _ in range(3))
        MOVES["score_pairs"](
            columns.size, put(columns), put(blocking), offset, limit, *self._there[0],
            *self._point(), partner, step, partner_step, gain, threads=1,
        )  # fmt: skip
        return get(partner), get(partner_step), get(gain)

    def shift(self, columns: IndexArray) -> tuple[int, float]:
        """Move columns in this order; return moves of integer columns, and the gain of all."""
        return apply_shifts(columns, self.least_gain, self.model, self._is_integer, self)

    def shift_pairs(
        self, columns: IndexArray, partner: IndexArray, partner_step: FloatArray
    ) -> tuple[int, float]:
        """Move pairs in this order; return moves with integer columns, and the gain of all."""
        return apply_pairs(
            columns, partner, partner_step, self.least_gain, self.model, self._is_integer, self
        )

    def touched_columns(self) -> BoolArray:
        """Return the columns (n,) of rows changed since the last call."""
        wanted = np.zeros(self.model.num_columns, dtype=np.uint8)
        columns_of(self.changed, self.model, wanted)
        self.changed[:] = 0
        return wanted.astype(np.bool_)

    def _point(self) -> tuple[Any, ...]:
        """Return the point where moves are scored, from the rows' sides on."""
        _, sides, (cost, lower, upper, is_integer) = self._there
        activity, x = self._put(self.activity), self._put(self.x)
        return (*sides, activity, cost, lower, upper, x, is_integer)

    def _put(self, array: Any) -> Any:
        return array if self._device is None else self._device.to_device(array)

    def _get(self, array: Any) -> Any:
        return array if self._device is None else self._device.to_host(array)


def laid_out(model: MipModel, device: Device | None) -> Static:
    """Return matrix, sides and columns of a model for the kernels, in a device's memory."""
    rows, columns = model.rows, model.columns
    parts = (
        (rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices, columns.data),
        (model.row_lower, model.row_upper),
        (model.cost, model.lower, model.upper, model.is_integer.astype(np.int32)),
    )
    if device is None:
        return parts
    return tuple(tuple(device.to_device(array) for array in part) for part in parts)


PARTNERS = 256
"""Columns of the blocking row tried with each column in one round; other rounds try others."""

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
    model: MipModel,
    x: FloatArray,
    budget: Budget,
    seed: int,
    device: Device | None = None,
    there: Static | None = None,
) -> FloatArray:
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
    device : Device, optional
        A GPU that scores the moves; the same bits come out.
    there : Static, optional
        The model in its memory, where that is there already.

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
    with nullcontext() if device is None else device.activate():
        walk = Walk(model, start, device, there)
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


DEVICE_ENTRIES = 1_000_000
"""Nonzeros from which moves of one and two columns are scored on a GPU; below, a CPU takes
hundredths of a second for them."""

SOURCE = "one-opt, two-opt"


@dataclass(eq=False)
class _Improving:
    context: HeuristicContext
    device: Device | None
    there: Static | None  # the model in its memory
    tried: int = 0


class Improve(Heuristic[_Improving, _Improving]):
    """One-opt and two-opt on the CPU, for models that are not large enough for the GPU."""

    name = "improve"
    needs = Needs(pool_size=1)

    def prepare(self, context: HeuristicContext) -> _Improving:
        """Leave large models to the GPU, where there is one."""
        if context.device.kind == "cuda" and context.model.num_nonzeros >= DEVICE_ENTRIES:
            raise Declined("it runs on the GPU")
        return _Improving(context, None, None)

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
        better = improve(model, best.x, budget, seed, state.device, state.there)
        if model.objective_at(better) < best.objective and state.context.submit(better, SOURCE):
            state.tried = pool.version
        return UNFINISHED


class DeviceImprove(Improve):
    """The same on the model in a GPU's memory, for models that are large enough."""

    name = "improve on the GPU"
    needs = Needs(pool_size=1, device=True)

    def prepare(self, context: HeuristicContext) -> _Improving:
        """Leave small models to the CPU."""
        if context.model.num_nonzeros < DEVICE_ENTRIES:
            raise Declined("it runs on the CPU")
        return _Improving(context, context.device, laid_out(context.model, context.device))
