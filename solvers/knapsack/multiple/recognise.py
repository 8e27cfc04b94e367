"""Which models are multiple knapsack problems, however they were written.

Such a model has a binary column for each item and knapsack, a row `sum of an item's columns <= 1`
for each item and a capacity row for each knapsack. So every column joins two rows, one of each
family, and the families are found by colouring. The weights of a capacity row may be a multiple of
another's. A column may be missing, or fixed at zero, where the item does not fit anyway; an item
with one column needs no row. Items that must be packed, or whose profit depends on the knapsack,
make another problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from solvers.core.errors import ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.knapsack.items import LARGEST, IntArray, Model
from solvers.knapsack.multiple.items import MultipleKnapsack
from solvers.knapsack.recognise import Box, floor_of, whole, whole_box, whole_weights

NONE = -1
"""Stands for a column, item or row that is not there."""


@dataclass(frozen=True, eq=False)
class MultipleModel(Model[MultipleKnapsack]):
    """A model with a column for each item and knapsack, by (items, knapsacks) in ``column``.

    Items without weight have the same column everywhere.
    """

    column: IntArray

    def point(self, place: IntArray) -> FloatArray:
        """Return the (n,) values of the columns for a packing."""
        x = self.nothing
        packed = np.flatnonzero(place >= 0)
        x[self.column[packed, place[packed]]] = 1.0
        return x


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of several columns, all ``matrix x <= side``, and the columns that are not fixed."""

    matrix: SparseRows
    side: FloatArray
    columns: IntArray
    is_item: BoolArray


def recognise(problem: Problem) -> MultipleModel | None:
    """Return a model as a multiple knapsack problem, or None if it is none."""
    if not problem.num_columns or not problem.integrality.all():
        return None
    box = whole_box(problem)
    if box is None or box.lower.any() or (box.upper < 0.0).any():
        return None
    rows = _rows(problem, box)
    if rows is None:
        return None
    families = _families(rows)
    if families is None:
        return None
    item_of, knapsack_of = families
    if (item_of < 0).any() and (box.upper[rows.columns[item_of < 0]] > 1.0).any():
        return None  # several copies of an item without a row of its own
    return _as_items(problem, rows, item_of, knapsack_of)


def _rows(problem: Problem, box: Box) -> _Rows | None:
    """Turn all rows of several columns to upper sides; None where one is something else."""
    A, is_left = problem.entries, box.upper > 0.0
    several = (A.lengths > 1) & (A.count(is_left[A.indices]) > 0)
    lower, upper = problem.row_lower[several], problem.row_upper[several]
    if lower.size < 2:
        return None
    matrix = A.select(several, is_left)
    first = matrix.indptr[:-1]
    least, most = (f.reduceat(matrix.data, first) for f in (np.minimum, np.maximum))
    negative = most < 0.0
    if ((least < 0.0) & ~negative).any():
        return None
    side = np.where(negative, -lower, upper)
    other = np.where(negative, -upper, lower)
    if not np.isfinite(side).all() or (other > 0.0).any():
        return None
    matrix = replace(matrix, data=matrix.data * np.where(negative, -1.0, 1.0)[matrix.row])
    size = np.where(negative, -most, least)
    alike = np.where(negative, least == most, least == most)
    is_item = alike & (side >= size) & (side < 2.0 * size)
    return _Rows(matrix, side, np.flatnonzero(is_left), is_item)


def _families(rows: _Rows) -> tuple[IntArray, IntArray] | None:
    """Return the item row and the capacity row of each column, ``NONE`` where there is none."""
    by_column = rows.matrix.transposed()
    count = by_column.lengths
    if count.max() > 2 or count.min() < 1:
        return None
    first = by_column.indices[by_column.indptr[:-1]].astype(np.int64)
    last = by_column.indices[by_column.indptr[1:] - 1].astype(np.int64)
    ends = first[count == 2], last[count == 2]
    if not (rows.is_item[ends[0]] | rows.is_item[ends[1]]).all():
        return None
    joined = np.zeros(rows.matrix.shape[0], dtype=np.bool_)
    joined[ends[0]] = joined[ends[1]] = True
    colour = _colours(joined, *ends)
    if colour is None:
        return None
    for items in (0, 1):
        of_item = (colour == items) | ~joined  # a row that joins no other is of a weightless item
        if not rows.is_item[of_item].all() or of_item.all() or not of_item.any():
            continue
        here = of_item[first]
        single = count == 1
        item = np.where(here, first, np.where(single, NONE, last))
        knapsack = np.where(here, np.where(single, NONE, last), first)
        return item, knapsack
    return None


def _colours(joined: BoolArray, first: IntArray, last: IntArray) -> IntArray | None:
    """Colour the ends of every edge differently; None where that fails or there are two ways.

    ``joined`` are the rows at the ends of edges, whose colours are 0 and 1.
    """
    import scipy.sparse as sp  # for what is nearly certain to be one of these problems

    size = joined.size
    # every row stands there twice, once in each colour: two parts if it can be done in one way
    ends = np.concatenate([first, first + size]), np.concatenate([last + size, last])
    graph = sp.csr_array((np.ones(ends[0].size), ends), shape=(2 * size, 2 * size))
    _, label = sp.csgraph.connected_components(graph, directed=False)
    one, other = label[:size][joined], label[size:][joined]
    if not one.size or (one == other).any() or np.unique(label[np.tile(joined, 2)]).size != 2:
        return None
    return np.asarray(label[:size] == one[0], dtype=np.int64)


def _as_items(
    problem: Problem, rows: _Rows, item_row: IntArray, knapsack_row: IntArray
) -> MultipleModel | None:
    """Read items and knapsacks off the two families of rows."""
    item, n = _numbered(item_row)
    weighty = knapsack_row >= 0
    knapsack = np.full(item.size, NONE, dtype=np.int64)
    names, knapsack[weighty] = np.unique(knapsack_row[weighty], return_inverse=True)
    m = names.size
    profits = whole(-problem.cost[rows.columns])
    if profits is None or m < 2:
        return None
    profit = np.zeros(n, dtype=np.int64)
    profit[item] = profits.values
    if (profit[item] != profits.values).any():
        return None
    column = np.full((n, m), NONE, dtype=np.int64)
    column[item[weighty], knapsack[weighty]] = rows.columns[weighty]
    is_weightless = np.zeros(n, dtype=np.bool_)
    is_weightless[item[~weighty]] = True
    if is_weightless[item[weighty]].any():
        return None
    column[item[~weighty]] = rows.columns[~weighty, None]
    found = _weights(rows, names, item, knapsack, is_weightless)
    if found is None:
        return None
    weight, capacity = found
    if ((column < 0) & (weight[:, None] <= capacity)).any():
        return None
    try:
        problem_found = MultipleKnapsack(profit, weight, capacity)
    except ProblemError:
        return None
    size = f"{problem_found.num_items} items and {problem_found.num_knapsacks} knapsacks"
    sentence = f"a multiple knapsack problem of {size}"
    start = np.zeros(problem.num_columns, dtype=np.int64)
    return MultipleModel(problem_found, profits.scale, sentence, start, column)


def _numbered(item_row: IntArray) -> tuple[IntArray, int]:
    """Return the item of each column, one of its own where there is no row, and their number."""
    alone = item_row < 0
    own = np.where(alone, item_row.max(initial=0) + 1 + np.arange(item_row.size), item_row)
    names, item = np.unique(own, return_inverse=True)
    return item.astype(np.int64), int(names.size)


def _weights(
    rows: _Rows, names: IntArray, item: IntArray, knapsack: IntArray, is_weightless: BoolArray
) -> tuple[IntArray, IntArray] | None:
    """Return weights and capacities; None where rows are no multiples of the longest one."""
    n, m = is_weightless.size, names.size
    is_capacity = np.zeros(rows.side.size, dtype=np.bool_)
    is_capacity[names] = True
    matrix = rows.matrix.select(is_capacity)
    longest = int(np.argmax(matrix.lengths))
    reference = _whole_row(matrix, longest)
    if reference is None:
        return None
    held, weight_held, scale = reference
    weight = np.zeros(n, dtype=np.int64)
    weight[item[held]] = weight_held
    if ((weight == 0) != is_weightless).any():
        return None
    plain = matrix.data == _row_values(matrix, longest, item, n)[item[matrix.indices]]
    same = np.logical_and.reduceat(plain, matrix.indptr[:-1])
    capacity = np.zeros(m, dtype=np.int64)
    for j in range(m):
        factor = Fraction(scale)
        if not same[j]:
            found = _factor(matrix, j, weight, item)
            if found is None:
                return None
            factor = found
        room = floor_of(float(rows.side[names[j]]), factor)
        if abs(room) >= LARGEST:
            return None
        # a capacity beyond all weights is as good as one of them
        capacity[j] = room
    return weight, np.minimum(capacity, weight.sum())


def _row_values(matrix: SparseRows, row: int, item: IntArray, n: int) -> FloatArray:
    """Return a row's coefficients by item."""
    values = np.full(n, np.nan)
    columns, coefficients = matrix[row]
    values[item[columns]] = coefficients
    return values


def _whole_row(matrix: SparseRows, row: int) -> tuple[IntArray, IntArray, int] | None:
    """Return the columns of a row, its coefficients made whole, and by what factor."""
    columns, coefficients = matrix[row]
    found = whole_weights(coefficients)
    if found is None:
        return None
    return columns.astype(np.int64), found.values, found.scale


def _factor(matrix: SparseRows, row: int, weight: IntArray, item: IntArray) -> Fraction | None:
    """Return by what a row has to be multiplied to have the weights; None if by nothing."""
    found = _whole_row(matrix, row)
    if found is None:
        return None
    held, values, scale = found
    weights = [int(value) for value in weight[item[held]]]
    times = Fraction(weights[0], int(values[0]))
    if any(w != times * v for w, v in zip(weights, values.tolist(), strict=True)):
        return None
    return times * scale
