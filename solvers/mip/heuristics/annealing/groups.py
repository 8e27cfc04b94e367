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


@dataclass(frozen=True, eq=False)
class Groups:
    """Disjoint rows x_1 + ... + x_k = 1, and disjoint rows of the same kind across them.

    Parameters
    ----------
    start : (g+1,) int32
        Columns of group i are ``column[start[i]:start[i+1]]``.
    column : (k,) int32
    group : (n,) int32
        Of each column; -1 for those in none.
    value : (n,) int32
        Number of the row across groups that a column is in: what two groups can exchange; -1 for
        none.
    table : (g, v) int32
        The column of a group with a value, -1 where there is none.
    is_kept : (m,) bool
        The groups' rows: moves keep them.
    """

    start: IndexArray
    column: IndexArray
    group: IndexArray
    value: IndexArray
    table: IndexArray
    is_kept: BoolArray


def find_groups(model: MipModel) -> Groups | None:
    """Return the groups of a model, or None where there are few."""
    free = model.lower < model.upper
    is_open = free & model.is_binary
    candidates = _partitions(model, is_open)
    group, chosen = disjoint(model, candidates, is_open)
    if chosen.size < LEAST_GROUPS:
        return None
    rest = candidates[~np.isin(candidates, chosen)]
    value, across = disjoint(model, rest, is_open)
    if chosen.size * max(1, across.size) > LARGEST_TABLE:
        value, across = np.full(model.num_columns, -1, dtype=np.int32), across[:0]
    order = np.argsort(group, kind="stable").astype(np.int32)
    order = order[group[order] >= 0]
    start = np.searchsorted(group[order], np.arange(chosen.size + 1)).astype(np.int32)
    table = np.full((chosen.size, max(1, across.size)), -1, dtype=np.int32)
    both = np.flatnonzero((group >= 0) & (value >= 0))
    table[group[both], value[both]] = both
    is_kept = np.zeros(model.num_rows, dtype=bool)
    is_kept[chosen] = True
    return Groups(start, order, group, value, table, is_kept)


def _partitions(model: MipModel, is_open: BoolArray) -> IndexArray:
    """Return the rows that ask for exactly one of their open binaries, the longest first."""
    return _counting(model, is_open, model.row_lower == model.row_upper)


def packings(model: MipModel, is_open: BoolArray) -> IndexArray:
    """Return the rows that allow one at most of their open binaries, the longest first."""
    return _counting(model, is_open, model.row_lower != model.row_upper)


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
    """Groups (g of them) of the n columns and of d empty ones that stand for none.

    Parameters
    ----------
    start : (g+1,) int32
        Columns of choice i are ``column[start[i]:start[i+1]]``.
    column : (k,) int32
    group : (n+d,) int32
        Of each column; -1 for those in none.
    none : (g,) int32
        The empty column of each choice, -1 where one has to be chosen.
    value : (n+d,) int32
    table : (e, v) int32
        As in :class:`Groups`, for the e choices that ask
        for exactly one and come first; others have no values.
    is_kept : (m,) bool
        Rows that hold whatever is chosen.
    """

    start: IndexArray
    column: IndexArray
    group: IndexArray
    none: IndexArray
    value: IndexArray
    table: IndexArray
    is_kept: BoolArray

    @property
    def count(self) -> int:
        """Number of choices."""
        return int(self.none.size)


def find_choices(model: MipModel) -> Choices:
    """Return the choices that the binaries of a model are."""
    n = model.num_columns
    found = find_groups(model)
    group = np.full(n, -1, dtype=np.int32) if found is None else found.group.copy()
    is_kept = np.zeros(model.num_rows, dtype=bool) if found is None else found.is_kept.copy()
    exact = 0 if found is None else found.start.size - 1
    is_open = (model.lower < model.upper) & model.is_binary & (group < 0)
    at_most, chosen = disjoint(model, packings(model, is_open), is_open)
    is_kept[chosen] = True
    group = np.where(at_most >= 0, at_most + exact, group)
    single = np.flatnonzero(is_open & (at_most < 0))
    group[single] = exact + chosen.size + np.arange(single.size)
    optional = chosen.size + single.size
    group = np.concatenate([group, exact + np.arange(optional)]).astype(np.int32)
    order = np.argsort(group, kind="stable").astype(np.int32)
    order = order[group[order] >= 0]
    count = exact + optional
    none = np.full(count, -1, dtype=np.int32)
    none[exact:] = n + np.arange(optional)
    return Choices(
        start=np.searchsorted(group[order], np.arange(count + 1)).astype(np.int32),
        column=order,
        group=group,
        none=none,
        value=_values(found, n + optional),
        table=np.full((1, 1), -1, dtype=np.int32) if found is None else found.table,
        is_kept=is_kept,
    )


def _values(found: Groups | None, size: int) -> IndexArray:
    """Return the values of columns of groups; others have none to exchange."""
    value = np.full(size, -1, dtype=np.int32)
    if found is not None:
        value[: found.value.size] = np.where(found.group >= 0, found.value, -1)
    return value
