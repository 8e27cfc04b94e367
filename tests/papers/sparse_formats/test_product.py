"""Products in every format against SciPy, on the CPU and by device code run on the host."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import EngineError
from solvers.papers.sparse_formats import formats
from solvers.papers.sparse_formats.formats import from_scipy, multiply, prepared, transposed
from solvers.papers.sparse_formats.kernels.products import BLOCK, BLOCKS_AT_ONCE, launch, share_rows
from tests.cases import through
from tests.emulator import emulated, needs_compiler
from tests.matrices import each
from tests.papers.sparse_formats.matrices import (
    FORMS,
    MATRICES,
    NAMES,
    any_matrix,
    forms_of,
    matrix_of,
    of_row_lengths,
    vector_for,
)

CLOSE = {"rtol": 1e-11, "atol": 1e-11}


@each(which=NAMES, seed=repeat(0))
@given(any_matrix(), st.integers(0, 9999))
@settings(max_examples=40)
def test_products_are_scipys_in_every_format(which, seed):
    matrix = matrix_of(which)
    for source, there in (
        (matrix, from_scipy(matrix, cpu())),
        (matrix.T, transposed(from_scipy(matrix, cpu()))),
    ):
        vector = vector_for(source.shape[1], seed)
        for name, held in forms_of(there).items():
            product = np.full(source.shape[0], np.nan)
            multiply(held, vector, product)
            np.testing.assert_allclose(product, source @ vector, err_msg=name, **CLOSE)


AWKWARD = {
    "some": MATRICES["some"],
    "no entries": MATRICES["no entries"],
    "mixed rows": of_row_lengths([1, 40, 0, 3, 200, 2, 1500, 7, 0, 5] * 3, 2000, 1),
    "two blocks for a row": of_row_lengths([3] * 90 + [1300] + [2] * 40, 1400, 2),
}


@needs_compiler
@through("name", AWKWARD)
def test_device_code_agrees_with_scipy_and_can_run_again(name):
    source = AWKWARD[name]
    vector = vector_for(source.shape[1])
    for form, held in forms_of(from_scipy(source, cpu())).items():
        for _ in range(2):  # counters are as they were
            product = np.full(source.shape[0], np.nan)
            for family, kernel, values in formats._calls(held, vector, product):
                emulated(family)[kernel](*values)
            np.testing.assert_allclose(product, source @ vector, err_msg=form, **CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_what_a_product_keeps_in_each_format(form):
    matrix = MATRICES["some"]
    held = FORMS[form](from_scipy(matrix, cpu()))
    vector, product = np.zeros(200), np.full(300, np.nan)
    run = prepared(held, vector, product)
    for seed in (1, 2):
        vector[:] = vector_for(200, seed)
        run()
        np.testing.assert_allclose(product, matrix @ vector, **CLOSE)
    vector[0] = np.inf  # the column that padding points at
    reached = np.diff(matrix[:, [0]].tocsr().indptr) > 0
    assert 0 < reached.sum() < reached.size
    assert np.array_equal(~np.isfinite(multiply(held, vector)), reached)


row_lengths = st.lists(st.integers(0, 40) | st.sampled_from([0, 1, 1000, 5000]), max_size=300)


@given(row_lengths)
@settings(max_examples=60)
def test_every_entry_of_shared_rows_is_read_exactly_once(lengths):
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    shared = share_rows(np, starts[1:] - starts[:-1])
    done = np.zeros(starts[-1], dtype=int)
    for own, row in enumerate(shared.chunk_rows):
        first = starts[row] + (own - shared.chunk_firsts[own]) * shared.chunk
        done[first : min(first + shared.chunk, starts[row + 1])] += 1
    for row in np.flatnonzero(np.array(lengths) <= shared.long_length):
        done[starts[row] : starts[row + 1]] += 1
    assert np.all(done == 1)
    assert shared.chunks == shared.partials.size == shared.tickets.size <= BLOCKS_AT_ONCE
    shape = launch({"rows": len(lengths), "lanes": shared.lanes, "chunks": shared.chunks})
    assert (shape.grid - shared.chunks) * BLOCK >= len(lengths) * shared.lanes


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros(200, dtype=np.float32)])
def test_wrong_vector_is_named_with_what_was_expected(bad):
    matrix = from_scipy(MATRICES["some"], cpu())
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
