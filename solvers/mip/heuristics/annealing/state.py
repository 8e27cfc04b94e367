"""What an annealing over groups holds; the loops are in ``anneal.cpp``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows
from solvers.mip.model import IndexArray

ENERGY, WORK, MOVES, STAMP = range(4)
"""Places of ``numbers``: weighted violation, entries visited, moves made, and the number of the
last trial."""

NOTHING = 1e-9
"""Weighted violation below which nothing is violated."""


class State(NamedTuple):
    """Matrix by columns, groups, rows, and the column that is 1 in each group.

    ``delta`` (m,) are changes of a trial to the activities of the rows ``touched``, where ``stamp``
    has its number; ``holder`` (v,) says which group has a value.
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
