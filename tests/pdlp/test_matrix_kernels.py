"""Twins of products and row sizes against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.pdlp.kernels.matrix import MATRIX
from tests.pdlp.matrices import MATRICES, compressed

NAMES = sorted(MATRICES)


@pytest.mark.parametrize("name", NAMES)
def test_multiply_is_the_product(name):
    matrix = MATRICES[name]
    vector = np.random.default_rng(0).standard_normal(matrix.shape[1])
    product = np.full(matrix.shape[0], np.nan)
    MATRIX["multiply"](*compressed(matrix).arguments, vector, product)
    np.testing.assert_allclose(product, matrix @ vector, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_row_sizes_are_the_extremes_and_the_sum(name):
    matrix = MATRICES[name]
    m, n = matrix.shape
    generator = np.random.default_rng(1)
    row_scale, column_scale = generator.uniform(0.5, 2.0, m), generator.uniform(0.5, 2.0, n)
    smallest, largest, total = np.full(m, np.nan), np.full(m, np.nan), np.full(m, np.nan)
    MATRIX["row_sizes"](
        *compressed(matrix).arguments, row_scale, column_scale, smallest, largest, total
    )
    for i in range(m):
        entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        sizes = np.abs(matrix.data[entries] * column_scale[matrix.indices[entries]]) * row_scale[i]
        np.testing.assert_allclose(smallest[i], sizes.min(initial=np.inf), rtol=1e-14)
        np.testing.assert_allclose(largest[i], sizes.max(initial=0.0), rtol=1e-14)
        np.testing.assert_allclose(total[i], sizes.sum(), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_scale_entries_scales_rows_and_columns(name):
    matrix = MATRICES[name]
    m, n = matrix.shape
    generator = np.random.default_rng(2)
    row_scale, column_scale = generator.uniform(0.5, 2.0, m), generator.uniform(0.5, 2.0, n)
    scaled = np.full(matrix.nnz, np.nan)
    MATRIX["scale_entries"](*compressed(matrix).arguments, row_scale, column_scale, scaled)
    expected = matrix.multiply(row_scale[:, None]).multiply(column_scale[None, :]).tocsr()
    np.testing.assert_allclose(scaled, expected.data, rtol=1e-14)


def test_threads_give_the_same_bits_as_one_loop():
    matrix = MATRICES["large"]
    arguments = compressed(matrix).arguments
    vector = np.random.default_rng(3).standard_normal(matrix.shape[1])
    twin = MATRIX.twin.multiply
    alone, together = np.empty(matrix.shape[0]), np.empty(matrix.shape[0])
    twin.serial(*arguments, vector, alone)
    twin.parallel(*arguments, vector, together)
    assert np.array_equal(alone, together)


def test_lanes_follow_the_mean_row_length():
    assert compressed(MATRICES["one column"]).lanes == 1
    assert compressed(MATRICES["large"]).lanes == 16
    assert compressed(MATRICES["one row"]).lanes == 32


def test_only_long_rows_are_listed():
    assert compressed(MATRICES["large"]).long_rows.size == 0
    assert compressed(MATRICES["long row"]).long_rows.tolist() == [70]
