"""Orders of rows and columns: always longest first, and another than the model's where it pays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.linear_algebra import SparseRows
from solvers.native.sparse_locality import extreme_places, gathered_sectors, order_by_place
from solvers.sparse import order
from solvers.sparse.order import order_both, order_rows
from solvers.sparse.shape import Plan
from tests.matrices import any_matrix, as_problem_matrix, matrix_of

PLAN = Plan(steps=16, unit_from=1024, reorders=True)


def both(matrix: sp.csr_array) -> tuple[SparseRows, SparseRows]:
    return SparseRows.of(matrix), SparseRows.of(as_problem_matrix(sp.csr_array(matrix.T)))


def flow(commodities: int, arcs: int) -> sp.csr_array:
    """Return two rows for each arc, which sum over its commodities; these come one by one."""
    rows = sp.hstack([sp.eye_array(arcs)] * commodities)
    return as_problem_matrix(sp.csr_array(sp.vstack([rows, 2.0 * rows])))


def test_columns_that_rows_sum_over_come_to_stand_together():
    rows, columns = both(flow(300, 20))
    row_order, column_order = order_both(rows, columns, PLAN)
    arcs = column_order.order % 20
    assert np.count_nonzero(np.diff(arcs)) == 19, "all commodities of an arc, and then the next arc"
    assert not column_order.is_kept
    assert (row_order.order % 20).tolist() == np.repeat(np.arange(20), 2).tolist()


@pytest.mark.parametrize(("sectors", "is_taken"), [((1.0, 0.94), True), ((1.0, 0.96), False)])
def test_another_order_is_taken_where_it_is_clearly_better(sectors, is_taken, monkeypatch):
    rows, columns = both(flow(30, 20))
    told = iter(sectors)
    monkeypatch.setattr(order, "_sectors", lambda *given: (next(told), 0.0))
    found = order_both(rows, columns, PLAN)
    usual = order_rows(rows), order_rows(columns)
    assert np.array_equal(found[1].order, usual[1].order) != is_taken
    if is_taken:
        assert np.count_nonzero(np.diff(found[1].order % 20)) == 19


def test_an_order_is_kept_where_gathers_are_good_or_none_is_looked_for():
    banded = as_problem_matrix(
        sp.csr_array(sp.diags_array([1.0, 1.0], offsets=[0, 1], shape=(400, 400)))
    )
    for matrix, plan in ((banded, PLAN), (flow(300, 20), Plan(steps=16, unit_from=1024))):
        rows, columns = both(matrix)
        found = order_both(rows, columns, plan)
        for one, usual in zip(found, (order_rows(rows), order_rows(columns)), strict=True):
            np.testing.assert_array_equal(one.order, usual.order)


@settings(max_examples=60)
@given(any_matrix(), st.sampled_from([1, 3]))
def test_any_order_is_longest_first_and_its_parts_agree(which, threads):
    rows, columns = both(matrix_of(which))
    for matrix, found in zip(
        (rows, columns), order_both(rows, columns, PLAN, threads), strict=True
    ):
        size = matrix.shape[0]
        assert sorted(found.order.tolist()) == [*range(size)]
        np.testing.assert_array_equal(found.position[found.order], np.arange(size))
        np.testing.assert_array_equal(found.lengths, matrix.lengths[found.order])
        assert np.all(np.diff(found.lengths) <= 0)
        assert found.is_kept == np.array_equal(found.order, np.arange(size))


@settings(max_examples=60)
@given(any_matrix(), st.booleans(), st.integers(0, 99), st.sampled_from([1, 3]))
def test_places_are_the_extreme_ones_and_order_is_stable(which, greatest, seed, threads):
    rows, _ = both(matrix_of(which))
    position = np.random.default_rng(seed).permutation(rows.shape[1]).astype(np.int32)
    places, order = np.empty((2, rows.shape[0]), dtype=np.int32)
    extreme_places(rows.indptr, rows.indices, position, greatest, places, threads)
    choose = max if greatest else min
    for row in range(rows.shape[0]):
        own = position[rows.indices[rows.indptr[row] : rows.indptr[row + 1]]]
        assert places[row] == choose(own.tolist(), default=rows.shape[1])
    order_by_place(places, order, threads)
    np.testing.assert_array_equal(order, np.argsort(places, kind="stable"))


def test_places_of_more_than_a_digit_are_sorted():
    places = np.random.default_rng(1).integers(0, 2**30, 5000).astype(np.int32)
    found = np.empty(5000, dtype=np.int32)
    order_by_place(places, found, 2)
    np.testing.assert_array_equal(found, np.argsort(places, kind="stable"))


@pytest.mark.parametrize(("columns", "expected"), [([0, 1, 2, 3], 1 / 4), ([0, 4, 8, 12], 1.0)])
def test_sectors_are_counted_for_each_entry(columns, expected):
    indices = np.array(columns, dtype=np.int32)
    starts, order = np.array([0, 4], dtype=np.int32), np.zeros(1, dtype=np.int32)
    lengths, position = np.array([4], dtype=np.int32), np.arange(16, dtype=np.int32)
    # four lanes, so that one step has all entries
    found = gathered_sectors(starts, indices, order, lengths, position, 1)
    assert found == expected
    # one lane and four steps, each of which has a sector to itself
    assert gathered_sectors(starts, indices, order, lengths, position, 4) == 1.0
