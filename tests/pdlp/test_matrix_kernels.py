"""Twins of products and row sizes against plain NumPy."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, repeat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.problem import side_sizes
from solvers.pdlp.kernels.matrix import LARGEST, MATRIX, SUMMED, TOTAL
from solvers.sparse.slices import Slices
from tests.matrices import MATRICES, NAMES, any_matrix, each, matrix_of
from tests.pdlp.matrices import PACKINGS, PLANS, lay_out


def multiply(slices: Slices, vector: np.ndarray) -> np.ndarray:
    product = np.full(slices.rows, np.nan)
    MATRIX["multiply"](*slices.arguments, vector, product)
    return product


@each(which=NAMES * 4, plan=cycle(PLANS), seed=repeat(0))
@given(any_matrix(), st.sampled_from([*PLANS]), st.integers(0, 99))
@settings(max_examples=30)
def test_multiply_is_the_product(which, plan, seed):
    laid = lay_out(matrix_of(which), PLANS[plan]).plain
    generator = np.random.default_rng(seed)
    m, n = laid.matrix.shape
    x, y, factor = generator.normal(size=n), generator.normal(size=m), generator.uniform(size=m)
    product = np.full(m, np.nan)
    MATRIX["multiply_scaled"](*laid.by_row.arguments, factor, x, product)
    for found, expected in (
        (multiply(laid.by_row, x), laid.matrix @ x),
        (multiply(laid.by_column, y), laid.matrix.T @ y),
        (product, factor * (laid.matrix @ x)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("name", "indices"), [("square 129", "uint16"), ("long row", "int32")])
def test_multiply_reads_every_packing(name, indices, packing):
    laid = lay_out(MATRICES[name], PLANS["one step"], packing)
    assert laid.by_row.values.dtype == packing
    assert laid.by_row.indices.dtype == indices
    x = np.random.default_rng(1).standard_normal(laid.matrix.shape[1])
    np.testing.assert_allclose(multiply(laid.by_row, x), laid.matrix @ x, rtol=1e-11, atol=1e-11)


def expected_scale(matrix, mode, row_scale, column_scale):
    scaled = row_scale.copy()
    for i in range(matrix.shape[0]):
        entries = slice(matrix.indptr[i], matrix.indptr[i + 1])
        sizes = np.abs(matrix.data[entries] * column_scale[matrix.indices[entries]]) * row_scale[i]
        sizes = sizes[sizes > 0]
        if sizes.size:
            scaled[i] /= np.sqrt(sizes.max() if mode == LARGEST else sizes.sum())
    return scaled


@each(which=NAMES, plan=cycle(["cpu", "many units", "usual"]), mode=cycle([LARGEST, TOTAL]))
@given(any_matrix(), st.sampled_from([*PLANS]), st.sampled_from([LARGEST, TOTAL]))
@settings(max_examples=30)
def test_rescale_divides_by_the_root_of_the_size(which, plan, mode):
    laid = lay_out(matrix_of(which), PLANS[plan]).plain
    m, n = laid.matrix.shape
    generator = np.random.default_rng(2)
    row_scale, column_scale = generator.uniform(0.5, 2.0, m), generator.uniform(0.5, 2.0, n)
    rescaled = np.full(m, np.nan)
    MATRIX["rescale"](*laid.by_row.arguments, mode, row_scale, column_scale, rescaled)
    expected = expected_scale(laid.matrix, mode, row_scale, column_scale)
    np.testing.assert_allclose(rescaled, expected, rtol=1e-11)


@pytest.mark.parametrize("mode", [LARGEST, TOTAL])
@pytest.mark.parametrize("data", [[0.0, 0.0], [np.inf, 1.0], [np.nan, np.nan]])
def test_rescale_leaves_rows_without_a_usable_size_alone(mode, data):
    matrix = MATRICES["one row"].copy()
    matrix.data[:] = data[1]
    matrix.data[0] = data[0]
    rescaled = np.zeros(1)
    MATRIX["rescale"](
        *lay_out(matrix).by_row.arguments, mode, np.array([3.0]), np.ones(300), rescaled
    )
    assert rescaled[0] == 3.0


def test_balance_leaves_stored_zeros_out():
    matrix = MATRICES["one row"].copy()
    matrix.data[:] = 0.25
    matrix.data[3:] = 0.0
    balanced = np.zeros(1)
    MATRIX["balance"](*lay_out(matrix).by_row.arguments, 0.0, np.ones(300), balanced)
    assert balanced[0] == pytest.approx(4.0)


@each(which=NAMES, plan=cycle(["cpu", "many units", "usual"]), ridge=cycle([0.0, 0.5]))
@given(any_matrix(), st.sampled_from([*PLANS]), st.floats(0.0, 1.0))
@settings(max_examples=30)
def test_balance_divides_by_the_geometric_mean(which, plan, ridge):
    laid = lay_out(matrix_of(which), PLANS[plan]).plain
    m, n = laid.matrix.shape
    column_scale = np.random.default_rng(4).uniform(0.5, 2.0, n)
    balanced = np.full(m, np.nan)
    MATRIX["balance"](*laid.by_row.arguments, ridge, column_scale, balanced)
    entries = laid.matrix.tocoo()
    logarithms = np.log(np.abs(entries.data * column_scale[entries.coords[1]]))
    count = np.bincount(entries.coords[0], minlength=m)
    total = np.bincount(entries.coords[0], weights=logarithms, minlength=m)
    expected = np.exp(-total / (1.0 + ridge) / np.maximum(count, 1))
    np.testing.assert_allclose(balanced, expected, rtol=1e-10)
    assert np.all(balanced[count == 0] == 1.0)


@pytest.mark.parametrize("plan", ["cpu", "usual"])
def test_threads_give_the_same_bits_as_one_loop(plan):
    laid = lay_out(MATRICES["large"], PLANS[plan]).plain
    arguments = laid.by_row.arguments
    vector = np.random.default_rng(3).standard_normal(laid.matrix.shape[1])
    alone, together = np.empty(laid.by_row.rows), np.empty(laid.by_row.rows)
    MATRIX.twin.multiply(*arguments, vector, alone, 1)
    MATRIX.twin.multiply(*arguments, vector, together, 2)
    assert np.array_equal(alone, together)


def test_indices_of_64_bits_are_read():
    laid = lay_out(MATRICES["large"], PLANS["cpu"]).plain
    slices = laid.by_row
    names = ("meta", "indices", "splits", "tickets")
    wide = replace(slices, **{name: getattr(slices, name).astype(np.int64) for name in names})
    x = np.random.default_rng(5).standard_normal(laid.matrix.shape[1])
    assert np.array_equal(multiply(wide, x), multiply(slices, x))


@pytest.mark.parametrize("size", [0, 1, 257, 1000])
def test_squares_are_exact(size):
    values = np.random.default_rng(size).standard_normal(size) * 1e100
    squared = np.full(size, np.nan)
    MATRIX["square"](size, values, squared)
    assert np.array_equal(squared, values**2)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 9000])
def test_what_the_power_iteration_does_to_vectors(size):
    generator = np.random.default_rng(size)
    q, image = generator.standard_normal((2, size))
    weight = generator.uniform(0.1, 10.0, size)
    scaled, divided, sums = q.copy(), q.copy(), np.full(3 * -(-size // SUMMED), np.nan)
    MATRIX["times_root"](size, weight, scaled)
    assert np.array_equal(scaled, q * np.sqrt(weight))
    MATRIX["divide"](size, 0.3, divided)
    assert np.array_equal(divided, q / 0.3)
    MATRIX["quotient_sums"](size, sums.size // 3, q, image, weight, sums)
    expected = [np.sum(one * other / weight) for one, other in ((q, q), (q, image), (image, image))]
    np.testing.assert_allclose(sums.reshape(3, -1).sum(axis=1), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 9000])
def test_sizes_of_bounds_and_a_vector_of_one_value(size):
    generator = np.random.default_rng(size)
    low, high = np.sort(generator.standard_normal((2, size)), axis=0)
    low[::3], high[1::3], low[2::7] = -np.inf, np.inf, high[2::7]
    metric = generator.uniform(0.1, 10.0, size)
    filled, sums = np.full(size, np.nan), np.full(-(-size // SUMMED), np.nan)
    MATRIX["fill"](size, 2.5, filled)
    assert np.all(filled == 2.5)
    MATRIX["size_sums"](size, sums.size, low, high, metric, sums)
    assert sums.sum() == pytest.approx(np.sum(side_sizes(low, high) ** 2 * metric), rel=1e-12)
