"""What a model has to be like for swap moves, groups, slacks and little else, and a search's state.

A column is a slack where raising it never violates a row (after a change of sign, lowering it) and
does not pay. Whatever the others are, its best value is then the largest that any of its rows asks
for: deviations from a target, overtime, the makespan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum, auto
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.heuristics.annealing.groups import (
    LARGEST_TABLE,
    LEAST_GROUPS,
    Choices,
    find_choices,
)
from solvers.mip.model import SLOP, IndexArray, MipModel
from solvers.native.mip_heuristics_annealing import sum_up


class Side(IntEnum):
    """Sides of a row."""

    LOWER = 0
    UPPER = auto()


@dataclass(frozen=True, eq=False)
class Slacks:
    """Slack columns, measured from where they cost nothing; k of them, in e sides of rows."""

    column: IndexArray
    """(k,) int32."""
    home: FloatArray
    """(k,) float64: the end of the bounds from which a slack is measured, or 0 where it has
    none."""
    sign: FloatArray
    """(k,) float64: 1 where raising the column helps, -1 where lowering it does."""
    cost: FloatArray
    """(k,) float64: for each unit, never negative."""
    least: FloatArray
    most: FloatArray
    """(k,) float64 each: between which units it may be; -inf and inf where there is no end."""
    is_whole: BoolArray
    """(k,) bool."""
    start: IndexArray
    """(k+1,) int32."""
    row: IndexArray
    side: IndexArray
    """(e,) int32 each: the rows that ask for it, and which side of each."""
    scale: FloatArray
    """(e,) float64: what a unit is there."""
    of_side: IndexArray
    """(m, 2) int32: the slack of each side of each row, -1 where there is none."""


def find_slacks(model: MipModel, outside: BoolArray) -> Slacks:
    """Return which of the columns ``outside`` (n,) are slacks, no two of one side of a row."""
    of_side = np.full((model.num_rows, 2), -1, dtype=np.int32)
    found: list[tuple[int, float, IndexArray, IndexArray, FloatArray]] = []
    up, down = may_be_slack(model, 1.0), may_be_slack(model, -1.0)
    for j in np.flatnonzero(outside & (up | down)).tolist():
        rows, values = model.columns[j]
        for sign, may_be in ((1.0, up[j]), (-1.0, down[j])):
            sides = np.where(sign * values > 0.0, Side.LOWER, Side.UPPER).astype(np.int32)
            if may_be and (of_side[rows, sides] < 0).all():
                of_side[rows, sides] = len(found)
                found.append((j, sign, rows, sides, np.abs(values)))
                break
    return _slacks(model, found, of_side)


def may_be_slack(model: MipModel, sign: float) -> BoolArray:
    """Return which columns (n,) never hurt a row, nor the objective's bound, where they go up.

    Down for a ``sign`` of -1. In a row of its own a slack never goes beyond what is asked for, so
    there the other side may be anywhere.
    """
    row, size = model.columns.indices, model.columns.lengths
    raises = sign * model.columns.data > 0.0
    mine = np.where(raises, model.row_lower[row], -model.row_upper[row])
    other = np.where(raises, model.row_upper[row], -model.row_lower[row])
    hurt = model.columns.count(np.isfinite(other))
    asks = model.columns.count(np.isfinite(mine))
    floor = model.lower if sign > 0.0 else -model.upper
    has_floor = np.isfinite(floor) | (asks > 0)
    harmless = (hurt == 0) | (size == 1)
    may_be: BoolArray = (size > 0) & harmless & has_floor & (sign * model.cost >= 0.0)
    return may_be


def _slacks(
    model: MipModel,
    found: list[tuple[int, float, IndexArray, IndexArray, FloatArray]],
    of_side: IndexArray,
) -> Slacks:
    column = np.array([one[0] for one in found], dtype=np.int32)
    sign = np.array([one[1] for one in found], dtype=np.float64)
    floor = np.where(sign > 0.0, model.lower[column], -model.upper[column])
    ceiling = np.where(sign > 0.0, model.upper[column], -model.lower[column])
    units = np.where(np.isfinite(floor), floor, 0.0)
    sizes = [one[2].size for one in found]
    joined = [np.concatenate([[], *(one[k] for one in found)]) for k in (2, 3, 4)]
    return Slacks(
        column=column,
        home=sign * units,
        sign=sign,
        cost=sign * model.cost[column],
        least=floor - units,
        most=ceiling - units,
        is_whole=model.is_integer[column] == 1,
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        row=joined[0].astype(np.int32),
        side=joined[1].astype(np.int32),
        scale=joined[2],
        of_side=of_side,
    )


class Number(IntEnum):
    """Places in ``State.numbers``."""

    HARD = 0
    """Weighted violation of what no slack takes up."""
    WORK = auto()
    """Entries visited."""
    MOVES = auto()
    """Moves made."""
    STAMP = auto()
    """The number of the last trial."""
    COST = auto()
    """The objective."""
    SUM = auto()
    """Of the moves made the absolute changes of the objective."""
    VIOLATED = auto()
    """How many sides of rows and ends of slacks are violated, without rounding errors."""


class Rows(NamedTuple):
    """Sides, weights and activities (m,) of the rows."""

    lower: FloatArray
    upper: FloatArray
    weight: FloatArray
    activity: FloatArray


class TrialRows(NamedTuple):
    """What a trial changes: ``delta`` (m,) of the rows ``touched``, where ``stamp`` has its number.

    ``mark`` (k,) has the number of the last trial that looked at a slack.
    """

    delta: FloatArray
    stamp: npt.NDArray[np.int64]
    mark: npt.NDArray[np.int64]
    touched: IndexArray


class State(NamedTuple):
    """What an annealing holds: choices, rows, what is chosen, prices and slacks.

    ``holder`` (v,) says which group has a value. Where groups have no values, two may exchange
    labels: ``label`` (n,), and ``by_label`` (g, l), the column of each. ``excess`` (k,) is what a
    unit beyond the end of a slack's bounds counts for.
    """

    by_column: SparseRows
    by_row: SparseRows
    cost: FloatArray
    choices: Choices
    slacks: Slacks
    label: IndexArray
    by_label: IndexArray
    rows: Rows
    trial: TrialRows
    holder: IndexArray
    current: IndexArray
    best: IndexArray
    excess: FloatArray
    numbers: FloatArray
    random: npt.NDArray[np.uint64]


COVERED_PART = 0.9
"""Part of the columns free to move that have to be in groups or slacks: others stay as they are in
the point from which a round begins."""

MOST_LABELS = 20_000
"""Rows looked at for labels, the longest first: the whole takes 0.1 s of the interpreter on models
of 17 and 26 thousand rows."""

WIDE_PART = 0.5
"""Part of the columns that have to be in choices among more than two: where most binaries are for
themselves, as in covers, walks do as well."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Choices among binaries, slacks of rows, and what choices may exchange."""

    choices: Choices
    slacks: Slacks
    label: IndexArray
    by_label: IndexArray

    def chosen(self, x: FloatArray) -> IndexArray | None:
        """Return what is chosen (g,) at ``x`` (n,); None where a choice is not made."""
        choices = self.choices
        real = choices.column[choices.column < x.size]
        ones = real[x[real] > 0.5]
        made = np.bincount(choices.group[ones], minlength=choices.count)
        chosen = choices.none.copy()
        chosen[choices.group[ones]] = ones
        return None if (made > 1).any() or (chosen < 0).any() else chosen

    def home(self, x: FloatArray) -> FloatArray:
        """Return ``x`` (n,) without choices, with slacks where they are measured from."""
        home = x.copy()
        home[self.choices.group[: x.size] >= 0] = 0.0
        home[self.slacks.column] = self.slacks.home
        return home

    def put_sides(self, model: MipModel, home: FloatArray, state: State) -> None:
        """Set the sides of the rows to what ``home`` (n,) leaves of them."""
        fixed = model.activity(home)
        state.rows.lower[:] = model.row_lower - fixed
        state.rows.upper[:] = model.row_upper - fixed

    def point(self, home: FloatArray, state: State) -> FloatArray:
        """Return the point (n,) of the choices in ``state.best``."""
        slacks, current = self.slacks, state.current.copy()
        state.current[:] = state.best
        sum_up(state)
        x = home.copy()
        x[state.best[state.best < x.size]] = 1.0
        units = np.clip(self._asked(state), slacks.least, slacks.most)
        x[slacks.column] += slacks.sign * units
        state.current[:] = current
        sum_up(state)
        return x

    def violated(self, state: State) -> tuple[BoolArray, BoolArray]:
        """Return which rows (m,) and which slacks (k,) are beyond their ends as things are."""
        low = np.where(
            self.slacks.of_side[:, Side.LOWER] < 0, state.rows.lower - state.rows.activity, -np.inf
        )
        high = np.where(
            self.slacks.of_side[:, Side.UPPER] < 0, state.rows.activity - state.rows.upper, -np.inf
        )
        rows: BoolArray = np.maximum(low, high) > SLOP
        slacks: BoolArray = self._asked(state) > self.slacks.most + SLOP
        return rows, slacks

    def _asked(self, state: State) -> FloatArray:
        """Return the units that rows ask of each slack (k,)."""
        slacks = self.slacks
        low = state.rows.lower[slacks.row] - state.rows.activity[slacks.row]
        high = state.rows.activity[slacks.row] - state.rows.upper[slacks.row]
        asked = slacks.least.copy()
        of_entry = np.repeat(np.arange(asked.size), np.diff(slacks.start))
        np.maximum.at(
            asked, of_entry, np.where(slacks.side == Side.LOWER, low, high) / slacks.scale
        )
        return np.where(slacks.is_whole, np.ceil(asked - SLOP), asked)

    def state(self, model: MipModel, seed: int) -> State:
        """Return the state of a search, with weights of one for a row's largest entry."""
        m, choices, slacks = model.num_rows, self.choices, self.slacks
        empty = choices.group.size - model.num_columns
        size = model.rows.largest
        weight = 1.0 / np.where(size > 0.0, size, 1.0)
        weight[choices.is_kept] = 0.0
        longest = int(np.max(model.columns.lengths, initial=0))
        word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]) or 1
        return State(
            by_column=replace(
                model.columns,
                indptr=np.pad(model.columns.indptr, (0, empty), "edge"),
                shape=(choices.group.size, m),
            ),
            by_row=model.rows,
            cost=np.append(model.cost, np.zeros(empty)),
            choices=choices,
            slacks=slacks,
            label=self.label,
            by_label=self.by_label,
            rows=Rows(model.row_lower.copy(), model.row_upper.copy(), weight, np.zeros(m)),
            trial=TrialRows(
                delta=np.zeros(m),
                stamp=np.zeros(m, dtype=np.int64),
                mark=np.zeros(slacks.column.size, dtype=np.int64),
                touched=np.zeros(max(1, 4 * longest), dtype=np.int32),
            ),
            holder=np.zeros(choices.table.shape[1], dtype=np.int32),
            current=np.zeros(choices.count, dtype=np.int32),
            best=np.zeros(choices.count, dtype=np.int32),
            excess=np.ones(slacks.column.size),
            numbers=np.zeros(8),
            random=np.array([word], dtype=np.uint64),
        )


def find_structure(model: MipModel, covered_part: float = COVERED_PART) -> Structure | None:
    """Return the choices and slacks of a model that consists of these, or None."""
    free = model.lower < model.upper
    outside = free & ~model.is_binary
    binaries = np.count_nonzero(free & model.is_binary)
    needed = covered_part * np.count_nonzero(free) - binaries
    candidates = outside & (may_be_slack(model, 1.0) | may_be_slack(model, -1.0))
    if binaries == 0 or np.count_nonzero(candidates) < needed:
        return None
    slacks = find_slacks(model, outside)
    if slacks.column.size < needed:
        return None
    choices = find_choices(model)
    sizes = np.diff(choices.start)
    among_many = int(sizes[sizes > 2].sum())  # two are a binary for itself, and none
    if choices.count < LEAST_GROUPS or among_many < WIDE_PART * choices.column.size:
        return None
    return Structure(choices, slacks, *_labels(model, choices))


def _labels(model: MipModel, choices: Choices) -> tuple[IndexArray, IndexArray]:
    """Return the label of each column (n+d,), -1 for none, and the columns of choices by label.

    Labels are disjoint rows across the choices that have one column of a choice at most: agents of
    jobs, machines, days. Without them where choices have values to exchange.
    """
    label = np.full(choices.group.size, -1, dtype=np.int32)
    wide = np.diff(choices.start) > 2
    if (choices.value >= 0).any() or not wide.any():
        return label, np.full((1, 1), -1, dtype=np.int32)
    lengths = model.rows.lengths
    count = 0
    for i in np.argsort(-lengths, kind="stable")[:MOST_LABELS].tolist():
        columns = model.rows[i][0]
        columns = columns[choices.group[columns] >= 0]
        columns = columns[wide[choices.group[columns]]]
        if choices.is_kept[i] or columns.size < 2 or (label[columns] >= 0).any():
            continue
        if np.unique(choices.group[columns]).size < columns.size:
            continue
        label[columns], count = count, count + 1
    if choices.count * count > LARGEST_TABLE:
        label[:], count = -1, 0
    by_label = np.full((choices.count, max(1, count)), -1, dtype=np.int32)
    labelled = np.flatnonzero(label >= 0)
    by_label[choices.group[labelled], label[labelled]] = labelled
    return label, by_label
