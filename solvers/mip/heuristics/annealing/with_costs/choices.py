"""All binaries of a model as choices: of each group one column is 1, or none where that is allowed.

Rows that ask for exactly one of their binaries come first, then rows that allow one at most, and
each binary that is left is a choice by itself. What is not chosen is a column, too, an empty one,
so that every choice is always made and a move is always an exchange.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray
from solvers.mip.heuristics.annealing.groups import Groups, disjoint, find_groups, packings
from solvers.mip.model import IndexArray, MipModel


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
        As in :class:`~solvers.mip.heuristics.annealing.groups.Groups`, for the e choices that ask
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
    found = find_groups(model, covered_part=0.0)
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
