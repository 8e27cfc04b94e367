"""Dense LU on the CPU, against LAPACK's own drivers, exact arithmetic and known matrices."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu import lu, one_block
from tests.cases import through

CPU = cpu()
SIZES = (1, 2, 3, 17, 64, 129)


def matrix(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, n))


@pytest.mark.parametrize("n", SIZES)
def test_factors_multiply_to_the_rows_in_order(n):
    A = matrix(n)
    factors = lu.factorise(A, CPU)
    held = factors.lu.T
    product = (np.tril(held, -1) + np.eye(n)) @ np.triu(held)
    np.testing.assert_allclose(product, A[lu.row_order(factors)], atol=1e-13 * n)
    assert factors.norm == pytest.approx(np.linalg.norm(A, 1))
    assert np.abs(np.tril(held, -1)).max(initial=0.0) <= 1.0


@through("n", SIZES)
@through("transposed", [False, True])
@through("shape", ["vector", "rows", "columns"])
def test_solve(n, transposed, shape):
    A = matrix(n, 1)
    before = A.copy()
    b = np.random.default_rng(2).standard_normal((n, 5))
    b = {"vector": b[:, 0], "rows": np.ascontiguousarray(b), "columns": np.asfortranarray(b)}[shape]
    side = b.copy()
    x = lu.solve(lu.factorise(A, CPU), b, transposed=transposed)
    assert x.shape == b.shape
    np.testing.assert_allclose((A.T if transposed else A) @ x, b, atol=1e-9)
    np.testing.assert_array_equal(A, before)
    np.testing.assert_array_equal(b, side)


@pytest.mark.parametrize("n", SIZES)
def test_inverse_condition_and_determinant(n):
    A = matrix(n, 3)
    factors = lu.factorise(A, CPU)
    inverse = lu.inverse(factors)
    assert inverse.flags.c_contiguous
    np.testing.assert_allclose(inverse @ A, np.eye(n), atol=1e-9)
    exact = np.linalg.cond(A, 1)
    assert exact / 3.0 <= lu.condition(factors) <= exact * (1.0 + 1e-9)
    sign, logarithm = np.linalg.slogdet(A)
    assert lu.determinant(factors) == (sign, pytest.approx(logarithm))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_one_block_has_the_same_answers(n):
    """What a GPU does with small matrices, by the twins of its kernels."""
    A = matrix(n, 3) * np.geomspace(1.0, 1e3, n)[:, None]
    ours = one_block.factorise(A, CPU, None)
    ours = one_block.factorise(A[::-1].copy(), CPU, ours)
    ours = one_block.factorise(A, CPU, ours)
    theirs = lu.factorise(A, CPU)
    b = np.random.default_rng(n).standard_normal((n, 9))
    for transposed in (False, True):
        x = lu.solve(ours, b, transposed=transposed)
        np.testing.assert_allclose(x, lu.solve(theirs, b, transposed=transposed), rtol=1e-9)
    np.testing.assert_array_equal(lu.row_order(ours), lu.row_order(theirs))
    np.testing.assert_allclose(lu.determinant(ours), lu.determinant(theirs))
    np.testing.assert_allclose(lu.inverse(ours), lu.inverse(theirs), rtol=1e-8, atol=1e-12)
    assert lu.condition(ours) == pytest.approx(lu.condition(theirs))
    assert lu.refine(A, ours, b).backward_error <= 3e-16


@pytest.mark.parametrize("factorise", [lu.factorise, partial(one_block.factorise, reuse=None)])
def test_verdicts_are_those_of_both_ways(factorise):
    with pytest.raises(lu.SingularMatrixError, match="column 1 holds"):
        factorise(np.ones((4, 4)), CPU)
    A = matrix(6, 12)
    A[2, 4] = np.nan
    with pytest.raises(ProblemError, match="Column 4 of the matrix"):
        factorise(A, CPU)
    with pytest.raises(ProblemError, match="column 2 was eliminated"):
        factorise(overflowing(), CPU)


def overflowing() -> np.ndarray:
    """Return a matrix whose last pivot would be beyond the range of numbers."""
    return np.array([[1.0, 0.0, 8e307], [1.0, 1.0, -8e307], [1.0, -1.0, -1e307]])


def test_matrix_without_rows():
    factors = lu.factorise(np.empty((0, 0)), CPU)
    assert lu.solve(factors, np.empty(0)).shape == (0,)
    assert lu.solve(factors, np.empty((0, 4))).shape == (0, 4)
    assert lu.inverse(factors).shape == (0, 0)
    assert lu.condition(factors) == 0.0
    assert lu.determinant(factors) == (1.0, 0.0)
    assert lu.refine(np.empty((0, 0)), factors, np.empty(0)).backward_error == 0.0


def test_memory_is_taken_over():
    first = lu.factorise(matrix(20, 4), CPU)
    lu_before = first.lu
    A = matrix(20, 5)
    second = lu.factorise(A, CPU, reuse=first)
    assert second.lu is lu_before
    np.testing.assert_allclose(A @ lu.solve(second, np.ones(20)), 1.0)
    assert lu.factorise(matrix(21, 5), CPU, reuse=second).size == 21


def test_condition_of_an_ill_conditioned_matrix():
    A = scipy.linalg.hilbert(8)
    assert lu.condition(lu.factorise(A, CPU)) == pytest.approx(np.linalg.cond(A, 1), rel=1e-3)


def test_condition_estimate_of_a_matrix_that_deceives_the_climb():
    # Higham (1988): the climb from the vector of ones alone sees nothing of this inverse.
    n, angle = 30, 1e3
    inverse = np.eye(n) + angle * np.outer(_alternating(n), _alternating(n))
    A = np.linalg.inv(inverse)
    exact = np.linalg.cond(A, 1)
    assert exact / 3.0 <= lu.condition(lu.factorise(A, CPU)) <= exact * 1.001


def _alternating(n: int) -> np.ndarray:
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    return signs - signs.mean()


def exact_solution(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve by elimination in rational numbers."""
    n = b.size
    rows = [[Fraction(v) for v in (*A[i], b[i])] for i in range(n)]
    for k in range(n):
        p = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[p] = rows[p], rows[k]
        for i in range(n):
            if i != k and rows[i][k]:
                share = rows[i][k] / rows[k][k]
                rows[i] = [v - share * w for v, w in zip(rows[i], rows[k], strict=True)]
    return np.array([float(rows[k][n] / rows[k][k]) for k in range(n)])


def test_refinement_gives_the_rounded_exact_solution():
    n = 10
    A, b = scipy.linalg.hilbert(n), np.random.default_rng(6).standard_normal(n)
    factors = lu.factorise(A, CPU)
    assert lu.condition(factors) > 1e13
    refined = lu.refine(A, factors, b)
    exact = exact_solution(A, b)
    plain = lu.solve(factors, b)
    scale = np.abs(exact).max()
    assert np.abs(refined.x - exact).max() <= 4e-16 * scale
    assert np.abs(plain - exact).max() > 1e-9 * scale
    assert refined.backward_error <= 3e-16
    assert 1 <= refined.steps <= 5


def test_refinement_takes_factors_of_a_matrix_nearby():
    A = matrix(40, 7)
    close = A * (1.0 + 1e-6 * np.random.default_rng(8).standard_normal(A.shape))
    b = np.ones((40, 2))
    refined = lu.refine(A, lu.factorise(close, CPU), b)
    np.testing.assert_allclose(refined.x, np.linalg.solve(A, b), rtol=1e-9)
    assert refined.backward_error <= 1e-15


def test_backward_error_of_a_given_solution():
    A, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([3.0, 4.0])
    factors = lu.factorise(A, CPU)
    exact = lu.refine(A, factors, b, np.ones(2), most_steps=0)
    assert (exact.backward_error, exact.steps) == (0.0, 0)
    off = lu.refine(A, factors, b, np.array([1.0, 1.5]), most_steps=0)
    # r = (-0.5, -1.5), |A||x| + |b| = (6.5, 9.5)
    assert off.backward_error == pytest.approx(1.5 / 9.5)


@pytest.mark.parametrize(
    ("A", "column"),
    [
        (np.zeros((3, 3)), 0),
        (np.ones((4, 4)), 1),
        (np.arange(9.0).reshape(3, 3), 2),
        (matrix(50, 20)[:, :20] @ matrix(50, 21)[:20], 20),
        (np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 1.0], [3.0, 6.0, 9.0]]), 1),
    ],
    ids=["zeros", "ones", "arithmetic", "rank 20", "equal columns"],
)
def test_singular_matrix_names_the_column(A, column):
    with pytest.raises(lu.SingularMatrixError, match=f"column {column} holds") as caught:
        lu.factorise(A, CPU)
    assert caught.value.column == column
    assert abs(caught.value.pivot) <= caught.value.rounding


def test_scale_does_not_make_a_matrix_singular():
    A = matrix(12, 11)
    rows, columns = np.geomspace(1e-150, 1e150, 12), np.geomspace(1e100, 1e-100, 12)
    scaled = rows[:, None] * A * columns
    x = lu.solve(lu.factorise(scaled, CPU), rows)
    np.testing.assert_allclose(x * columns, np.linalg.solve(A, np.ones(12)), rtol=1e-9)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_entry_that_is_not_finite(value):
    A = matrix(6, 12)
    A[2, 4] = value
    with pytest.raises(ProblemError, match="Column 4 of the matrix"):
        lu.factorise(A, CPU)


def test_shapes_that_do_not_fit():
    with pytest.raises(ProblemError, match=r"\(2, 3\)"):
        lu.factorise(np.ones((2, 3)), CPU)
    factors = lu.factorise(np.eye(3), CPU)
    with pytest.raises(ProblemError, match=r"\(4,\)"):
        lu.solve(factors, np.ones(4))
    with pytest.raises(ProblemError, match="2 rows"):
        lu.refine(np.eye(2), factors, np.ones(3))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 12),
    seed=st.integers(0, 10**6),
    zeros=st.floats(0.0, 0.7),
    transposed=st.booleans(),
)
def test_either_solved_or_singular(n, seed, zeros, transposed):
    """Small integers: exact rank decides, and a solution has a small backward error."""
    generator = np.random.default_rng(seed)
    A = generator.integers(-3, 4, (n, n)) * (generator.random((n, n)) >= zeros)
    A = A.astype(float)
    b = generator.integers(-5, 6, n).astype(float)
    if _exact_rank(A) < n:
        with pytest.raises(lu.SingularMatrixError) as caught:
            lu.factorise(A, CPU)
        column = caught.value.column
        assert _exact_rank(A[:, : column + 1]) == column
        return
    factors = lu.factorise(A, CPU)
    M = A.T if transposed else A
    x = lu.solve(factors, b, transposed=transposed)
    assert np.abs(M @ x - b).max() <= 1e-12 * (1.0 + np.abs(M).sum(axis=1) @ np.abs(x))


def _exact_rank(A: np.ndarray) -> int:
    rows = [[Fraction(v) for v in row] for row in A]
    rank = 0
    for k in range(A.shape[1]):
        p = next((i for i in range(rank, len(rows)) if rows[i][k]), None)
        if p is None:
            continue
        rows[rank], rows[p] = rows[p], rows[rank]
        for i in range(rank + 1, len(rows)):
            share = rows[i][k] / rows[rank][k]
            rows[i] = [v - share * w for v, w in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank
