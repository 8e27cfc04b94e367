"""Conversions: round trips, transposes, padding, refusals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import EngineError, ProblemError
from solvers.papers.sparse_formats.compress import (
    compressed,
    dictionary_codes,
    exact_single,
    short_columns,
    with_short_columns,
)
from solvers.papers.sparse_formats.convert import (
    from_scipy,
    to_coo,
    to_csr,
    to_ell,
    to_scipy,
    to_sell,
    transposed,
)
from tests.papers.sparse_formats.forms import FORMS
from tests.papers.sparse_formats.matrices import MATRICES

FEW = [0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 1e300, np.nan, np.inf]


def same(found: sp.csr_array, matrix: sp.csr_array) -> bool:
    """Whether two matrices are one, entry by entry and bit by bit."""
    return (
        found.shape == matrix.shape
        and np.array_equal(found.indptr, matrix.indptr)
        and np.array_equal(found.indices, matrix.indices)
        and np.array_equal(found.data.view(np.int64), matrix.data.view(np.int64))
    )


@st.composite
def small_matrices(draw) -> sp.csr_array:
    """Matrices with any rows, columns in any order, and values of every kind."""
    columns = draw(st.integers(1, 12))
    rows = draw(
        st.lists(st.lists(st.integers(0, columns - 1), unique=True, max_size=columns), max_size=40)
    )
    count = sum(map(len, rows))
    value = st.one_of(st.sampled_from(FEW), st.floats(width=64))
    data = draw(st.lists(value, min_size=count, max_size=count))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32)
    indices = np.array([column for row in rows for column in row], dtype=np.int32)
    return sp.csr_array((np.array(data, dtype=float), indices, starts), shape=(len(rows), columns))


@given(small_matrices(), st.integers(0, 4), st.sampled_from([1, 2, 7, 4096]))
@settings(max_examples=60, deadline=None)
def test_round_trips_keep_every_bit_and_the_order_of_entries(matrix, slice_shift, sigma):
    csr = from_scipy(matrix, cpu())
    packed = compressed(csr)
    for held in (
        csr,
        to_coo(csr),
        to_ell(csr),
        to_sell(csr, slice_shift, sigma),
        packed,
        to_sell(packed, slice_shift, sigma),
        compressed(to_sell(csr, slice_shift, sigma)),
    ):
        assert same(to_scipy(held), matrix), held.label


@given(small_matrices())
@settings(max_examples=40, deadline=None)
def test_transposed_is_scipys_also_when_compressed(matrix):
    expected = matrix.tocsc()
    expected = sp.csr_array(
        (expected.data, expected.indices, expected.indptr), shape=matrix.shape[::-1]
    )
    csr = from_scipy(matrix, cpu())
    assert same(to_scipy(transposed(csr)), expected)
    assert same(to_scipy(transposed(compressed(csr))), expected)


def test_every_form_of_awkward_matrices_turns_back_and_few_matrices_lack_one():
    counts = Counter()
    for matrix in MATRICES.values():
        csr = from_scipy(matrix.tocsc(), cpu())
        for name, form in FORMS.items():
            if (held := form(csr)) is not None:
                assert same(to_scipy(held), matrix), held.label
                counts[name] += 1
    assert min(counts[form] for form in FORMS) >= 7
    assert counts["csr"] == counts["coo"] == counts["sell"] == len(MATRICES)


def test_other_formats_of_scipy_are_accepted():
    matrix = MATRICES["of ones"]
    assert same(to_scipy(from_scipy(matrix.tocoo(), cpu())), matrix)


def test_what_is_no_sparse_matrix_is_refused():
    for matrix, words in (
        (np.eye(3), "not a ndarray"),
        ([[1.0]], "not a list"),
        (None, "not a NoneType"),
        (sp.coo_array(np.array([1.0, 0.0])), "1 dimensions"),
        (sp.csr_array(np.array([[1j]])), "complex128"),
    ):
        with pytest.raises(ProblemError, match=words):
            from_scipy(matrix, cpu())


def test_index_types_that_do_not_fit_are_refused():
    with pytest.raises(EngineError, match="type int8"):
        from_scipy(MATRICES["large"], cpu(), np.int8)
    wide = sp.csr_array((np.ones(1), ([0], [2**31 + 5])), shape=(1, 2**31 + 10))
    assert from_scipy(wide, cpu()).starts.dtype == np.int64
    with pytest.raises(EngineError, match="type int32"):
        from_scipy(wide, cpu(), np.int32)


def test_chunks_and_slices_that_cannot_be_are_refused():
    csr = from_scipy(MATRICES["large"], cpu())
    for chunk in (0, -32, 33):
        with pytest.raises(EngineError, match=f"Chunks of {chunk}"):
            to_coo(csr, chunk)
    for shift in (-1, 40):
        with pytest.raises(EngineError, match=rf"2\^{shift}"):
            to_sell(csr, shift)


def test_index_type_is_narrow_unless_asked_for():
    assert from_scipy(MATRICES["large"], cpu()).starts.dtype == np.int32
    wide = from_scipy(MATRICES["large"], cpu(), np.int64)
    assert {wide.starts.dtype, wide.storage.indices.dtype} == {np.dtype(np.int64)}
    assert to_sell(wide).slice_starts.dtype == np.int64


def test_ell_that_would_not_fit_is_refused_with_its_size():
    with pytest.raises(EngineError, match=r"141 rows to the 100000 entries.*use 'csr' or 'sell'"):
        to_ell(from_scipy(MATRICES["long row"], cpu()), most_bytes=2**20)


def test_sell_sorts_within_windows_only():
    lengths = np.array([1, 5, 2, 4, 3, 9])
    dense = np.arange(9)[None, :] < lengths[:, None]
    sell = to_sell(from_scipy(sp.csr_array(dense * 1.0), cpu()), slice_shift=1, sigma=4)
    assert list(sell.order) == [1, 3, 2, 0, 5, 4]
    assert list(sell.slice_starts) == [0, 10, 14, 32]


def test_bytes_count_every_array_that_holds_the_matrix():
    matrix = MATRICES["large"]
    m, nnz = matrix.shape[0], matrix.nnz
    csr = from_scipy(matrix, cpu())
    assert csr.bytes == 12 * nnz + 4 * (m + 1)
    coo = to_coo(csr)
    assert coo.bytes == 16 * nnz + coo.carries.nbytes
    ones = from_scipy(MATRICES["of ones"], cpu())
    packed = compressed(ones)
    assert packed.storage.entry_bytes == 3
    assert packed.bytes == 3 * ones.nonzeros + 4 * 301 + 2 * 8 + 4
    assert packed.label == "csr (8-bit codes, 16-bit columns)"


def test_codes_know_bits_and_limits():
    values = np.array([0.1, -0.0, 0.0, np.nan, 0.1, np.nan])
    codes = dictionary_codes(values)
    assert codes is not None
    assert codes.stored.dtype == np.uint8
    assert codes.dictionary.size == 4
    assert np.array_equal(codes.dictionary[codes.stored].view(np.int64), values.view(np.int64))
    assert dictionary_codes(np.arange(256.0)).stored.dtype == np.uint8
    assert dictionary_codes(np.arange(257.0)).stored.dtype == np.uint16
    assert dictionary_codes(np.arange(4096.0)) is not None
    assert dictionary_codes(np.arange(4097.0)) is None
    late = np.concatenate([np.zeros(200_000), np.arange(5000.0)])
    assert dictionary_codes(late) is None


@pytest.mark.parametrize("value", [0.1, 1e300, 2.0**-160, np.nan, float(2**24 + 1)])
def test_single_precision_is_refused_for_one_inexact_value(value):
    values = np.array([1.0, 0.5, -3.0, 2.0**24, np.inf])
    assert exact_single(values) is not None
    assert exact_single(np.append(values, value)) is None


@pytest.mark.parametrize(("span", "fits"), [(65535, True), (65536, False)])
def test_short_columns_reach_exactly_16_bits(span, fits):
    indices, owners = np.array([7, 7 + span, 99_000]), np.array([0, 0, 2])
    short = short_columns(indices, owners, 3, 100_000)
    assert (short is not None) == fits
    if short is not None:
        assert list(short.bases[owners >> short.shift] + short.stored) == list(indices)


def test_wide_band_shares_bases_between_rows():
    matrix = with_short_columns(from_scipy(MATRICES["wide band"], cpu()))
    assert matrix.storage.base_shift > 2
    assert matrix.storage.bases.size < matrix.rows // 4


def test_wide_rows_refuse_short_columns():
    with pytest.raises(EngineError, match="141 x 100000 matrix spans 65536"):
        with_short_columns(from_scipy(MATRICES["long row"], cpu()))


def test_nothing_is_done_twice():
    csr = from_scipy(MATRICES["of ones"], cpu())
    assert to_csr(csr) is csr
    packed = compressed(csr)
    assert with_short_columns(packed) is packed
