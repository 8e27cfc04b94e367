"""Entries in the order of rows and columns, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.native.interior_point_sorting import lexicographic_order
from tests.cases import through


@through(("count", "size"), [(0, 0), (0, 3), (1, 1), (7, 1), (100, 3), (5_000, 70_000)])
def test_they_are_ordered_by_row_and_then_by_column_and_equal_ones_stay(
    count: int, size: int
) -> None:
    rng = np.random.default_rng(count + size)
    row, column = (rng.integers(0, max(1, size), count, dtype=np.int32) for _ in range(2))
    order = np.empty(count, dtype=np.int64)
    lexicographic_order(row, column, size, order)
    np.testing.assert_array_equal(order, np.lexsort((column, row)))


@through(
    ("row", "column", "words"),
    [
        ([0, 3], [0, 0], "outside"),
        ([0, 0], [-1, 0], "outside"),
        ([0, 0], [0], "column"),
    ],
)
def test_what_is_outside_is_refused(row: list[int], column: list[int], words: str) -> None:
    given = (np.array(part, dtype=np.int32) for part in (row, column))
    with pytest.raises(ValueError, match=words):
        lexicographic_order(*given, 3, np.empty(2, dtype=np.int64))
