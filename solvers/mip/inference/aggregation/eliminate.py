"""Taking columns out of the rows, one after the other.

The pair of equation and column that makes the matrix fill in least comes first (Markowitz 1957),
and what would fill it in beyond a few times its size does not come at all. Which columns may go
says ``choose``.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.mip.inference.aggregation.aggregated import Aggregated
from solvers.mip.inference.aggregation.choose import decides, may_go
from solvers.mip.inference.aggregation.merge import Row, added, changed_matrix
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget

MOST_FILL = 8.0
"""Entries of the model that is left, at the most, in entries of the model as it was: stocks over a
hundred periods make prefix sums, whose entries are half a hundred times those of the chain, but
the chain is a small part of a model."""

MOST_AT_ONCE, FEW = 0.25, 1000
"""Entries that may come in for one column, in entries of the model, and so many in any case: what
takes more is no chain, and walks are slower without it than with it."""

MOST_WORK = 1e7
"""Entries visited at the most, about a second's work; those that the interpreter visits count as
:data:`INTERPRETED`."""

INTERPRETED = 10.0

LARGEST = 1_000_000
"""Entries of a model up to which columns go out of it, a second's work or two."""

MOST_STEPS = 30_000
"""Columns looked at, at the most, at some thirty microseconds each."""


def eliminate(model: MipModel, budget: Budget | None = None) -> Aggregated | None:
    """Return a model without the columns that equations imply; None where there are none.

    Parameters
    ----------
    model : MipModel
    budget : Budget, optional
        Ended early, fewer columns have gone. Charged with the entries visited.
    """
    if model.num_nonzeros > LARGEST:
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
