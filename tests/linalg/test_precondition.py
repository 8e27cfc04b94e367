"""Preconditioners against what they stand for, as dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.device import cpu
from solvers.core.errors import ProblemError
from solvers.linalg import (
    block_jacobi,
    chebyshev,
    conjugate_gradients,
    identity,
    jacobi,
    neumann,
    normal_equations,
    prepare,
    symmetric,
)
from solvers.linalg.precondition import largest_eigenvalue
from solvers.linalg.workspace import true_residual
from tests.linalg.systems import laplacian, random_spd

CPU = cpu()


def as_matrix(operator, preconditioner):
    """Apply B to every unit vector."""
    space = prepare(operator, preconditioner)
    columns = []
    for i in range(operator.size):
        space.side[...] = 0.0
        space.side[i] = 1.0
        true_residual(space)
        columns.append(space.u.copy())
    return np.array(columns).T


def assert_positive_definite(B):
    np.testing.assert_allclose(B, B.T, atol=1e-12 * np.abs(B).max())
    assert np.linalg.eigvalsh(0.5 * (B + B.T)).min() > 0


def operators():
    A = sp.random_array((37, 90), density=0.15, rng=np.random.default_rng(6), format="csr")
    weight = np.random.default_rng(7).uniform(0.5, 2.0, 90)
    normal = normal_equations(A, CPU, weight)
    matrix = random_spd(45, 3)
    return {
        "symmetric": (symmetric(matrix, CPU), matrix.toarray()),
        "normal": (normal, (A @ sp.diags_array(weight) @ A.T).toarray()),
    }


@pytest.mark.parametrize("kind", ["symmetric", "normal"])
def test_jacobi_inverts_the_diagonal(kind):
    operator, M = operators()[kind]
    np.testing.assert_allclose(as_matrix(operator, jacobi(operator)), np.diag(1 / np.diag(M)))


@pytest.mark.parametrize("kind", ["symmetric", "normal"])
@pytest.mark.parametrize("size", [1, 2, 8, 16, 32])
def test_block_jacobi_inverts_the_diagonal_blocks(kind, size):
    operator, M = operators()[kind]
    expected = np.zeros_like(M)
    for first in range(0, len(M), size):
        block = slice(first, first + size)
        expected[block, block] = np.linalg.inv(M[block, block])
    found = as_matrix(operator, block_jacobi(operator, size))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["symmetric", "normal"])
@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_neumann_is_the_truncated_series(kind, degree):
    operator, M = operators()[kind]
    preconditioner = neumann(operator, degree)
    damping = preconditioner.steps[0][1]
    inverse = np.diag(1 / np.diag(M))
    factor = np.eye(len(M)) - damping * inverse @ M
    expected = sum(np.linalg.matrix_power(factor, i) for i in range(degree + 1))
    expected = damping * expected @ inverse
    found = as_matrix(operator, preconditioner)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_positive_definite(found)
    assert preconditioner.products == degree


def test_neumann_of_a_dominant_matrix_is_not_damped():
    operator = symmetric(sp.csr_array(laplacian(6) + 4.0 * sp.eye_array(36)), CPU)
    assert neumann(operator, 2).steps[0][1] == 1.0


@pytest.mark.parametrize("kind", ["symmetric", "normal"])
@pytest.mark.parametrize("degree", [1, 3, 4, 8])
def test_chebyshev_has_least_residual_on_its_interval(kind, degree):
    """1 - t P(t) is the shifted Chebyshev polynomial over its value at zero."""
    operator, M = operators()[kind]
    inverse = np.diag(1 / np.diag(M))
    largest = largest_eigenvalue(operator, jacobi(operator).inverse)
    low, high = largest / 30.0, largest
    scaled = (np.eye(len(M)) * (high + low) - 2.0 * inverse @ M) / (high - low)
    polynomial = np.polynomial.chebyshev.Chebyshev.basis(degree + 1)
    value = polynomial((high + low) / (high - low))
    previous, current = np.eye(len(M)), scaled
    for _ in range(degree):
        previous, current = current, 2.0 * scaled @ current - previous
    found = as_matrix(operator, chebyshev(operator, degree))
    np.testing.assert_allclose(np.eye(len(M)) - found @ M, current / value, atol=1e-9)
    assert_positive_definite(found)


def test_polynomials_save_reductions():
    matrix = laplacian(25)
    operator = symmetric(matrix, CPU)
    b = np.random.default_rng(1).standard_normal(625)
    iterations = [
        conjugate_gradients(operator, b, made).iterations
        for made in (jacobi(operator), chebyshev(operator, 3), chebyshev(operator, 8))
    ]
    assert iterations[0] > 2 * iterations[1] > 2 * iterations[2]


@pytest.mark.parametrize("kind", ["symmetric", "normal"])
def test_largest_eigenvalue_is_a_bound_and_near(kind):
    operator, M = operators()[kind]
    inverse = 1 / np.diag(M)
    root = np.sqrt(inverse)
    exact = np.linalg.eigvalsh(root[:, None] * M * root)[-1]
    found = largest_eigenvalue(operator, inverse)
    assert exact * (1 - 1e-12) <= found <= 1.3 * exact


def test_empty_rows_and_duplicate_rows_are_harmless():
    A = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    operator = normal_equations(A, CPU)
    b = (A @ A.T) @ np.array([1.0, 5.0, 2.0, 3.0])
    made = [jacobi(operator), block_jacobi(operator, 8), neumann(operator), chebyshev(operator)]
    for preconditioner in made:
        x = conjugate_gradients(operator, b, preconditioner).x
        assert np.isfinite(x).all()
        assert x[1] == 0.0
        np.testing.assert_allclose(A @ (A.T @ x), b, atol=1e-8)


@pytest.mark.parametrize(
    "matrix", [[[1.0, 0.0], [0.0, -2.0]], [[1.0, 1.0], [1.0, 0.0]]], ids=["negative", "zero"]
)
def test_diagonals_of_indefinite_matrices_are_named(matrix):
    operator = symmetric(sp.csr_array(matrix), CPU)
    for make in (jacobi, block_jacobi, neumann, chebyshev):
        with pytest.raises(ProblemError, match="Diagonal entry 1"):
            make(operator)


def test_indefinite_block_is_refused():
    operator = symmetric(sp.csr_array([[1.0, 3.0], [3.0, 1.0]]), CPU)
    with pytest.raises(ProblemError, match="not positive definite"):
        block_jacobi(operator, 8)


def test_sizes_and_degrees_that_are_refused():
    operator = symmetric(laplacian(3), CPU)
    with pytest.raises(ProblemError, match="block size is 7"):
        block_jacobi(operator, 7)
    for make in (neumann, chebyshev):
        with pytest.raises(ProblemError, match="degree is 0"):
            make(operator, 0)
        with pytest.raises(ProblemError, match=r"degree is 2\.5"):
            make(operator, 2.5)
    for ratio in (0.0, 1.0, np.inf, np.nan):
        with pytest.raises(ProblemError, match="ratio of eigenvalues"):
            chebyshev(operator, 2, ratio=ratio)


@pytest.mark.parametrize("make", [identity, jacobi, block_jacobi, neumann, chebyshev])
def test_one_of_another_size_is_refused(make):
    """The kernels would read beyond its end."""
    large, small = (symmetric(laplacian(size), CPU) for size in (8, 3))
    prepare(large, make(large))
    prepare(small, make(small))
    for operator, other in ((large, small), (small, large)):
        with pytest.raises(ProblemError, match=f"is not one for {operator.size} rows"):
            prepare(operator, make(other))
