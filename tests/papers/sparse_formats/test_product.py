"""Products in every format and form against SciPy, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.kernels import family
from solvers.papers.sparse_formats.convert import from_scipy, to_coo, transposed
from solvers.papers.sparse_formats.formats import MatrixPair, multiply, prepared
from solvers.papers.sparse_formats.kernels.coo import COO
from tests.papers.sparse_formats.forms import CASES, FORMS, made
from tests.papers.sparse_formats.matrices import MATRICES, NAMES, vector_for

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def test_every_form_is_tested_and_only_few_matrices_lack_one():
    counts = {form: sum(form == other for other, _ in CASES) for form in FORMS}
    assert min(counts.values()) >= 7
    assert counts["csr"] == counts["coo"] == counts["sell"] == len(MATRICES)


@pytest.mark.parametrize(("form", "name"), CASES)
def test_product_is_scipys(form, name):
    matrix = MATRICES[name]
    vector = vector_for(matrix.shape[1])
    product = np.full(matrix.shape[0], np.nan)
    multiply(made(form, matrix), vector, product)
    np.testing.assert_allclose(product, matrix @ vector, **CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_transposed_product_is_scipys_in_every_form(name):
    matrix = MATRICES[name]
    csr = from_scipy(matrix, cpu())
    vector = vector_for(matrix.shape[0])
    held = [made for form in FORMS.values() if (made := form(transposed(csr))) is not None]
    assert len(held) >= 5
    for transpose in held:
        pair = MatrixPair(csr, transpose)
        product = np.full(matrix.shape[1], np.nan)
        pair.multiply_transposed(vector, product)
        np.testing.assert_allclose(product, matrix.T @ vector, err_msg=transpose.label, **CLOSE)
        assert pair.bytes == csr.bytes + transpose.bytes


@pytest.mark.parametrize("form", FORMS)
def test_prepared_product_follows_its_vector(form):
    matrix = MATRICES["of ones"]
    vector, product = np.zeros(200), np.full(300, np.nan)
    run = prepared(made(form, matrix), vector, product)
    for seed in (1, 2):
        vector[:] = vector_for(200, seed)
        run()
        np.testing.assert_allclose(product, matrix @ vector, **CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_long_indices_give_the_same_bits(form):
    matrix = MATRICES["of ones"]
    vector = vector_for(matrix.shape[1])
    narrow, wide = made(form, matrix), made(form, matrix, index_type=np.int64)
    assert np.array_equal(multiply(narrow, vector), multiply(wide, vector))


@pytest.mark.parametrize("form", FORMS)
def test_infinite_elements_reach_only_the_rows_that_have_an_entry_there(form):
    matrix = MATRICES["of ones"]
    vector = np.ones(matrix.shape[1])
    vector[0] = np.inf  # the column that padding points at
    product = multiply(made(form, matrix), vector)
    reached = np.diff(matrix[:, [0]].tocsr().indptr) > 0
    assert 0 < reached.sum() < reached.size
    assert np.array_equal(~np.isfinite(product), reached)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("chunk", [32, 64, 256, 4096])
def test_chunks_of_any_size_give_the_product(chunk, threads):
    source = MATRICES["mixed rows"]
    matrix = to_coo(from_scipy(source, cpu()), chunk=chunk)
    vector, product = vector_for(source.shape[1]), np.full(source.shape[0], np.nan)
    loops, entries = COO.twin, (matrix.nonzeros, chunk, matrix.row_indices)
    loops.coo_clear(matrix.rows, product, threads)
    loops.coo_segments(
        *entries, matrix.indices, matrix.values, vector, product, matrix.carries, threads
    )
    loops.coo_carries(*entries, matrix.carries, product, threads)
    np.testing.assert_allclose(product, source @ vector, **CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_threads_give_the_same_bits(form, monkeypatch):
    matrix = made(form, MATRICES["of halves"])
    vector = vector_for(matrix.columns)
    alone = multiply(matrix, vector, threads=1)
    monkeypatch.setattr(family, "threads_for", lambda work, threads: threads)
    assert np.array_equal(multiply(matrix, vector, threads=3), alone)


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
