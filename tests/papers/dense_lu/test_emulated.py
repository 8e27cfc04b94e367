"""Device code run on the host, against its twins on the same input."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.papers.dense_lu.factors import PIVOT_EPSILON
from solvers.papers.dense_lu.kernels.batched import BATCHED, shared_bytes
from solvers.papers.dense_lu.kernels.elimination import ELIMINATION
from solvers.papers.dense_lu.kernels.inspect import INSPECT, parts
from tests.emulator import MOST_SHARED, Emulated, needs_compiler
from tests.papers.dense_lu.kernel_cases import (
    PART_SIZES,
    SIZES,
    Case,
    all_cases,
    inspect_cases,
    random_matrices,
    singular_cases,
)

pytestmark = needs_compiler


@pytest.fixture(scope="module", params=["forwards", "backwards"])
def device(request):
    families = (INSPECT, BATCHED, ELIMINATION)
    return {f.stem: Emulated(f, backwards=request.param == "backwards") for f in families}


def assert_equal_on_both(case: Case, device: dict[str, Emulated]) -> None:
    family, name, values = case
    there = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
    with np.errstate(all="ignore"):
        family[name](*values)
    device[family.stem][name](*there)
    for argument, ours, theirs in zip(family.kernels[name].arguments, values, there, strict=True):
        if argument.direction == "in" or not isinstance(ours, np.ndarray):
            continue
        close = 0.0 if ours.dtype == np.int32 else 1e-11 * (1.0 + np.nanmax(np.abs(ours)))
        np.testing.assert_allclose(theirs, ours, rtol=1e-11, atol=close, err_msg=argument.name)


@pytest.mark.parametrize("n", SIZES)
def test_kernels_equal_their_twins(device, n):
    for case in all_cases(n):
        assert_equal_on_both(case, device)


@pytest.mark.parametrize("n", PART_SIZES)
def test_columns_shared_among_blocks(device, n):
    for case in inspect_cases(n, n):
        assert_equal_on_both(case, device)


def test_parts_make_the_whole_report():
    n = 2 * PART_SIZES[0]
    A = random_matrices(1, n, 9)[0]
    columns, sums, weights = np.empty((n, n)), np.empty((parts(n), n)), np.empty((parts(n), n))
    report = np.empty((3, n))
    INSPECT["take_in"](n, A, columns, sums)
    np.testing.assert_array_equal(columns, A.T)
    INSPECT["weigh"](n, columns, weights)
    INSPECT["conclude"](n, parts(n), 1.0, columns, sums, weights, report)
    np.testing.assert_allclose(report[0], np.abs(A).sum(axis=0))
    below = np.abs(np.tril(A, -1)) @ np.abs(np.triu(A, 1))
    np.testing.assert_allclose(report[1], np.arange(n) * np.diagonal(below))
    np.testing.assert_array_equal(report[2], np.diagonal(A))


def test_kernels_and_twins_find_the_same_singular_columns(device):
    for family, name, values in singular_cases():
        there = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        with np.errstate(all="ignore"):
            family[name](*values)
        device[family.stem][name](*there)
        for argument, theirs, ours in zip(
            family.kernels[name].arguments, there, values, strict=True
        ):
            if argument.name == "singular":
                np.testing.assert_array_equal(theirs, ours)
            if argument.name == "verdict":
                np.testing.assert_allclose(theirs[:, :2], ours[:, :2], rtol=1e-12)
                assert np.isnan(ours[3, 0])  # the norm of the matrix with a NaN


def test_largest_matrix_of_a_block(device):
    n = 160
    assert shared_bytes(n, sides=8) <= MOST_SHARED
    matrices = random_matrices(1, n, 5)
    factors, order = np.empty((1, n, n)), np.empty((1, n), np.int32)
    singular, verdict = np.empty(1, np.int32), np.empty((1, 4))
    arguments = (matrices, factors, order, singular, verdict)
    device["batched"]["factorise"](1, n, PIVOT_EPSILON, *arguments)
    product = (np.tril(factors[0], -1) + np.eye(n)) @ np.triu(factors[0])
    assert singular[0] == -1
    np.testing.assert_allclose(product, matrices[0][order[0]], atol=1e-11)
    inverses, norms = np.empty((1, n, n)), np.empty((2, 1))
    device["batched"]["invert"](1, n, matrices, inverses, norms, singular)
    assert np.abs(inverses[0] @ matrices[0] - np.eye(n)).max() < 1e-9
    assert norms[0, 0] == pytest.approx(np.linalg.norm(matrices[0], 1))
    assert norms[1, 0] == pytest.approx(np.linalg.norm(inverses[0], 1))
