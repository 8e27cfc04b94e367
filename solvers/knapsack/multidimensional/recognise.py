"""Which models are multidimensional knapsack problems, however they were written.

Such a model has whole-number columns and a few dense rows, each of which limits a sum with
coefficients of one sign on one side. A column whose coefficients all relax their rows is mirrored,
so that packing it costs capacity; one that does this in one row and that in another makes the model
something else, and so do equations, sparse rows and numbers that cannot be made whole exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray, Problem
from solvers.knapsack.items import IntArray, Model, powers_of_two
from solvers.knapsack.kinds import MOST_ROWS
from solvers.knapsack.multidimensional.items import EXACT, BoolArray, MultidimensionalKnapsack
from solvers.knapsack.recognise import Box, whole, whole_box, whole_row

MOST_ITEMS = 2_000
"""Items, copies split by powers of two, up to which the levels of a search fit into memory."""

LEAST_DENSITY = 0.3
"""Share of entries that are not zero from which rows are those of a knapsack; packing and covering
models have far fewer, and structure that this engine does not see."""


@dataclass(frozen=True, eq=False)
class MultidimensionalModel(Model[MultidimensionalKnapsack]):
    """A model whose items are units of columns."""

    column: IntArray
    copies: IntArray
    """(k,) int64 each: which column an item belongs to, and how many units of it an item is."""
    sign: IntArray
    """(n,) int64: value of a column = start + sign * units packed."""

    def point(self, packed: BoolArray) -> FloatArray:
        """Return the (n,) values of the columns for a packing."""
        units = np.zeros(self.start.size, dtype=np.int64)
        np.add.at(units, self.column, self.copies * packed)
        return np.asarray(self.start + self.sign * units, dtype=np.float64)


def recognise(problem: Problem) -> MultidimensionalModel | None:
    """Return a model as a multidimensional knapsack problem, or None if it is none.

    One row is enough here, though :mod:`solvers.knapsack.recognise` takes more kinds of that.
    """
    if not problem.num_columns or not problem.integrality.all():
        return None
    lengths = problem.entries.lengths
    several = np.flatnonzero(lengths > 1)
    if not 0 < several.size <= MOST_ROWS:
        return None
    if int(lengths[several].sum()) < LEAST_DENSITY * several.size * problem.num_columns:
        return None
    at_most = np.isfinite(problem.row_upper[several])
    if (at_most == np.isfinite(problem.row_lower[several])).any():
        return None
    box = whole_box(problem)
    if box is None or not (np.isfinite(box.lower) & np.isfinite(box.upper)).all():
        return None
    rows = problem.entries.select(lengths > 1)
    weight = np.zeros(rows.shape)
    weight[rows.row, rows.indices] = rows.data * np.where(at_most, 1.0, -1.0)[rows.row]
    side = np.where(at_most, problem.row_upper[several], -problem.row_lower[several])
    return _as_items(problem, weight, side, box)


def _as_items(
    problem: Problem, weight: FloatArray, side: FloatArray, box: Box
) -> MultidimensionalModel | None:
    """Turn columns into items that cost capacity when they are packed."""
    mirrored = (weight < 0.0).any(axis=0)
    if (weight[:, mirrored] > 0.0).any():
        return None
    start = np.where(mirrored, box.upper, box.lower)
    if max(np.abs(start).max(), (box.upper - box.lower).max()) >= EXACT:
        return None
    origin = start.astype(np.int64)
    sign = np.where(mirrored, -1, 1).astype(np.int64)
    profits = whole(-problem.cost)
    pairs = zip(weight, side, strict=True)
    rows = [row for pair in pairs if (row := whole_row(*pair, origin, EXACT)) is not None]
    if profits is None or len(rows) < side.size or any(abs(room) >= EXACT for _, room in rows):
        return None
    column, copies = powers_of_two((box.upper - box.lower).astype(np.int64))
    if column.size > MOST_ITEMS:
        return None
    profit = (profits.values * sign)[column]
    stacked = np.abs(np.stack([found.values for found, _ in rows]))[:, column]
    largest = max(float(np.abs(profit).max(initial=0)), float(stacked.max(initial=0)))
    if largest * float(copies.max(initial=0)) >= EXACT:
        return None
    try:
        knapsack = MultidimensionalKnapsack(
            profit * copies,
            stacked * copies,
            np.array([room for _, room in rows], dtype=np.int64),
        )
    except ProblemError:
        return None
    kind = "a multidimensional knapsack problem of"
    sentence = f"{kind} {knapsack.num_items} items and {knapsack.num_rows} rows"
    return MultidimensionalModel(knapsack, profits.scale, sentence, origin, column, copies, sign)
