"""The model without the columns that its equations imply, for searches that take single steps.

A stock is what was there before and what has come and gone; a start time is the sum of the periods
times the binary of each. Such columns are there for the reader and for the LP, whose matrix they
keep sparse. For a local search they are a trap: to move one binary, the stock of every later period
has to move with it, and every step on the way violates an equation. Put in for the column, its
equation becomes a row with two sides, the column's bounds, which one step may cross and another
one mend.

``eliminate`` chooses columns and equations; ``Aggregated`` has the smaller model and the ways
between the two.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.mip.budget import LARGE_MODEL, Budget
from solvers.mip.model import SAME, ByteArray, IndexArray, MipModel, ShowInfeasible, Submit
from solvers.native.mip_inference_aggregation import add

# A model without the columns that others define, and the ways between it and the whole one.


@dataclass(frozen=True, eq=False)
class Aggregated:
    """What is left of a model of n columns when d of them are defined by the other k."""

    model: MipModel
    """Of the k columns that stay, with the bounds of the others as rows."""
    kept: IndexArray
    implied: IndexArray
    """(k,), (d,) int32: their numbers in the whole model."""
    matrix: sp.csr_array
    """(d, k) csr."""
    constant: FloatArray
    """(d,) float64: the implied columns are ``constant - matrix @ x``."""
    whole: MipModel
    """The whole model."""

    def to_whole(self, x: FloatArray) -> FloatArray:
        """Return the whole model's point (n,) for one of the model (k,)."""
        point = np.empty(self.whole.num_columns)
        point[self.kept] = x
        point[self.implied] = self.constant - self.matrix @ x
        return point

    def from_whole(self, x: FloatArray) -> FloatArray:
        """Return the model's point (k,) for one of the whole model (n,)."""
        part: FloatArray = x[self.kept]
        return part

    def submit_to(self, submit: Submit) -> Submit:
        """Return a submit for points of the model, which hands whole points on."""

        def full_submit(x: FloatArray, source: str) -> bool:
            return submit(self.to_whole(x), source)

        return full_submit

    def infeasible_to(self, show_infeasible: ShowInfeasible) -> ShowInfeasible:
        """Return what takes infeasible points of the model and hands whole points on.

        A defined column out of its bounds is put on the nearest one, and the rows that are
        violated then are counted anew.
        """

        def full_infeasible(x: FloatArray, violated_rows: int) -> None:
            point = self.whole.rounded(self.to_whole(x))
            show_infeasible(point, self.whole.violated_rows(point))

        return full_infeasible


# Which columns may go out of a model, and which equations decide them.
#
# A column may go if an equation decides it: an integer one where everything else in the equation
# is a whole multiple of its coefficient, so that it is whole by itself. Binary columns stay: a
# value of one of two is what a flip is for. Continuous columns go only where no integer can, and
# where their coefficient is not small beside the others: walkers have an LP behind them, which
# knows better what to do with such columns, and on models of flows they come further with them
# than without.


SMALLEST_PIVOT = 1e-2
"""Least coefficient of a continuous column that goes, beside the largest of its equation: rounding
errors grow by the inverse of it."""


def may_go(model: MipModel, *, integers: bool) -> BoolArray:
    """Return which columns (n,) may go: those of more than two values, in some equation.

    ``integers`` says whether integer columns are asked for, or continuous ones.
    """
    equation = np.repeat(model.row_lower == model.row_upper, model.rows.lengths)
    in_equation = np.zeros(model.num_columns, dtype=bool)
    in_equation[model.rows.indices[equation]] = True
    least_range = 1.0 if integers else 0.0
    wide = model.upper - model.lower > least_range
    eligible: BoolArray = in_equation & wide & ((model.is_integer == 1) == integers)
    return eligible


def decides(
    is_integer: ByteArray, columns: IndexArray, values: FloatArray, right: float, place: int
) -> bool:
    """Whether an equation decides the column at a place of it, a whole one to be whole.

    Parameters
    ----------
    is_integer : (n,) uint8
    columns, values : (k,) int32, float64
        The equation's entries.
    right : float
        Its right side.
    place : int
        Whose column is asked about.
    """
    pivot = values[place]
    if is_integer[columns[place]] == 0:
        return bool(abs(pivot) >= SMALLEST_PIVOT * np.max(np.abs(values)))
    if not (is_integer[columns] == 1).all():
        return False
    multiples = np.append(values, right) / pivot
    distance = np.abs(multiples - np.round(multiples))
    return bool(np.all(distance <= SAME * np.maximum(1.0, np.abs(multiples))))


# Adding a multiple of one sparse row to another, and the matrix with such rows.


Row = tuple[IndexArray, FloatArray]
"""Column numbers, rising, and coefficients."""


def added(row: Row, factor: float, other: Row) -> Row:
    """Return ``row + factor * other``, without entries that cancel."""
    size = row[0].size + other[0].size
    columns, values = np.empty(size, dtype=np.int32), np.empty(size)
    count = add(*row, *other, float(factor), columns, values)
    return columns[:count].copy(), values[:count].copy()


def changed_matrix(model: MipModel, changed: Mapping[int, Row]) -> sp.csr_array:
    """Return the matrix (m, n) of a model with other rows in place of some."""
    same = np.ones(model.num_rows, dtype=bool)
    same[list(changed)] = False
    row = model.rows.row
    stays = same[row]
    rows, columns, values = [row[stays]], [model.rows.indices[stays]], [model.rows.data[stays]]
    for i, (row_columns, row_values) in changed.items():
        rows.append(np.full(row_columns.size, i))
        columns.append(row_columns)
        values.append(row_values)
    triplets = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_array(triplets, shape=(model.num_rows, model.num_columns))


# Taking columns out of the rows, one after the other.
#
# The pair of equation and column that makes the matrix fill in least comes first (Markowitz 1957),
# and what would fill it in beyond a few times its size does not come at all. Which columns may go
# says ``choose``.


MOST_FILL = 8.0
"""Entries of the model that is left, at the most, in entries of the model as it was: stocks over a
hundred periods make prefix sums, whose entries are half a hundred times those of the chain, but
the chain is a small part of a model."""

MOST_AT_ONCE, FEW = 0.25, 1000
"""Entries that may come in for one column, in entries of the model, and so many in any case: what
takes more is no chain, and walks are slower without it than with it."""

MOST_WORK, INTERPRETED = 1e7, 10.0
"""Entries visited at the most, about a second's work, and what those count for that the interpreter
visits."""

MOST_STEPS = 30_000
"""Columns looked at, at the most, at some thirty microseconds each."""


def eliminate(model: MipModel, budget: Budget | None = None) -> Aggregated | None:
    """Return a model without the columns that equations imply; None where there are none.

    Parameters
    ----------
    budget : Budget, optional
        Ended early, fewer columns have gone. Charged with the entries visited.
    """
    if model.num_nonzeros > LARGE_MODEL:
        return None
    budget = Budget() if budget is None else budget
    for integers in (True, False):
        system = _System(model, integers=integers)
        for _ in range(MOST_STEPS):
            if not system.heap or budget.is_over():
                break
            before = system.work
            system.step()
            budget.charge(system.work - before)
        if system.definitions:
            return system.aggregated()
    return None


@dataclass(frozen=True)
class _Definition:
    """The column that a row defines, and its coefficient there."""

    column: int
    row: int
    coefficient: float


class _System:
    """The rows while columns go out of them, one after the other: integers, or continuous ones.

    ``constant`` (m,) is the right side of equations that have defined a column, less what the
    columns that went later have moved there.
    """

    def __init__(self, model: MipModel, *, integers: bool) -> None:
        self._model = model
        self._low, self._high = model.row_lower.copy(), model.row_upper.copy()
        self._constant = np.zeros(model.num_rows)
        self._cost, self._offset = model.cost.copy(), model.offset
        self._changed: dict[int, Row] = {}
        self._holders: dict[int, set[int]] = {}
        self._may_go = may_go(model, integers=integers)
        self._entries = model.num_nonzeros
        self._most_entries = MOST_FILL * model.num_nonzeros
        self._most_at_once = max(FEW, MOST_AT_ONCE * model.num_nonzeros)
        self.work = 0.0
        self.definitions: list[_Definition] = []
        self.heap: list[tuple[int, int, int]] = []
        self._fill_heap()

    def step(self) -> None:
        """Let the next column go, or put it back where its place has changed."""
        price, i, j = heapq.heappop(self.heap)
        columns = self._row(i)[0]
        if not self._is_equation(i) or not np.any(columns == j):
            return
        now = self._price(i, j)
        if now > price:
            self._submit(i)
        elif now <= self._room() and self.work <= MOST_WORK:
            self._go(i, j)

    def _room(self) -> float:
        """Return how many entries may come in for the next column."""
        return min(self._most_at_once, self._most_entries - self._entries)

    def aggregated(self) -> Aggregated:
        """Return what is left."""
        model = self._model
        implied = np.array([one.column for one in self.definitions], dtype=np.int32)
        gone = np.zeros(model.num_columns, dtype=bool)
        gone[implied] = True
        kept = np.flatnonzero(~gone).astype(np.int32)
        matrix = changed_matrix(model, self._changed)[:, kept]
        rows = np.array([one.row for one in self.definitions], dtype=np.int32)
        pivots = np.array([one.coefficient for one in self.definitions])
        sided = np.flatnonzero(np.isfinite(self._low) | np.isfinite(self._high))
        problem = Problem.from_arrays(
            self._cost[kept],
            matrix[sided],
            self._low[sided],
            self._high[sided],
            lower=model.lower[kept],
            upper=model.upper[kept],
            integrality=model.is_integer[kept] == 1,
            offset=self._offset,
        )
        scaled = sp.csr_array(sp.diags_array(1.0 / pivots) @ matrix[rows])
        return Aggregated(
            MipModel.of(problem), kept, implied, scaled, self._constant[rows] / pivots, model
        )

    def _fill_heap(self) -> None:
        model = self._model
        for j in np.flatnonzero(self._may_go).tolist():
            self._holders[j] = set(model.columns[j][0].tolist())
        count = model.rows.count(self._may_go[model.rows.indices])
        for i in np.flatnonzero((count > 0) & (self._low == self._high)).tolist():
            self._submit(i)

    def _row(self, i: int) -> Row:
        changed = self._changed.get(i)
        return self._model.rows[i] if changed is None else changed

    def _is_equation(self, i: int) -> bool:
        return bool(self._low[i] == self._high[i])

    def _price(self, i: int, j: int) -> int:
        """Return how many entries come in at the most where row i is put in for column j."""
        length, held = self._row(i)[0].size, len(self._holders[j])
        return (length - 1) * (held - 1) - length - held + 1

    def _submit(self, i: int) -> None:
        """Put an equation into the heap, with the column that it may define at the least price."""
        columns, values = self._row(i)
        if not self._is_equation(i) or columns.size < 2:
            return
        places = np.flatnonzero(self._may_go[columns])
        self.work += columns.size + INTERPRETED * places.size
        whole = self._model.is_integer[columns] == 1
        if whole.all():  # only the smallest coefficient divides the others, and one tells for all
            size = np.abs(values)
            places = places[size[places] == size.min()]
        else:
            places = places[~whole[places]]
        held = np.array([len(self._holders[j]) for j in columns[places].tolist()])
        ranked = places[np.argsort(held, kind="stable")].tolist()
        for place in ranked[:1] if whole.all() else ranked:
            right = float(self._low[i])
            if decides(self._model.is_integer, columns, values, right, place):
                j = int(columns[place])
                heapq.heappush(self.heap, (self._price(i, j), i, j))
                return

    def _go(self, i: int, j: int) -> None:
        """Put equation i in for column j everywhere."""
        columns, values = self._row(i)
        place = int(np.searchsorted(columns, j))
        pivot, right = float(values[place]), float(self._low[i])
        rest = np.delete(columns, place), np.delete(values, place)
        eligible = rest[0][self._may_go[rest[0]]].tolist()
        touched = sorted(self._holders.pop(j) - {i})
        self.work += INTERPRETED * len(touched) * len(eligible)
        for t in touched:
            self._put_in(t, j, pivot, rest, right)
            for k in eligible:
                self._holders[k].add(t)
        factor = self._cost[j] / pivot
        if factor != 0.0:
            self._cost[rest[0]] -= factor * rest[1]
            self._offset += factor * right
        self._cost[j] = 0.0
        self._may_go[j] = False
        self._changed[i] = rest
        self._entries -= 1
        ends = np.array([pivot * self._model.lower[j], pivot * self._model.upper[j]])
        self._constant[i] = right
        self._low[i], self._high[i] = right - ends.max(), right - ends.min()
        self.definitions.append(_Definition(j, i, pivot))
        for t in touched:
            self._submit(t)

    def _put_in(self, t: int, j: int, pivot: float, rest: Row, right: float) -> None:
        columns, values = self._row(t)
        place = int(np.searchsorted(columns, j))
        if place == columns.size or columns[place] != j:
            return  # it had cancelled there
        factor = float(values[place]) / pivot
        row = added((np.delete(columns, place), np.delete(values, place)), -factor, rest)
        self.work += columns.size + rest[0].size
        self._entries += row[0].size - columns.size
        self._changed[t] = row
        move = factor * right
        self._low[t] -= move
        self._high[t] -= move
        self._constant[t] -= move


__all__ = ["Aggregated", "eliminate"]
