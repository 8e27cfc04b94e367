"""Bulk rounding: many columns of a fractional point are rounded, then propagated, at a time.

Section 2.3 of "GPU-Accelerated Primal Heuristics for Mixed Integer Programming" (arXiv 2510.20499).
Columns are sorted by type and fraction, then, stably, by how much of the rows' slack they take. A
bulk of about the square root of what is left is rounded by chance, twice; a cache of what probing
has found may choose the values and say what follows. If propagation contradicts both bulks, the
columns are rounded one by one; if one cannot be, the box is repaired. The first repair that fails
ends all care: the rest is rounded with contradictions passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.dive import (
    Attempt,
    new_search,
    new_walk,
    seeded,
)
from solvers.mip.heuristics.fix_and_propagate.strategy import guide_of
from solvers.mip.inference.domain import LENIENT, STRICT, Domain
from solvers.mip.model import IndexArray, MipModel
from solvers.mip.portfolio.budget import SLICE, Budget
from solvers.native.mip_heuristics_fix_and_propagate_bulk import (
    draw,
    fix_bulk,
    next_open,
    slack_consumption,
)
from solvers.native.mip_inference_domain import decide

ONE_BY_ONE = 36
"""The last so many columns are rounded one at a time (the paper's)."""

FRACTIONS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4])
"""Cuts between the cells of the first sort, within which columns are shuffled (cuOpt's)."""

SORT_AGAIN = 0.05
"""Share of the open columns whose fixing makes the slacks worth another look.

The paper sorts before each bulk, which for a million columns would take longer than the rest.
"""

REPAIR_OF_REMAINING, REPAIR_OF_ELAPSED = 1 / 5, 1 / 3
"""A repair may take these shares of the budget, of time or of work (the paper's)."""

SMALLEST_REPAIR = 100_000
"""Entries that a repair may visit in any case, if work is what counts."""

Bulks = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


class BulkChooser(Protocol):
    """Chooses the values of a bulk so that what they imply agrees; ``ProbingCache`` does."""

    def choose(
        self,
        columns: IndexArray,
        first_values: FloatArray,
        second_values: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> Bulks:
        """Return both bulks (k,), and bounds (n,) that hold where the first one does."""
        ...


@dataclass(frozen=True, eq=False)
class Rounded:
    """A rounded point.

    Parameters
    ----------
    x : (n,) float64
        Integer columns whole, all columns within the model's bounds.
    is_consistent : bool
        Whether all integers were fixed without a contradiction that was not repaired.
    work : int
        Entries of the matrix visited.
    """

    x: FloatArray
    is_consistent: bool
    work: int


def round_point(
    model: MipModel,
    x: FloatArray,
    budget: Budget,
    seed: int,
    chooser: BulkChooser | None = None,
    domain: Domain | None = None,
) -> Rounded:
    """Round the integer columns of a point ``x`` (n,) with propagation, bulk by bulk.

    A budget that runs out leaves the remaining columns at their nearest integers.

    Parameters
    ----------
    chooser : BulkChooser, optional
        Without one the values are those drawn.
    domain : Domain, optional
        Propagated box to stay within, so that it need not be made; it is not changed.
    """
    begin = 0
    if domain is None:
        domain = Domain.of(model)
        if not domain.propagate():
            domain = Domain.of(model)
        begin = domain.work
        budget.charge(begin)
    rounding = _Rounding(model, x, budget, seed, chooser, domain.copy())
    rounding.run()
    return Rounded(rounding.point(), rounding.attempt.is_consistent, begin + rounding.attempt.work)


class _Rounding:
    """A rounding on its way."""

    def __init__(
        self,
        model: MipModel,
        x: FloatArray,
        budget: Budget,
        seed: int,
        chooser: BulkChooser | None,
        domain: Domain,
    ) -> None:
        self.x = np.clip(x, model.lower, model.upper)
        self.budget = budget
        self.chooser = chooser
        self.domain = domain
        self.repairing = True
        columns: IndexArray = model.integers
        search = new_search(columns, domain.box.bounds, seeded(seed, model.num_columns))
        walk = new_walk(model.num_rows, model.num_columns)
        self.attempt = Attempt(model, domain, guide_of(model, self.x), walk, search, budget)
        self.open = first_order(self.x, columns, domain.box.bounds, seed)
        self._cursor = 0
        self._is_sorted = False

    def run(self) -> None:
        """Round until no integer column is open, then settle the continuous ones."""
        while not self.attempt.is_spent():
            columns = self._next_bulk()
            if columns.size == 0:
                self.attempt.charge()
                break
            self._round_bulk(columns)
            self.domain.forget()
        else:
            self.attempt.is_complete = False
        self.attempt.settle()
        continuous = np.flatnonzero(self.attempt.model.is_integer == 0).astype(np.int32)
        if continuous.size and self.attempt.is_consistent:
            self.attempt.fix_continuous(continuous, True)

    def point(self) -> FloatArray:
        """Return the point reached; what is still open is taken from the given point."""
        low, high = self.domain.box.bounds
        return self.attempt.model.rounded(np.where(low < high, np.clip(self.x, low, high), low))

    def _next_bulk(self) -> IndexArray:
        """Return the next open columns of the order, which is made anew once enough is fixed."""
        left = self.open.size - self._cursor
        if left <= ONE_BY_ONE or left <= (1.0 - SORT_AGAIN) * self.open.size or not self._is_sorted:
            self._sort()
            left = self.open.size
        columns = np.zeros(1 if left <= ONE_BY_ONE else int(np.sqrt(left)), dtype=np.int32)
        count, self._cursor = next_open(self.open, self._cursor, self.domain.box.bounds, columns)
        return columns[:count] if count or left == 0 else self._next_bulk()

    def _sort(self) -> None:
        """Drop the columns that are fixed by now, and sort the others by slack consumption."""
        low, high = self.domain.box.bounds
        self.open = self.open[low[self.open] < high[self.open]]
        consumption = np.empty(self.open.size)
        slack_consumption(self.domain.model, self.domain.box, self.open, consumption)
        self.open = self.open[np.argsort(-consumption, kind="stable")]
        self._cursor = 0
        self._is_sorted = True

    def _round_bulk(self, columns: IndexArray) -> None:
        bounds, random = self.domain.box.bounds, self.attempt.search.random
        first, second = np.empty(columns.size), np.empty(columns.size)
        for values in (first, second):
            draw(self.x, columns, bounds, random, values)
        low = high = np.zeros(0)
        if self.chooser is not None:
            first, second, low, high = self.chooser.choose(
                columns, first, second, bounds[0], bounds[1]
            )
        place = self.domain.mark()
        if not self.repairing:
            self._fix(columns, first, low[:0], high[:0], LENIENT)
            return
        if self._fix(columns, first, low, high, STRICT):
            return
        self.domain.undo(place)
        if columns.size > 1 and not np.array_equal(first, second):
            if self._fix(columns, second, low[:0], high[:0], STRICT):
                return
            self.domain.undo(place)
        for j, one, other in zip(columns, first, second, strict=True):
            self._round_one(int(j), float(one), float(other))

    def _fix(
        self,
        columns: IndexArray,
        values: FloatArray,
        low: FloatArray,
        high: FloatArray,
        lenient: bool,
    ) -> bool:
        domain = self.domain
        domain.reserve()
        return fix_bulk(domain.model, domain.box, columns, values, low, high, domain.cap, lenient)

    def _round_one(self, j: int, first: float, second: float) -> None:
        """Fix a column to the first consistent value of its draws and their neighbours."""
        low, high = self.domain.lower[j], self.domain.upper[j]
        if low == high:
            return
        if self.repairing:
            step = 1.0 if self.x[j] > first else -1.0
            for value in dict.fromkeys((first, second, first + step, first - step)):
                if not low <= value <= high:
                    continue
                place = self.domain.mark()
                if self.domain.fix(j, value):
                    return
                self.domain.undo(place)
        value = float(min(max(first, low), high))
        self.domain.mark()
        self.domain.reserve()
        domain = self.domain
        fixed = decide(domain.model, domain.box, j, value, value, domain.cap, LENIENT)
        if not fixed and self.repairing:
            self.repairing = self._repair()

    def _repair(self) -> bool:
        """Repair within a share of the budget; whether the box is consistent again."""
        self.attempt.charge()
        budget = self.budget
        if budget.is_timed:
            piece = budget.part(
                seconds=min(
                    REPAIR_OF_REMAINING * budget.seconds_left, REPAIR_OF_ELAPSED * budget.seconds
                )
            )
        else:
            spent = max(SMALLEST_REPAIR, REPAIR_OF_ELAPSED * self.attempt.work)
            piece = budget.part(work=min(REPAIR_OF_REMAINING * budget.work_left, spent))
        work = int(min(SLICE, piece.work_left))
        return self.attempt.repair(work) or (not piece.spent() and self.attempt.repair(work))


def first_order(x: FloatArray, columns: IndexArray, bounds: FloatArray, seed: int) -> IndexArray:
    """Sort columns by type and fraction in 21 cells: binary, ternary, wider; shuffled in each."""
    rng = np.random.default_rng(seed)
    width = bounds[1, columns] - bounds[0, columns]
    kind = np.where(width <= 1.0, 0, np.where(width <= 2.0, 1, 2))
    fraction = np.abs(x[columns] - np.round(x[columns]))
    cell = np.searchsorted(FRACTIONS, fraction)
    order: IndexArray = columns[np.lexsort((rng.random(columns.size), cell, kind))]
    return order
