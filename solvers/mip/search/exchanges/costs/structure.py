"""What a model has to be like for exchanges with costs: groups, slacks, and little else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.mip.model import IndexArray, MipModel
from solvers.mip.search.exchanges.costs.loops import NOTHING, CostState, sum_up_costs
from solvers.mip.search.exchanges.costs.slacks import LOWER, UPPER, Slacks, find_slacks
from solvers.mip.search.exchanges.groups import LARGEST_TABLE, Groups, find_groups
from solvers.problem import BoolArray, FloatArray

COVERED_PART = 0.9
"""Part of the columns free to move that have to be in groups or slacks: others stay as they are in
the point from which a round begins."""

LEAST_LABELLED = 2
"""Columns of groups that a label has at least: with one there is nothing to exchange."""

ONE = 0.5
"""Values above are 1."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Groups of binaries of which exactly one is 1, and slacks of the other rows."""

    groups: Groups
    slacks: Slacks
    label: IndexArray
    by_label: IndexArray

    def chosen(self, x: FloatArray) -> IndexArray | None:
        """Return the column that is 1 in each group (g,) at ``x`` (n,); None where that fails."""
        groups = self.groups
        ones = groups.column[x[groups.column] > ONE]
        if not np.array_equal(groups.group[ones], np.arange(groups.start.size - 1)):
            return None
        return ones.astype(np.int32)

    def home(self, x: FloatArray) -> FloatArray:
        """Return ``x`` (n,) without groups, with slacks where they are measured from."""
        home = x.copy()
        home[self.groups.column] = 0.0
        home[self.slacks.column] = self.slacks.home
        return home

    def put_sides(self, model: MipModel, home: FloatArray, state: CostState) -> None:
        """Set the sides of the rows to what ``home`` (n,) leaves of them."""
        fixed = model.activity(home)
        state.lower[:] = model.row_lower - fixed
        state.upper[:] = model.row_upper - fixed

    def point(self, home: FloatArray, state: CostState) -> FloatArray:
        """Return the point (n,) of the groups in ``state.best``."""
        slacks, current = self.slacks, state.current.copy()
        state.current[:] = state.best
        sum_up_costs(state)
        x = home.copy()
        x[state.best] = 1.0
        units = np.clip(self._asked(state), slacks.least, slacks.most)
        x[slacks.column] += slacks.sign * units
        state.current[:] = current
        sum_up_costs(state)
        return x

    def violated(self, state: CostState) -> tuple[BoolArray, BoolArray]:
        """Return which rows (m,) and which slacks (k,) are beyond their ends as things are."""
        low = np.where(state.of_side[:, LOWER] < 0, state.lower - state.activity, -np.inf)
        high = np.where(state.of_side[:, UPPER] < 0, state.activity - state.upper, -np.inf)
        rows: BoolArray = np.maximum(low, high) > NOTHING
        slacks: BoolArray = self._asked(state) > self.slacks.most + NOTHING
        return rows, slacks

    def _asked(self, state: CostState) -> FloatArray:
        """Return the units that rows ask of each slack (k,)."""
        slacks = self.slacks
        low = state.lower[slacks.row] - state.activity[slacks.row]
        high = state.activity[slacks.row] - state.upper[slacks.row]
        asked = slacks.least.copy()
        of_entry = np.repeat(np.arange(asked.size), np.diff(slacks.start))
        np.maximum.at(asked, of_entry, np.where(slacks.side == LOWER, low, high) / slacks.scale)
        return np.where(slacks.is_whole, np.ceil(asked - NOTHING), asked)

    def state(self, model: MipModel, seed: int) -> CostState:
        """Return the state of a search, with weights of one for a row's largest entry."""
        m, groups, slacks = model.num_rows, self.groups, self.slacks
        size = np.zeros(m)
        of_row = np.repeat(np.arange(m), np.diff(model.row_start))
        np.maximum.at(size, of_row, np.abs(model.row_value))
        weight = 1.0 / np.where(size > 0.0, size, 1.0)
        weight[groups.is_kept] = 0.0
        longest = int(np.max(np.diff(model.column_start), initial=0))
        word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) or 1
        return CostState(
            column_start=model.column_start,
            column_row=model.column_row,
            column_value=model.column_value,
            start=groups.start,
            column=groups.column,
            value=groups.value,
            table=groups.table,
            lower=model.row_lower.copy(),
            upper=model.row_upper.copy(),
            weight=weight,
            activity=np.zeros(m),
            delta=np.zeros(m),
            stamp=np.zeros(m, dtype=np.int64),
            touched=np.zeros(max(1, 4 * longest), dtype=np.int32),
            holder=np.zeros(groups.table.shape[1], dtype=np.int32),
            current=np.zeros(groups.start.size - 1, dtype=np.int32),
            best=np.zeros(groups.start.size - 1, dtype=np.int32),
            numbers=np.zeros(8),
            random=np.array([word], dtype=np.uint64),
            cost=model.cost,
            label=self.label,
            by_label=self.by_label,
            of_side=slacks.of_side,
            slack_cost=slacks.cost,
            slack_least=slacks.least,
            slack_most=slacks.most,
            slack_whole=slacks.is_whole,
            slack_start=slacks.start,
            slack_row=slacks.row,
            slack_side=slacks.side,
            slack_scale=slacks.scale,
            slack_mark=np.zeros(slacks.column.size, dtype=np.int64),
            excess=np.ones(slacks.column.size),
        )


def find_structure(model: MipModel) -> Structure | None:
    """Return the groups and slacks of a model that consists of these, or None."""
    groups = find_groups(model, covered_part=0.0)
    if groups is None:
        return None
    free = model.lower < model.upper
    outside = np.flatnonzero(free & (groups.group < 0) & ~model.is_binary).astype(np.int32)
    slacks = find_slacks(model, outside)
    covered = np.count_nonzero(groups.group >= 0) + slacks.column.size
    if covered < COVERED_PART * np.count_nonzero(free):
        return None
    return Structure(groups, slacks, *_labels(model, groups))


def _labels(model: MipModel, groups: Groups) -> tuple[IndexArray, IndexArray]:
    """Return the label of each column (n,), -1 for none, and the column of each group and label.

    Labels are disjoint rows across the groups that have one column of a group at most: agents of
    jobs, machines, days. Without them where the groups have values to exchange.
    """
    label = np.full(model.num_columns, -1, dtype=np.int32)
    if (groups.value >= 0).any():
        return label, np.full((1, 1), -1, dtype=np.int32)
    lengths = np.diff(model.row_start)
    count = 0
    for i in np.argsort(-lengths, kind="stable").tolist():
        columns = model.row_column[model.row_start[i] : model.row_start[i + 1]]
        columns = columns[groups.group[columns] >= 0]
        if groups.is_kept[i] or columns.size < LEAST_LABELLED or (label[columns] >= 0).any():
            continue
        if np.unique(groups.group[columns]).size < columns.size:
            continue
        label[columns], count = count, count + 1
    size = groups.start.size - 1
    if size * count > LARGEST_TABLE:
        label[:], count = -1, 0
    by_label = np.full((size, max(1, count)), -1, dtype=np.int32)
    labelled = np.flatnonzero(label >= 0)
    by_label[groups.group[labelled], label[labelled]] = labelled
    return label, by_label
