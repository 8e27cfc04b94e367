"""Which models are multiple-choice knapsack problems, however they were written.

Such a model has whole-number columns, rows that choose one of several columns each, no column in
two of them, and one other row, which limits a weighted sum on one side. Columns that no row chooses
from form classes of their own, of an item for each of their values; there are at least two classes.
Coefficients are made whole exactly, and a model where that cannot be done is none of these.

A row that chooses has coefficients of one size. With the columns of negative sign complemented,
x' = 1 - x, it limits a sum of zeros and ones to one; so does ``x <= y``, which is ``x + y' <= 1``.
A row may be multiplied by -1, so that ``x + y >= 1`` is one as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.errors import ProblemError
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.knapsack.items import LARGEST, IntArray, Model
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.recognise import BOUND_SLACK, Box, upper_side, whole, whole_box, whole_row

MOST_VALUES = 64
"""Values of a column in no class up to which each of them becomes an item."""

NO_COLUMN = -1
"""Column of an item that stands for choosing nothing of a class."""


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows of several entries, and how they limit a sum to one."""

    row: IntArray
    """(k,) int64."""
    is_class: BoolArray
    """(k,) flags: of rows that say that at most one thing is chosen."""
    exactly: BoolArray
    """(k,) flags: of those of them that say exactly one."""
    turned: BoolArray
    """(k,) flags: of those of them whose columns of positive sign, not of negative, are
    complemented."""


def class_rows(problem: Problem) -> ClassRows:
    """Return what each row with several entries says about a choice."""
    A = problem.entries
    row = np.flatnonzero(A.lengths > 1)
    smallest, largest = (sizes[row] for sizes in A.row_sizes)
    size = np.where(largest == smallest, largest, np.nan)
    negative = A.count(A.data < 0.0)[row]
    positive = A.lengths[row] - negative
    upper, lower = problem.row_upper[row], problem.row_lower[row]
    alike = np.isfinite(size)
    scale = np.where(alike, size, 1.0)
    # the sum of the columns with the negative ones complemented, and the same of the row times -1
    high, low = _whole_sides(lower / scale, upper / scale, negative)
    turned_high, turned_low = _whole_sides(-upper / scale, -lower / scale, positive)
    plain = alike & (high == 1) & (low <= 1)
    turned = alike & ~plain & (turned_high == 1) & (turned_low <= 1)
    exactly = np.where(turned, turned_low, low) == 1
    return ClassRows(row, plain | turned, exactly, turned)


def _whole_sides(
    lower: FloatArray, upper: FloatArray, complemented: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return upper and lower limit of a sum of zeros and ones with so many complemented."""
    return (
        np.floor(upper + complemented + BOUND_SLACK),
        np.ceil(lower + complemented - BOUND_SLACK),
    )


@dataclass(frozen=True, eq=False)
class MultipleChoiceModel(Model[MultipleChoice]):
    """A model whose items set columns."""

    column: IntArray
    value: IntArray
    """(k,) int64 each: what column an item sets (``NO_COLUMN`` for none), and to what."""

    def point(self, chosen: IntArray) -> FloatArray:
        """Return the (n,) values of the columns for a selection."""
        x = self.start.copy()
        items = chosen[self.column[chosen] != NO_COLUMN]
        x[self.column[items]] = self.value[items]
        return x.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Items:
    """Items in any order: class, column, value, and whether the item is its column at the start."""

    group: IntArray
    column: IntArray
    value: IntArray


def recognise(problem: Problem) -> MultipleChoiceModel | None:
    """Return a model as a multiple-choice knapsack problem, or None if it is none."""
    if not problem.num_columns or not problem.integrality.all():
        return None
    count = problem.entries.lengths
    if count[count > 1].sum() > 2 * problem.num_columns:  # classes that share no column, and a row
        return None
    rows = class_rows(problem)
    capacity_row = _capacity_row(rows, count)
    if capacity_row is None:
        return None
    box = whole_box(problem)
    if box is None:
        return None
    group, complemented = _classes(problem, rows, capacity_row)
    if group is None:
        return None
    exactly = (rows.exactly & rows.is_class)[rows.row != capacity_row]
    start = _start(box, group, complemented)
    if start is None:
        return None
    items = _items(box, group, complemented, exactly)
    if items is None:
        return None
    return _model(problem, capacity_row, start, items)


def _capacity_row(rows: ClassRows, count: IntArray) -> int | None:
    """Return the one row that chooses nothing, or the longest where all could be choices."""
    if rows.row.size < 2:
        return None
    others = np.flatnonzero(~rows.is_class)
    if others.size > 1:
        return None
    place = others[0] if others.size else int(np.argmax(count[rows.row]))
    return int(rows.row[place])


def _classes(
    problem: Problem, rows: ClassRows, capacity_row: int
) -> tuple[IntArray | None, BoolArray]:
    """Return each column's class, -1 without one, and flags of complemented columns.

    None where a column is in two classes.
    """
    chosen = rows.row != capacity_row
    is_chosen = np.zeros(problem.num_rows, dtype=np.bool_)
    is_chosen[rows.row[chosen]] = True
    matrix = problem.entries.select(is_chosen)
    group = np.full(problem.num_columns, -1, dtype=np.int64)
    complemented = np.zeros(problem.num_columns, dtype=np.bool_)
    if np.bincount(matrix.indices, minlength=1).max(initial=0) > 1:
        return None, complemented
    group[matrix.indices] = matrix.row
    complemented[matrix.indices] = (matrix.data < 0) != rows.turned[chosen][matrix.row]
    return group, complemented


def _start(box: Box, group: IntArray, complemented: BoolArray) -> IntArray | None:
    """Return the columns' values where nothing is chosen; None where a class is of other columns.

    Columns of classes are zeros and ones, whatever their bounds allow beside: a sum of numbers that
    are not negative, limited to one, keeps each below that.
    """
    inside = group >= 0
    free = inside & ~complemented
    if (box.lower[inside] < 0).any() or (box.upper[inside & complemented] > 1).any():
        return None
    if (box.lower[free] > 1).any() or not np.isfinite(box.lower[~inside]).all():
        return None
    if np.abs(box.lower[~inside]).max(initial=0.0) >= LARGEST:
        return None
    start = np.where(inside, 0.0, box.lower)
    start[complemented] = 1.0
    return start.astype(np.int64)


def _items(box: Box, group: IntArray, complemented: BoolArray, exactly: BoolArray) -> _Items | None:
    """Return the items of all classes; None where a class has none, or a column too many."""
    num_classes = exactly.size
    inside = np.flatnonzero(group >= 0)
    here = group[inside]
    lower, upper = box.lower[inside], np.minimum(box.upper[inside], 1.0)
    may = np.where(complemented[inside], lower == 0.0, upper == 1.0)
    must = np.where(complemented[inside], upper == 0.0, lower == 1.0)
    forced = np.bincount(here[must], minlength=num_classes)
    if forced.max(initial=0) > 1:
        return None
    taken = inside[may & (must | (forced[here] == 0))]
    nothing = np.flatnonzero(~exactly & (forced == 0))
    alone = np.flatnonzero(group < 0)
    extent = box.upper[alone] - box.lower[alone]
    if extent.size and not extent.max() < MOST_VALUES:
        return None
    values = extent.astype(np.int64) + 1
    first = np.repeat(np.cumsum(values) - values, values)
    steps = np.arange(int(values.sum())) - first
    items = _Items(
        np.concatenate(
            [nothing, group[taken], np.repeat(num_classes + np.arange(alone.size), values)]
        ),
        np.concatenate([np.full(nothing.size, NO_COLUMN), taken, np.repeat(alone, values)]),
        np.concatenate(
            [
                np.zeros(nothing.size, dtype=np.int64),
                np.where(complemented[taken], 0, 1),
                np.repeat(box.lower[alone].astype(np.int64), values) + steps,
            ]
        ),
    )
    size = np.bincount(items.group, minlength=num_classes + alone.size)
    return items if size.min(initial=1) > 0 else None


def _model(
    problem: Problem, capacity_row: int, start: IntArray, items: _Items
) -> MultipleChoiceModel | None:
    """Make whole numbers of items' costs and weights, which count from the start."""
    limited, profits = upper_side(problem, capacity_row), whole(-problem.cost)
    row = None if limited is None else whole_row(*limited, start)
    if profits is None or row is None:
        return None
    weights, capacity = row
    order = np.argsort(items.group, kind="stable")
    column, value = items.column[order], items.value[order]
    change = np.where(column == NO_COLUMN, 0, value - start[column])
    sizes = np.bincount(items.group)
    if sizes.size < 2:
        return None
    largest = float(np.abs(change).max(initial=0))
    for numbers in (profits.values, weights.values):
        if float(np.abs(numbers).max(initial=0)) * largest >= LARGEST:
            return None
    try:
        choice = MultipleChoice(
            profits.values[column] * change,
            weights.values[column] * change,
            np.concatenate([[0], np.cumsum(sizes)]),
            capacity,
        )
    except ProblemError:
        return None
    factor = "" if weights.scale == 1 else f", weights times {weights.scale}"
    kind = "a multiple-choice knapsack problem of"
    sentence = f"{kind} {choice.num_classes} classes, {choice.num_items} items{factor}"
    return MultipleChoiceModel(choice, profits.scale, sentence, start, column, value)
