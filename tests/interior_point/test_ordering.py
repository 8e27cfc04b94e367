"""The order of elimination, and the rows that are left for its end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.interior_point.on_host import OnHost
from solvers.interior_point.ordering import elimination_order, long_rows, without
from solvers.native.interior_point_long_rows import count_touched

BORDER = 3


def chain(hours: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the lower triangle of a chain with rows that touch all of it in front."""
    size = BORDER + hours
    place = np.arange(BORDER, size)
    row = [np.arange(size), place[1:], *(place for _ in range(BORDER))]
    column = [np.arange(size), place[:-1], *(np.full(hours, k) for k in range(BORDER))]
    pattern = sp.csc_array(
        (np.ones(sum(map(len, row))), (np.concatenate(row), np.concatenate(column)))
    )
    pattern.sort_indices()
    return pattern.indices, np.repeat(np.arange(size), np.diff(pattern.indptr)), size


def test_rows_that_touch_very_many_others_come_last() -> None:
    row, column, size = chain(500)
    assert np.flatnonzero(long_rows(row, column, size)).tolist() == list(range(BORDER))
    order = elimination_order(row, column, size)
    assert sorted(order.tolist()) == list(range(size))
    assert set(order[-BORDER:].tolist()) == set(range(BORDER))


def test_the_factor_grows_with_the_hours_and_no_faster() -> None:
    entries = []
    for hours in (500, 1000, 2000):
        matrix = OnHost()
        matrix.analyse(*chain(hours))
        entries.append(matrix.entries)
    assert entries[2] - entries[1] <= 2.1 * (entries[1] - entries[0])


@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_diagonal_has_an_order(size: int) -> None:
    diagonal = np.arange(size)
    assert sorted(elimination_order(diagonal, diagonal, size).tolist()) == list(range(size))


def test_a_dense_matrix_has_no_long_rows() -> None:
    row, column = np.tril_indices(80)
    assert not long_rows(row, column, 80).any()


def test_without_rows_the_triangle_of_the_others_is_left() -> None:
    rng = np.random.default_rng(0)
    dense = np.tril(rng.random((30, 30)) < 0.3) | np.eye(30, dtype=bool)
    column, row = np.nonzero(dense.T)
    long = rng.random(30) < 0.2
    rest, inside_row, inside_column = without(long, row, column)
    assert rest.tolist() == np.flatnonzero(~long).tolist()
    left = np.zeros((rest.size, rest.size), dtype=bool)
    left[inside_row, inside_column] = True
    np.testing.assert_array_equal(left, dense[np.ix_(rest, rest)])
    touched = np.zeros(30, dtype=np.int32)
    count_touched(row.astype(np.int32), column.astype(np.int32), touched)
    np.testing.assert_array_equal(touched, (dense | dense.T).sum(axis=0) - 1)


def test_a_row_outside_is_refused() -> None:
    outside = np.array([0, 3], dtype=np.int32)
    with pytest.raises(ValueError, match="outside the matrix"):
        count_touched(outside, outside, np.zeros(3, dtype=np.int32))
