"""Products in every format and form against SciPy, on the CPU."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.kernels import family
from solvers.papers.sparse_formats.convert import from_scipy, to_coo, transposed
from solvers.papers.sparse_formats.formats import MatrixPair, multiply, prepared
from solvers.papers.sparse_formats.kernels.coo import COO
from tests.matrices import each
from tests.papers.sparse_formats.forms import FORMS, made
from tests.papers.sparse_formats.matrices import (
    MATRICES,
    NAMES,
    any_matrix,
    matrix_of,
    vector_for,
)

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


@each(which=NAMES, seed=repeat(0))
@given(any_matrix(), st.integers(0, 9999))
@settings(max_examples=40)
def test_products_are_scipys_in_every_form(which, seed):
    matrix = matrix_of(which)
    csr = from_scipy(matrix, cpu())
    vector, across = vector_for(matrix.shape[1], seed), vector_for(matrix.shape[0], seed)
    for form in FORMS.values():
        held, turned = form(csr), form(transposed(csr))
        if held is not None:
            product = np.full(matrix.shape[0], np.nan)
            multiply(held, vector, product)
            np.testing.assert_allclose(product, matrix @ vector, err_msg=held.label, **CLOSE)
        if turned is not None:
            pair, product = MatrixPair(csr, turned), np.full(matrix.shape[1], np.nan)
            pair.multiply_transposed(across, product)
            np.testing.assert_allclose(product, matrix.T @ across, err_msg=turned.label, **CLOSE)
            assert pair.bytes == csr.bytes + turned.bytes


@pytest.mark.parametrize("form", FORMS)
def test_what_a_product_keeps_in_each_form(form, monkeypatch):
    matrix = MATRICES["of ones"]
    held, vector, product = made(form, matrix), np.zeros(200), np.full(300, np.nan)
    run = prepared(held, vector, product)
    for seed in (1, 2):
        vector[:] = vector_for(200, seed)
        run()
        np.testing.assert_allclose(product, matrix @ vector, **CLOSE)
    alone = multiply(held, vector, threads=1)
    assert np.array_equal(multiply(made(form, matrix, index_type=np.int64), vector), alone)
    monkeypatch.setattr(family, "threads_for", lambda work, threads: threads)
    assert np.array_equal(multiply(held, vector, threads=3), alone)
    vector[0] = np.inf  # the column that padding points at
    reached = np.diff(matrix[:, [0]].tocsr().indptr) > 0
    assert 0 < reached.sum() < reached.size
    assert np.array_equal(~np.isfinite(multiply(held, vector)), reached)


@given(any_matrix(), st.integers(1, 128).map(lambda warps: 32 * warps), st.integers(1, 3))
@settings(max_examples=40)
def test_chunks_of_any_size_give_the_product(which, chunk, threads):
    source = matrix_of(which)
    matrix = to_coo(from_scipy(source, cpu()), chunk=chunk)
    vector, product = vector_for(source.shape[1]), np.full(source.shape[0], np.nan)
    loops, entries = COO.twin, (matrix.nonzeros, chunk, matrix.row_indices)
    loops.coo_clear(matrix.rows, product, threads)
    loops.coo_segments(
        *entries, matrix.indices, matrix.values, vector, product, matrix.carries, threads
    )
    loops.coo_carries(*entries, matrix.carries, product, threads)
    np.testing.assert_allclose(product, source @ vector, **CLOSE)


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros(200, dtype=np.float32)])
def test_wrong_vector_is_named_with_what_was_expected(bad):
    matrix = from_scipy(MATRICES["of ones"], cpu())
    with pytest.raises(EngineError, match=r"vector of a 300 x 200 matrix.*200 float64"):
        multiply(matrix, bad)
    with pytest.raises(EngineError, match="product of a 300 x 200"):
        multiply(matrix, np.zeros(200), np.zeros(299))
    with pytest.raises(EngineError, match=r"not of shape \(2,\) and type <class 'list'>"):
        multiply(matrix, [1.0, 2.0])


def test_arrays_that_a_product_cannot_use_are_refused():
    matrix = from_scipy(MATRICES["square 33"], cpu())
    vector, product = np.ones(33), np.zeros(66)
    with pytest.raises(EngineError, match="with gaps"):
        multiply(matrix, vector, product[::2])
    with pytest.raises(EngineError, match="overwrite the vector"):
        multiply(matrix, vector, vector)
    with pytest.raises(EngineError, match="overwrite the vector"):
        prepared(matrix, product[3:36], product[:33])
    product.setflags(write=False)
    with pytest.raises(EngineError, match="cannot be written to"):
        multiply(matrix, vector, product[:33])
