"""Matrices by rows give the bits of SciPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from solvers.core import linear_algebra
from solvers.core.errors import EngineError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import Problem
from solvers.highs.model import as_it_stands
from tests.cases import through

SHAPES = [(1, 1), (1, 40), (40, 1), (7, 5), (60, 90), (0, 4), (4, 0), (0, 0)]


def random_matrix(shape: tuple[int, int], seed: int, density: float = 0.3) -> sp.csr_array:
    """Return a matrix of numbers that no sum of keeps exactly, with empty rows and columns."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=shape) * 10.0 ** rng.integers(-8, 8, size=shape)
    table[rng.random(shape) > density] = 0.0
    table[::3] = 0.0
    table[:, 1::4] = 0.0
    return sp.csr_array(table)


def bits(values: npt.NDArray[np.float64]) -> list[bytes]:
    """Return what tells even zeros of different sign apart."""
    assert values.dtype == np.float64
    return [value.tobytes() for value in values]


@through("small", [0, linear_algebra.SMALL])
@through("shape", SHAPES)
@through("seed", range(3))
def test_products_have_the_bits_of_scipy(
    shape: tuple[int, int], seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linear_algebra, "SMALL", small)
    matrix = random_matrix(shape, seed)
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=shape[1]), rng.normal(size=shape[0])
    x[::5], y[::5] = -0.0, 0.0
    assert bits(SparseRows.of(matrix).times(x)) == bits(matrix @ x)
    assert bits(SparseRows.of(matrix).magnitudes_times(x)) == bits(abs(matrix) @ x)
    assert bits(SparseRows.of(matrix).transposed_times(y)) == bits(matrix.T @ y)


@through("small", [0, linear_algebra.SMALL])
@through("kind", [np.int32, np.int64])
@through("threads", [1, 3])
@through("shape", SHAPES)
def test_the_transpose_is_that_of_scipy(
    shape: tuple[int, int],
    threads: int,
    kind: type,
    small: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(linear_algebra, "SMALL", small)
    monkeypatch.setattr(SparseRows, "_threads", lambda self, most: most)
    matrix = random_matrix(shape, 4)
    expected = matrix.T.tocsr()
    given = SparseRows.of(matrix)
    given = replace(given, indices=given.indices.astype(kind), indptr=given.indptr.astype(kind))
    found = given.transposed(threads)
    assert found.shape == expected.shape
    assert found.indices.dtype == found.indptr.dtype
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    assert bits(found.data) == bits(expected.data)
    np.testing.assert_array_equal(given.column_lengths(threads), found.lengths)


def test_compiled_products_take_any_stride_and_refuse_other_lengths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(linear_algebra, "SMALL", 0)
    matrix = random_matrix((7, 5), 0)
    x = np.arange(10.0)[::2]
    assert bits(SparseRows.of(matrix).times(x)) == bits(matrix @ x)
    with pytest.raises(ValueError, match="5 columns"):
        SparseRows.of(matrix).times(np.ones(4))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_reaches_its_rows_only(value: float) -> None:
    matrix = SparseRows.of_table(np.array([[1.0, 0.0], [2.0, 3.0]]))
    np.testing.assert_array_equal(matrix.times(np.array([1.0, value])), [1.0, 3.0 * value])
    np.testing.assert_array_equal(
        matrix.transposed_times(np.array([value, 1.0])), [value + 2.0, 3.0]
    )


@through("shape", SHAPES)
@through("seed", range(3))
def test_the_canonical_form_is_that_of_scipy(shape: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 3 * shape[0] * shape[1]
    row = np.sort(rng.integers(0, max(1, shape[0]), count))
    data = rng.integers(-2, 3, count) / 8.0  # sums are exact in any order, and often zero
    given = SparseRows(
        data,
        rng.integers(0, max(1, shape[1]), count),
        np.searchsorted(row, np.arange(shape[0] + 1)),
        shape,
    )
    wanted = sp.csr_array((data, given.indices, given.indptr), shape=shape, copy=True)
    wanted.sum_duplicates()
    wanted.eliminate_zeros()
    made = given.canonical()
    assert made.shape == shape
    np.testing.assert_array_equal(made.data, wanted.data)
    np.testing.assert_array_equal(made.indices, wanted.indices)
    np.testing.assert_array_equal(made.indptr, wanted.indptr)
    assert made.indices.dtype == made.indptr.dtype == np.int32
    assert made.nnz == wanted.nnz


@pytest.mark.parametrize(
    ("data", "indices", "wanted", "places"),
    [
        ([1.0, 2.0], [0, 2], [1.0, 2.0], [0, 2]),
        ([1.0, 2.0], [2, 0], [2.0, 1.0], [0, 2]),
        ([1.0, 2.0, 4.0], [1, 1, 0], [4.0, 3.0], [0, 1]),
        ([1.0, -1.0, 4.0], [1, 1, 0], [4.0], [0]),
        ([0.0, -0.0, 4.0], [0, 1, 2], [4.0], [2]),
        ([1.0, np.inf, np.nan], [2, 1, 0], [np.nan, np.inf, 1.0], [0, 1, 2]),
        ([], [], [], []),
    ],
    ids=["as it is", "turned round", "twice", "cancelled", "zeros", "not finite", "empty"],
)
def test_the_canonical_form_of_one_row(
    data: list[float], indices: list[int], wanted: list[float], places: list[int]
) -> None:
    ends = np.array([0, len(data)])
    given = SparseRows(np.array(data), np.array(indices, dtype=np.int64), ends, (1, 3))
    made = given.canonical()
    np.testing.assert_array_equal(made.data, wanted)
    np.testing.assert_array_equal(made.indices, places)
    np.testing.assert_array_equal(made.indptr, [0, len(wanted)])


def test_the_canonical_form_shares_nothing_with_what_was_given() -> None:
    for given in (random_matrix((6, 6), 0), sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]]))):
        found = SparseRows.of(given)
        made = found.canonical()
        for mine, theirs in ((made.data, found.data), (made.indices, found.indices)):
            assert not np.shares_memory(mine, theirs)


@through("shape", SHAPES)
def test_a_table_becomes_its_entries(shape: tuple[int, int]) -> None:
    table = random_matrix(shape, 1).toarray()
    made, wanted = SparseRows.of_table(table), sp.csr_array(table)
    assert made.shape == shape
    np.testing.assert_array_equal(made.data, wanted.data)
    np.testing.assert_array_equal(made.indices, wanted.indices)
    np.testing.assert_array_equal(made.indptr, wanted.indptr)
    np.testing.assert_array_equal(made.row, np.nonzero(table)[0])
    np.testing.assert_array_equal(made.magnitudes.csr.toarray(), np.abs(table))


def test_scipy_gets_the_same_arrays() -> None:
    found = SparseRows.of(random_matrix((9, 8), 3))
    assert np.shares_memory(found.csr.data, found.data)
    assert found.csr is found.csr
    np.testing.assert_array_equal(found.csr.indices, found.indices)


@through("shape", SHAPES)
def test_a_problem_has_one_matrix_in_two_forms(shape: tuple[int, int]) -> None:
    table = random_matrix(shape, 2).toarray()
    for given in (table, sp.csr_array(table), sp.coo_array(table)):
        problem = Problem.from_arrays(np.ones(shape[1]), given)
        assert problem.entries.shape == problem.matrix.shape == shape
        assert problem.num_nonzeros == np.count_nonzero(table)
        np.testing.assert_array_equal(problem.matrix.toarray(), table)
        assert np.shares_memory(problem.matrix.data, problem.entries.data) or not table.any()
        assert problem.matrix.has_canonical_format


@through("shape", SHAPES)
def test_rows_and_columns_are_those_of_the_table(shape: tuple[int, int]) -> None:
    matrix = random_matrix(shape, 1)
    table = matrix.toarray()
    for lines, dense in ((SparseRows.of(matrix), table), (SparseRows.of(matrix.tocsc()), table.T)):
        marked = np.random.default_rng(2).random(lines.nnz) < 0.5
        counts = lines.count(marked)
        assert lines.shape == dense.shape
        np.testing.assert_array_equal(lines.lengths, np.count_nonzero(dense, axis=1))
        np.testing.assert_array_equal(lines.largest, np.abs(dense).max(axis=1, initial=0.0))
        for i, line in enumerate(dense):
            indices, data = lines[i]
            np.testing.assert_array_equal(indices, np.flatnonzero(line))
            np.testing.assert_array_equal(data, line[indices])
            assert counts[i] == marked[lines.indptr[i] : lines.indptr[i + 1]].sum()


def test_what_loops_read_is_shared_where_it_can_be_and_not_written_to() -> None:
    given = SparseRows.of(random_matrix((7, 5), 0))
    cast = given.cast(np.float64)
    assert np.shares_memory(cast.data, given.data)
    single = replace(given, indptr=given.indptr.astype(np.int64)).cast(np.float32)
    assert (single.data.dtype, single.indptr.dtype) == (np.float32, np.int32)
    for array in (cast.data, cast.indices, cast.indptr, single.data):
        assert not array.flags.writeable
    assert given.data.flags.writeable


@through("shape", SHAPES)
@through("index", [np.int32, np.int64])
def test_a_part_has_some_rows_and_columns_in_their_order(
    shape: tuple[int, int], index: type[np.signedinteger]
) -> None:
    matrix = random_matrix(shape, 4)
    rng = np.random.default_rng(4)
    chosen = [np.flatnonzero(rng.random(size) < 0.7) for size in shape]
    whole = SparseRows.of(matrix)
    whole = replace(whole, indices=whole.indices.astype(index), indptr=whole.indptr.astype(index))
    part = whole.part(*chosen)
    assert part.indices.dtype == part.indptr.dtype == np.int32
    assert part.shape == tuple(one.size for one in chosen)
    expected = matrix[chosen[0]][:, chosen[1]]
    for made, other in zip(
        (part.data, part.indices, part.indptr),
        (expected.data, expected.indices, expected.indptr),
        strict=True,
    ):
        np.testing.assert_array_equal(made, other)
    shared = whole.part(*chosen, threads=3)
    assert bits(shared.data) == bits(part.data)
    np.testing.assert_array_equal(shared.indices, part.indices)


@through("shape", SHAPES)
@through("first", [True, False])
def test_what_is_selected_is_what_scipy_selects(shape: tuple[int, int], first: bool) -> None:
    matrix = random_matrix(shape, 5, 0.6)
    rng = np.random.default_rng(6)
    rows_wanted, columns_wanted = rng.random(shape[0]) < 0.6, rng.random(shape[1]) < 0.6
    if first:  # the first rows go, all others stay
        rows_wanted = np.sort(rows_wanted)
    given = SparseRows.of(matrix)
    for wanted, expected in (
        ((rows_wanted, None), matrix[rows_wanted]),
        ((None, columns_wanted), matrix[:, columns_wanted]),
        ((rows_wanted, columns_wanted), matrix[rows_wanted][:, columns_wanted]),
    ):
        found = given.select(*wanted)
        assert found.shape == expected.shape
        assert found.indices.dtype == np.int32
        assert not np.shares_memory(found.data, given.data)
        np.testing.assert_array_equal(found.csr.toarray(), expected.toarray())


@through("shape", SHAPES)
def test_rows_taken_apart_and_put_together_are_the_same(shape: tuple[int, int]) -> None:
    matrix = random_matrix(shape, 7, 0.6)
    given = SparseRows.of(matrix)
    for count in {0, shape[0] // 2, shape[0]}:
        rest = np.arange(shape[0]) >= count
        found = given.first(count).above(given.select(rest))
        assert found.shape == given.shape
        assert found.indptr.dtype == np.int32
        np.testing.assert_array_equal(found.indptr, given.indptr)
        np.testing.assert_array_equal(found.indices, given.indices)
        assert bits(found.data) == bits(given.data)


def test_parts_of_a_long_matrix_have_indices_of_one_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled loops take no others; what is long is a hundred entries here, and not 2^31."""
    monkeypatch.setattr(linear_algebra, "MOST_SHORT", 100)
    whole = SparseRows.of(random_matrix((40, 30), 8, 0.6))
    whole = replace(whole, indices=whole.indices.astype(int), indptr=whole.indptr.astype(int))
    most, all_columns = np.arange(40) >= 2, np.ones(30, bool)
    for found, kind in (
        (whole.transposed(), np.int64),
        (whole.select(most), np.int64),
        (whole.select(most[::-1], all_columns), np.int64),
        (whole.select(np.arange(40) % 3 > 0), np.int64),
        (whole.first(10).above(whole.last(30)), np.int64),
        (whole.part(np.arange(30), np.arange(30)), np.int64),
        (whole.select(np.arange(40) < 3, all_columns), np.int32),
        (whole.select(np.arange(40) >= 38), np.int32),
    ):
        assert found.indices.dtype == found.indptr.dtype == kind
        assert (found.nnz > 100) == (kind is np.int64)


def test_more_entries_than_32_bits_count_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be counted from the front again."""
    matrix = random_matrix((7, 5), 1)
    problem = Problem.from_arrays(np.zeros(5), matrix, 0.0, 1.0)
    assert problem.entries.cast(np.float64).nnz == as_it_stands(problem).start[-1] == matrix.nnz
    monkeypatch.setattr(linear_algebra, "MOST_SHORT", matrix.nnz - 1)
    with pytest.raises(EngineError, match=f"{matrix.nnz} nonzeros.*method='pdlp'"):
        problem.entries.cast(np.float64)
    with pytest.raises(EngineError, match="counts to"):
        as_it_stands(problem)
