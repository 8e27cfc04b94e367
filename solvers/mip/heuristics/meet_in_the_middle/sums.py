"""Models that are a few sums: equations of whole numbers, with slacks that cost something."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray, MipModel, lowered

WholeArray = npt.NDArray[np.int64]

MOST_ROWS = 40
"""Equations up to which a model is looked at; the deviations to be tried grow with their number."""

MOST_COLUMNS = 400
"""Columns up to which a model is looked at; beyond about sixty only parts are searched through."""

LARGEST_COEFFICIENT = 2.0**31
"""Coefficients and sides stay below, so that sums of them are exact in 64 bits."""


@dataclass(frozen=True)
class Slack:
    """A column that mends one equation: by ``step`` (1 or -1) a unit above its lower bound."""

    column: int
    row: int
    """The row as a number among the sums."""
    step: int
    price: float
    """Cost of a unit, positive."""
    room: float
    """Units up to its upper bound, whole or infinite."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Equations ``matrix @ steps + slacks = side`` in which each column takes a few whole steps."""

    columns: IndexArray
    """(k,) int32: columns that take steps from their lower bounds."""
    counts: WholeArray
    """(k,) int64: values of each, at least two."""
    matrix: WholeArray
    """(r, k) int64."""
    side: WholeArray
    """(r,) int64: what is asked for where all columns are at their lower bounds."""
    slacks: tuple[Slack, ...]
    base: FloatArray
    """(n,) float64: all columns of the model at their lower bounds."""
    offset: float
    """The model's objective at ``base``."""


def find_sums(model: MipModel, lower: FloatArray, upper: FloatArray) -> Sums | None:
    """Return the sums that a model consists of within bounds (n,); None if it is another kind."""
    if not 0 < model.num_rows <= MOST_ROWS or np.any(model.row_lower != model.row_upper):
        return None
    if not _is_whole(model.rows.data) or not _is_whole(model.row_lower):
        return None
    is_open = lower < upper
    is_slack = _slack_columns(model) & is_open
    columns = np.flatnonzero(is_open & ~is_slack).astype(np.int32)
    if not 0 < columns.size <= MOST_COLUMNS or not np.isfinite(lower).all():
        return None
    mine = (model.is_integer[columns] == 1) & (model.cost[columns] == 0.0)
    if not mine.all() or not np.isfinite(upper[columns]).all() or not _is_whole(lower):
        return None
    slacks = _slacks(model, np.flatnonzero(is_slack), lower, upper)
    side = np.rint(model.row_lower - model.activity(lower))
    if not _is_whole(side):
        return None
    return Sums(
        columns,
        (upper - lower)[columns].astype(np.int64) + 1,
        _dense(model, columns),
        side.astype(np.int64),
        slacks,
        lower.copy(),
        model.objective_at(lower),
    )


def _is_whole(values: FloatArray) -> bool:
    """Whether all values are integers that are not too large."""
    fits = np.abs(values) < LARGEST_COEFFICIENT
    return bool(np.all(fits) and np.all(values == np.rint(values)))


def _slack_columns(model: MipModel) -> npt.NDArray[np.bool_]:
    """Return which columns (n,) stand in one row, with a coefficient of one, and cost something."""
    first = np.minimum(model.columns.indptr[:-1], max(0, model.num_nonzeros - 1))
    is_single = model.columns.lengths == 1
    is_unit = np.abs(model.columns.data[first]) == 1.0
    slack: npt.NDArray[np.bool_] = is_single & is_unit & (model.cost > 0.0)
    return slack


def _slacks(
    model: MipModel, columns: npt.NDArray[np.intp], lower: FloatArray, upper: FloatArray
) -> tuple[Slack, ...]:
    first = model.columns.indptr[columns]
    return tuple(
        Slack(
            int(j),
            int(model.columns.indices[at]),
            int(model.columns.data[at]),
            float(model.cost[j]),
            float(np.floor(upper[j] - lower[j])),
        )
        for j, at in zip(columns, first, strict=True)
    )


def _dense(model: MipModel, columns: IndexArray) -> WholeArray:
    """Return the coefficients (r, k) of some columns."""
    matrix = np.zeros((model.num_rows, columns.size), dtype=np.int64)
    for place, j in enumerate(columns):
        rows, values = model.columns[j]
        matrix[rows, place] = values
    return matrix


@dataclass(frozen=True, eq=False)
class Deviations:
    """Whole vectors that slacks can add to the sums, and what each costs."""

    amounts: WholeArray
    """(v, r) int64: by rising cost."""
    cost: FloatArray
    """(v,) float64."""
    is_complete: bool
    """Whether there is no other that costs less than the limit."""

    def count_below(self, limit: float) -> int:
        """Return how many cost less than a limit."""
        return int(np.searchsorted(self.cost, lowered(limit)))


def cheapest_deviations(sums: Sums, limit: float, most: int) -> Deviations:
    """Return the deviations that cost less than ``limit``, at most so many of the cheapest."""
    rows = sums.side.size
    options = [_options(sums, row, limit, most) for row in range(rows)]
    amounts: list[list[int]] = []
    costs: list[float] = []
    waiting = [(0.0, (0,) * rows, 0)]
    top = lowered(limit)
    while waiting and waiting[0][0] < top and len(costs) < most:
        cost, places, last = heapq.heappop(waiting)
        amounts.append([options[row][place][1] for row, place in enumerate(places)])
        costs.append(cost)
        # each vector has one parent: with the last place that is not the first set back by one
        for row in range(last, rows):
            place = places[row] + 1
            if place < len(options[row]):
                more = options[row][place][0] - options[row][place - 1][0]
                child = (*places[:row], place, *places[row + 1 :])
                heapq.heappush(waiting, (cost + more, child, row))
    complete = not (waiting and waiting[0][0] < top)
    table = np.array(amounts, dtype=np.int64).reshape(len(costs), rows)
    return Deviations(table, np.array(costs), complete)


def _options(sums: Sums, row: int, limit: float, most: int) -> list[tuple[float, int]]:
    """Return costs and amounts of one row, by rising cost; no more than can be of use."""
    found = [(0.0, 0)]
    for step in (1, -1):
        amount, cost = 0, 0.0
        for slack in _of(sums, row, step):
            units = 0
            while units < slack.room and cost + slack.price < limit and abs(amount) < most:
                units, amount, cost = units + 1, amount + step, cost + slack.price
                found.append((cost, amount))
    return sorted(found)


def _of(sums: Sums, row: int, step: int) -> list[Slack]:
    """Return the slacks of a row in one direction, cheapest first."""
    mine = [slack for slack in sums.slacks if slack.row == row and slack.step == step]
    return sorted(mine, key=lambda slack: (slack.price, slack.column))


def slack_values(sums: Sums, amount: WholeArray) -> dict[int, float]:
    """Return the units of each slack that together make up an amount (r,), as cheaply as can be."""
    values: dict[int, float] = {}
    for row, wanted in enumerate(amount):
        left = abs(int(wanted))
        for slack in _of(sums, row, 1 if wanted > 0 else -1):
            units = min(left, slack.room)
            values[slack.column] = float(units)
            left -= int(units)
    return values
