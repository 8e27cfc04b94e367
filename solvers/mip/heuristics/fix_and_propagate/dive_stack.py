"""The order and the stack of a dive, which its loops (``dive.cpp``) leave and take up again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.heuristics.fix_and_propagate.random import RandomState
from solvers.mip.model import IndexArray

RUNNING, FULL, DONE, GAVE_UP = 0, 1, 2, 3
"""How a slice ends: work spent, trail full, all columns fixed, no (more) search."""

CURSOR, DEPTH, NODES, CONFLICTS, REPAIRS = 0, 1, 2, 3, 4
"""Places in ``Search.counts``: next column of the order, decisions on the stack, and tallies."""


class Search(NamedTuple):
    """The order and the stack of a dive over k integer columns.

    Attributes
    ----------
    order : (k,) int32
    stack_column, stack_value : (k,) int32, float64
        Decisions taken.
    stack_place, stack_cursor : (k,) int64
        Where the trail and the order stood before each.
    root : (2, n) float64
        Bounds that the dive began with.
    random : (1,) uint64
    counts : (5,) int64
    """

    order: IndexArray
    stack_column: IndexArray
    stack_value: FloatArray
    stack_place: np.ndarray
    stack_cursor: np.ndarray
    root: FloatArray
    random: RandomState
    counts: np.ndarray


def new_search(order: IndexArray, bounds: FloatArray, random: RandomState) -> Search:
    """Return the state of a dive that has decided nothing yet."""
    k = order.size
    return Search(
        order=np.ascontiguousarray(order, dtype=np.int32),
        stack_column=np.zeros(k, dtype=np.int32),
        stack_value=np.zeros(k),
        stack_place=np.zeros(k, dtype=np.int64),
        stack_cursor=np.zeros(k, dtype=np.int64),
        root=bounds.copy(),
        random=random,
        counts=np.zeros(5, dtype=np.int64),
    )
