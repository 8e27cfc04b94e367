"""What a repair keeps between its steps: the broken rows, and when each column was shifted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.model import IndexArray

MAX_SHIFTS = 1000
"""Shifts of one walk (200 in the paper, whose walks may also search)."""

TABU = 3
"""A column rests for so many shifts after it was shifted (the paper's)."""


class Walk(NamedTuple):
    """Scratch arrays of a walk: the broken rows, each row's place among them, and the shifts.

    Attributes
    ----------
    broken : (m,) int32
    place : (m,) int32
        -1 where the row holds.
    last : (n,) int64
        Number of the shift that moved the column last, over all walks.
    column, shift : (MAX_SHIFTS,) int32, float64
        The shifts of this walk, so that it can go back to where least was broken.
    clock : (1,) int64
        Shifts so far, over all walks.
    """

    broken: IndexArray
    place: IndexArray
    last: np.ndarray
    column: IndexArray
    shift: FloatArray
    clock: np.ndarray


def new_walk(num_rows: int, num_columns: int) -> Walk:
    """Return fresh scratch arrays."""
    return Walk(
        broken=np.zeros(num_rows, dtype=np.int32),
        place=np.full(num_rows, -1, dtype=np.int32),
        last=np.full(num_columns, -TABU - 1, dtype=np.int64),
        column=np.zeros(MAX_SHIFTS, dtype=np.int32),
        shift=np.zeros(MAX_SHIFTS),
        clock=np.zeros(1, dtype=np.int64),
    )
