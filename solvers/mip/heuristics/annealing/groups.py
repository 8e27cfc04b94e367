"""Groups of binaries of which exactly one is 1, and all binaries of a model as choices.

Rows that ask for exactly one of their binaries come first, then rows that allow one at most, and
each binary that is left is a choice by itself. What is not chosen is a column, too, an empty one,
so that every choice is always made and a move is always an exchange.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray
from solvers.mip.model import IndexArray, MipModel

LEAST_GROUPS = 4
"""Fewer groups leave too little to exchange."""

LARGEST_TABLE = 4_000_000
"""Entries of the table of columns by group and value."""


def _counting(model: MipModel, is_open: BoolArray, wanted: BoolArray) -> IndexArray:
    """Return the wanted rows in which open binaries count to one, the longest first."""
    row = np.repeat(np.arange(model.num_rows), model.rows.lengths)
    fixed = np.where(is_open, 0.0, model.lower)[model.rows.indices] * model.rows.data
    mine = is_open[model.rows.indices]
    is_fixed = (model.lower == model.upper)[model.rows.indices]
    fits = (mine & (model.rows.data == 1.0)) | is_fixed
    bad = model.rows.count(~fits)
    with np.errstate(invalid="ignore"):
        beside = np.bincount(row[is_fixed], fixed[is_fixed], minlength=model.num_rows)
        low, right = model.row_lower - beside, model.row_upper - beside
    count = model.rows.count(mine)
    says_one = (right == 1.0) & ((low == 1.0) | (low <= 0.0))
    rows = np.flatnonzero(wanted & says_one & (bad == 0) & (count > 1))
    found: IndexArray = rows[np.argsort(-count[rows], kind="stable")].astype(np.int32)
    return found


def disjoint(
    model: MipModel, rows: IndexArray, is_open: BoolArray
) -> tuple[IndexArray, IndexArray]:
    """Choose rows without common open columns, in their order.

    Returns the number of the chosen row of each column (n,), -1 for none, and those rows.
    """
    number = np.full(model.num_columns, -1, dtype=np.int32)
    chosen: list[int] = []
    for i in rows.tolist():
        columns = model.rows[i][0]
        columns = columns[is_open[columns]]
        if (number[columns] >= 0).any():
            continue
        number[columns] = len(chosen)
        chosen.append(i)
    return number, np.array(chosen, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Choices:
    """Groups (g of them) of the n columns and of d empty ones that stand for none."""

    start: IndexArray
    """(g+1,) int32: columns of choice i are ``column[start[i]:start[i+1]]``."""
    column: IndexArray
    """(k,) int32."""
    group: IndexArray
    """(n+d,) int32: of each column; -1 for those in none."""
    none: IndexArray
    """(g,) int32: the empty column of each choice, -1 where one has to be chosen."""
    value: IndexArray
    """(n+d,) int32: number of the row across groups that a column is in: what two groups can
    exchange; -1 for none. Only the e choices that ask for exactly one have values; they come
    first."""
    table: IndexArray
    """(e, v) int32: the column of a group with a value, -1 where there is none."""
    is_kept: BoolArray
    """(m,) bool: rows that hold whatever is chosen."""

    @property
    def count(self) -> int:
        """Number of choices."""
        return int(self.none.size)


def find_choices(model: MipModel) -> Choices:
    """Return the choices that the binaries of a model are."""
    n, is_kept = model.num_columns, np.zeros(model.num_rows, dtype=bool)
    is_open = (model.lower < model.upper) & model.is_binary
    is_equation = model.row_lower == model.row_upper
    group, exact, value, table = _groups(model, _counting(model, is_open, is_equation), is_open)
    is_open &= group < 0
    at_most, optional = disjoint(model, _counting(model, is_open, ~is_equation), is_open)
    is_kept[exact] = is_kept[optional] = True
    group = np.where(at_most >= 0, at_most + exact.size, group)
    single = np.flatnonzero(is_open & (at_most < 0))
    group[single] = exact.size + optional.size + np.arange(single.size)
    empty = exact.size + np.arange(optional.size + single.size)
    group = np.concatenate([group, empty]).astype(np.int32)
    order = np.argsort(group, kind="stable").astype(np.int32)
    order = order[group[order] >= 0]
    count = exact.size + empty.size
    none = np.full(count, -1, dtype=np.int32)
    none[empty] = n + np.arange(empty.size)
    return Choices(
        start=np.searchsorted(group[order], np.arange(count + 1)).astype(np.int32),
        column=order,
        group=group,
        none=none,
        value=np.append(value, np.full(empty.size, -1, dtype=np.int32)),
        table=table,
        is_kept=is_kept,
    )


def _groups(
    model: MipModel, rows: IndexArray, is_open: BoolArray
) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray]:
    """Return groups of columns (n,), their rows, values (n,), and the table of columns by both.

    ``rows`` ask for exactly one of their open columns. There are no groups where they are few, and
    no values where the table would be too large.
    """
    group, chosen = disjoint(model, rows, is_open)
    if chosen.size < LEAST_GROUPS:
        group[:], rows = -1, rows[:0]
        chosen = chosen[:0]
    value, across = disjoint(model, rows[~np.isin(rows, chosen)], is_open)
    if chosen.size * max(1, across.size) > LARGEST_TABLE:
        value[:], across = -1, across[:0]
    value[group < 0] = -1
    table = np.full((max(1, chosen.size), max(1, across.size)), -1, dtype=np.int32)
    valued = np.flatnonzero(value >= 0)
    table[group[valued], value[valued]] = valued
    return group, chosen, value, table
