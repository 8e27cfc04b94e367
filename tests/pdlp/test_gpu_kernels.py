"""Products, steps and sums of a check on a GPU, beside their twins on the same input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.pdlp.kernels.matrix import LARGEST, MATRIX, SUMMED, TOTAL
from solvers.pdlp.kernels.measure import MEASURE, SUMS
from solvers.pdlp.kernels.step import STEP
from solvers.sparse.shape import Plan
from solvers.sparse.slices import Slices
from tests.matrices import MATRICES
from tests.pdlp.matrices import PLANS, lay_out
from tests.pdlp.on_gpu import (
    GPU_PLANS,
    assert_equal_twin,
    by_layout,
    laid_out,
    on_gpu,
    two_cases,
)
from tests.pdlp.step_cases import POISON, StepCase, make_measured_case

pytestmark = pytest.mark.gpu


@by_layout
def test_multiply_equals_its_twin(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(1)
    for side in ("by_row", "by_column"):
        slices: tuple[Slices, Slices] = getattr(laid.plain, side), getattr(laid, side)
        vector = generator.standard_normal(slices[0].columns)

        def arguments(matrix: Slices, vector: Any = vector) -> tuple[Any, ...]:
            return (*matrix.arguments, vector, np.full(matrix.rows, POISON))

        assert_equal_twin(MATRIX, "multiply", arguments, slices, gpu)


@by_layout
def test_multiply_scaled_equals_its_twin(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(2)
    factor = generator.uniform(0.5, 2.0, laid.by_row.rows)
    vector = generator.standard_normal(laid.by_row.columns)

    def arguments(matrix: Slices) -> tuple[Any, ...]:
        return (*matrix.arguments, factor, vector, np.full(matrix.rows, POISON))

    assert_equal_twin(MATRIX, "multiply_scaled", arguments, (laid.plain.by_row, laid.by_row), gpu)


@pytest.mark.parametrize("mode", [LARGEST, TOTAL])
@by_layout
def test_rescale_equals_its_twin(name, plan, packing, mode, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(2)
    for side in ("by_row", "by_column"):
        slices: tuple[Slices, Slices] = getattr(laid.plain, side), getattr(laid, side)
        own = generator.uniform(0.5, 2.0, slices[0].rows)
        other = generator.uniform(0.5, 2.0, slices[0].columns)

        def arguments(matrix: Slices, own: Any = own, other: Any = other) -> tuple[Any, ...]:
            return (*matrix.arguments, mode, own, other, np.full(matrix.rows, POISON))

        assert_equal_twin(MATRIX, "rescale", arguments, slices, gpu)


@by_layout
def test_balance_equals_its_twin(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)
    generator = np.random.default_rng(3)
    for side in ("by_row", "by_column"):
        slices: tuple[Slices, Slices] = getattr(laid.plain, side), getattr(laid, side)
        other = generator.uniform(0.5, 2.0, slices[0].columns)

        def arguments(matrix: Slices, other: Any = other) -> tuple[Any, ...]:
            return (*matrix.arguments, 0.2, other, np.full(matrix.rows, POISON))

        assert_equal_twin(MATRIX, "balance", arguments, slices, gpu)


@pytest.mark.parametrize("keep", [0, 1, 2, 3])
@by_layout
def test_steps_equal_their_twins(name, plan, packing, keep, gpu):
    laid = laid_out(name, plan, packing)
    cases = two_cases(laid, 11)
    assert_equal_twin(
        STEP, "primal_step", lambda case: (*case.primal_arguments(), 4, keep), cases, gpu
    )
    cases = two_cases(laid, 12)
    for case in cases:
        case.reflected[...] = np.random.default_rng(13).standard_normal(case.reflected.size)
    assert_equal_twin(STEP, "dual_step", lambda case: (*case.dual_arguments(), 4, keep), cases, gpu)


@by_layout
def test_sums_of_a_check_equal_their_twins(name, plan, packing, gpu):
    laid = laid_out(name, plan, packing)

    def of_rows(case: StepCase) -> tuple[Any, ...]:
        return case.row_measure_arguments(np.zeros((max(1, case.laid.by_row.units), SUMS)))

    def of_columns(case: StepCase) -> tuple[Any, ...]:
        return case.column_measure_arguments(np.zeros((max(1, case.laid.by_column.units), SUMS)))

    cases = two_cases(laid, 14, make_measured_case)
    assert_equal_twin(MEASURE, "measure_rows", of_rows, cases, gpu, 1e-8)
    assert_equal_twin(MEASURE, "measure_columns", of_columns, cases, gpu, 1e-8)


def test_views_that_start_anywhere_are_read_where_they_start(gpu):
    laid = lay_out(MATRICES["square 129"], Plan())
    vector = np.random.default_rng(3).standard_normal(130)
    on_device = gpu.to_device(vector)[1:]
    product = gpu.xp.full(130, POISON)
    MATRIX["multiply"](*on_gpu(laid.by_row, gpu), on_device, product[1:])
    found = gpu.to_host(product)
    assert found[0] == POISON
    np.testing.assert_allclose(found[1:], laid.matrix @ vector[1:], rtol=1e-12, atol=1e-12)


def test_strided_arrays_are_refused(gpu):
    arguments = on_gpu(lay_out(MATRICES["square 32"], Plan()).by_row, gpu)
    strided = gpu.xp.zeros(64)[::2]
    with pytest.raises(TypeError, match="contiguous"):
        MATRIX["multiply"](*arguments, strided, gpu.xp.zeros(32))


@pytest.mark.parametrize("plan", GPU_PLANS)
def test_launches_repeated_give_the_same_bits(plan, gpu):
    slices = lay_out(MATRICES["long row"], PLANS[plan]).by_row
    arguments = on_gpu(slices, gpu)
    vector = gpu.to_device(np.random.default_rng(4).standard_normal(100_000))
    products = [gpu.xp.zeros(slices.rows) for _ in range(20)]
    for product in products:
        MATRIX["multiply"](*arguments, vector, product)
    first = gpu.to_host(products[0])
    assert all(np.array_equal(gpu.to_host(product), first) for product in products)


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 100_000])
def test_squares_equal_those_of_the_twin(size, gpu):
    values = np.random.default_rng(size).standard_normal(size)
    squared = gpu.to_device(np.full(size, POISON))
    MATRIX["square"](size, gpu.to_device(values), squared)
    assert np.array_equal(gpu.to_host(squared), values**2)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 100_000])
def test_what_the_power_iteration_does_to_vectors_equals_the_twin(size, gpu):
    generator = np.random.default_rng(size)
    q, image = generator.standard_normal((2, size))
    weight = generator.uniform(0.1, 10.0, size)
    blocks = -(-size // SUMMED)
    for name, before, given, out in (
        ("times_root", (weight,), (), q),
        ("divide", (), (0.3,), q),
        ("fill", (), (2.5,), np.full(size, POISON)),
        ("quotient_sums", (q, image, weight), (), np.full(3 * blocks, POISON)),
        ("size_sums", (np.where(q < 0.0, -np.inf, q), image, weight), (), np.full(blocks, POISON)),
    ):
        count = (size, blocks) if name.endswith("sums") else (size,)
        there = gpu.to_device(out)
        MATRIX[name](*count, *given, *map(gpu.to_device, before), there)
        here = out.copy()
        MATRIX[name](*count, *given, *before, here)
        np.testing.assert_allclose(gpu.to_host(there), here, rtol=1e-14, err_msg=name)
