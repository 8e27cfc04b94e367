"""Conversions: what each format stores, transposes, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.device import cpu
from solvers.core.errors import EngineError, ProblemError
from solvers.papers.sparse_formats import formats
from solvers.papers.sparse_formats.formats import (
    from_scipy,
    to_coo,
    to_ell,
    to_sell,
    transposed,
)
from tests.papers.sparse_formats.matrices import MATRICES, NAMES


@pytest.mark.parametrize("name", NAMES)
def test_transposed_is_scipys_entry_by_entry(name):
    expected = MATRICES[name].tocsc()
    found = transposed(from_scipy(MATRICES[name], cpu()))
    assert (found.rows, found.columns) == expected.shape[::-1]
    assert np.array_equal(found.starts, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(found.values, expected.data)


def test_other_formats_of_scipy_are_accepted():
    matrix = MATRICES["some"]
    for other in (matrix.tocoo(), matrix.tocsc()):
        found = from_scipy(other, cpu())
        assert np.array_equal(found.starts, matrix.indptr)
        assert np.array_equal(found.values, matrix.data)


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


def test_matrices_that_cannot_be_numbered_are_refused(monkeypatch):
    wide = sp.csr_array((np.ones(1), ([0], [2**31 + 5])), shape=(1, 2**31 + 10))
    with pytest.raises(EngineError, match="too large for 32-bit indices"):
        from_scipy(wide, cpu())
    matrix = from_scipy(MATRICES["long row"], cpu())
    monkeypatch.setattr(formats, "MOST_ENTRIES", 2**20)
    for convert in (to_ell, to_sell):
        with pytest.raises(EngineError, match=r"Padding would make \d+ entries.*'csr' or 'coo'"):
            convert(matrix)


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
    assert replace(csr, values=csr.values[:0]).bytes == csr.bytes - 8 * nnz
