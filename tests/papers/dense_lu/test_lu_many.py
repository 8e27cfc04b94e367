"""Many small matrices on the CPU: the twins of the kernels, and the library above their size."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu import lu
from tests.cases import through

CPU = cpu()
SIZES = (1, 2, 5, 32, 63, 64, 70)
"""The last two are treated by LAPACK."""


def matrices(count: int, n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, n, n))


def test_sizes_lie_on_both_sides_of_the_limit():
    assert {lu.in_one_block(CPU, n) for n in SIZES} == {True, False}


@pytest.mark.parametrize("n", SIZES)
def test_factors(n):
    A = matrices(6, n)
    found = lu.factorise_many(A, CPU)
    product = (np.tril(found.factors, -1) + np.eye(n)) @ np.triu(found.factors)
    rows = np.take_along_axis(A, found.order[:, :, None].astype(np.int64), axis=1)
    np.testing.assert_allclose(product, rows, atol=1e-12)
    np.testing.assert_array_equal(found.singular, -1)
    assert np.abs(np.tril(found.factors, -1)).max(initial=0.0) <= 1.0


@through("n", SIZES)
@through("transposed", [False, True])
def test_solutions(n, transposed):
    A = matrices(4, n, 1)
    found = lu.factorise_many(A, CPU)
    several = np.random.default_rng(2).standard_normal((4, 3, n))
    M = A.transpose(0, 2, 1) if transposed else A
    x = lu.solve_many(found, several, transposed=transposed)
    np.testing.assert_allclose(np.einsum("bij,bkj->bki", M, x), several, atol=1e-8)
    one = lu.solve_many(found, several[:, 0], transposed=transposed)
    np.testing.assert_allclose(one, x[:, 0], rtol=1e-9, atol=1e-12)
    assert lu.solve_many(found, several[:, :0]).shape == (4, 0, n)


@pytest.mark.parametrize("n", SIZES)
def test_inverses(n):
    A = matrices(5, n, 3)
    found = lu.inverse_many(A, CPU)
    np.testing.assert_allclose(found.inverses, np.linalg.inv(A), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.condition, np.linalg.cond(A, 1), rtol=1e-7)
    np.testing.assert_array_equal(found.singular, -1)


@pytest.mark.parametrize("n", [6, 66])
def test_singular_matrices_do_not_spoil_the_others(n):
    A = matrices(4, n, 4)
    A[1] = 0.0
    A[2, :, 3] = A[2, :, 1] + A[2, :, 0]
    before = A.copy()
    found = lu.factorise_many(A, CPU)
    np.testing.assert_array_equal(found.singular, [-1, 0, 3, -1])
    x = lu.solve_many(found, np.ones((4, n)))
    for which in (0, 3):
        np.testing.assert_allclose(A[which] @ x[which], 1.0, atol=1e-10)
    inverses = lu.inverse_many(A, CPU)
    assert inverses.singular[1] == 0
    assert not np.isfinite(inverses.condition[1])
    assert not inverses.condition[2] < 1e14
    np.testing.assert_allclose(inverses.inverses[3] @ A[3], np.eye(n), atol=1e-10)
    np.testing.assert_array_equal(A, before)


def test_pivots_are_found_below_zeros():
    A = np.stack([np.eye(4)[[3, 2, 1, 0]], np.array(np.diag([0.0, 1, 2, 3]) + np.eye(4)[::-1])])
    found = lu.inverse_many(A, CPU)
    np.testing.assert_allclose(found.inverses @ A, np.stack([np.eye(4)] * 2), atol=1e-15)


def test_errors_of_gauss_jordan_are_those_of_elimination():
    """On graded matrices, whose inverses span twelve orders of magnitude."""
    n = 24
    A = matrices(10, n, 5) * np.geomspace(1.0, 1e-6, n)[:, None] * np.geomspace(1e-6, 1.0, n)
    found = lu.inverse_many(A, CPU).inverses
    scale = np.abs(found) @ np.abs(A)
    theirs = np.linalg.inv(A)
    ours_left = (np.abs(found @ A - np.eye(n)) / scale).max()
    assert ours_left <= 10.0 * (np.abs(theirs @ A - np.eye(n)) / scale).max() + 1e-14


def test_no_matrices_and_matrices_without_rows():
    for shape in ((0, 3, 3), (2, 0, 0)):
        empty = np.empty(shape)
        assert lu.factorise_many(empty, CPU).factors.shape == shape
        assert lu.inverse_many(empty, CPU).inverses.shape == shape


def test_shapes_that_do_not_fit():
    with pytest.raises(ProblemError, match=r"\(2, 3, 4\)"):
        lu.factorise_many(np.empty((2, 3, 4)), CPU)
    found = lu.factorise_many(matrices(2, 3), CPU)
    with pytest.raises(ProblemError, match=r"\(2, 4\)"):
        lu.solve_many(found, np.ones((2, 4)))
