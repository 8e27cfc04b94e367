"""What an annealing with costs holds; the loops are in ``anneal.cpp``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import BoolArray, FloatArray
from solvers.core.rows import SparseRows
from solvers.mip.model import IndexArray

HARD, WORK, MOVES, STAMP, COST, SUM, VIOLATED = range(7)
"""Places of ``numbers``: weighted violation of what no slack takes up, entries visited, moves made,
the number of the last trial, the objective, of the moves made the absolute changes of it, and how
many sides of rows and ends of slacks are violated, which tells without rounding errors."""

NOTHING = 1e-7
"""Violation, not weighted, up to which nothing is violated."""


class CostState(NamedTuple):
    """What :class:`~solvers.mip.heuristics.annealing.state.State` has, prices, and slacks.

    Where groups have no values, two of them may exchange labels: ``label`` (n,), and ``by_label``
    (g, l), the column of each. ``slack_mark`` (k,) has the number of the last trial that looked at
    a slack; ``excess`` (k,) is what a unit beyond the end of its bounds counts for.
    """

    by_column: SparseRows
    start: IndexArray
    column: IndexArray
    value: IndexArray
    table: IndexArray
    lower: FloatArray
    upper: FloatArray
    weight: FloatArray
    activity: FloatArray
    delta: FloatArray
    stamp: npt.NDArray[np.int64]
    touched: IndexArray
    holder: IndexArray
    current: IndexArray
    best: IndexArray
    numbers: FloatArray
    random: npt.NDArray[np.uint64]
    cost: FloatArray
    by_row: SparseRows
    group: IndexArray
    none: IndexArray
    label: IndexArray
    by_label: IndexArray
    of_side: IndexArray
    slack_cost: FloatArray
    slack_least: FloatArray
    slack_most: FloatArray
    slack_whole: BoolArray
    slack_start: IndexArray
    slack_row: IndexArray
    slack_side: IndexArray
    slack_scale: FloatArray
    slack_mark: npt.NDArray[np.int64]
    excess: FloatArray
