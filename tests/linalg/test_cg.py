"""Conjugate gradients against direct solves and SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import ProblemError
from solvers.linalg import (
    Stopped,
    conjugate_gradients,
    jacobi,
    normal_equations,
    prepare,
    run,
    symmetric,
)
from solvers.linalg.cg import BATCH
from tests.cases import through
from tests.linalg.systems import SYSTEMS, laplacian, random_spd, scaled

CPU = cpu()
PRECONDITIONERS = {"none": lambda operator: None, "jacobi": jacobi}


def side_for(matrix, seed=0):
    return np.random.default_rng(seed).standard_normal(matrix.shape[0])


@through("name", sorted(SYSTEMS))
@through("kind", sorted(PRECONDITIONERS))
def test_solution_is_the_direct_one(name, kind):
    matrix = SYSTEMS[name]
    operator = symmetric(matrix, CPU)
    b = side_for(matrix)
    solution = conjugate_gradients(operator, b, PRECONDITIONERS[kind](operator), tolerance=1e-11)
    if (name, kind) == ("scaled", "none"):  # its entries span eight orders of magnitude
        assert solution.stopped is Stopped.ITERATION_LIMIT
        return
    assert solution.converged
    residual = np.linalg.norm(b - matrix @ solution.x)
    assert residual <= 1.0001e-11 * np.linalg.norm(b)
    assert solution.residual == pytest.approx(residual, rel=1e-3, abs=1e-15)
    if name != "scaled":
        expected = sla.spsolve(sp.csc_array(matrix), b)
        np.testing.assert_allclose(solution.x, expected, rtol=1e-7, atol=1e-7)


def test_iterations_are_those_of_scipy():
    matrix = laplacian(30)
    b = side_for(matrix)
    counted = []
    sla.cg(matrix, b, rtol=1e-8, callback=counted.append)
    solution = conjugate_gradients(symmetric(matrix, CPU), b, tolerance=1e-8)
    assert solution.converged
    assert abs(solution.iterations - len(counted)) <= 2


def test_exact_after_as_many_iterations_as_distinct_eigenvalues():
    matrix = sp.csr_array(sp.diags_array(np.repeat([1.0, 2.0, 5.0], 20)))
    solution = conjugate_gradients(symmetric(matrix, CPU), side_for(matrix))
    assert solution.converged
    assert solution.iterations == 3


def test_zero_side_needs_no_iteration():
    solution = conjugate_gradients(symmetric(laplacian(5), CPU), np.zeros(25))
    assert solution.converged
    assert solution.iterations == 0
    assert not solution.x.any()


def test_no_rows_at_all():
    solution = conjugate_gradients(symmetric(sp.csr_array((0, 0)), CPU), np.zeros(0))
    assert solution.converged
    assert solution.x.shape == (0,)


def test_start_at_the_solution_needs_no_iteration():
    matrix = laplacian(10)
    operator = symmetric(matrix, CPU)
    x = side_for(matrix, 3)
    solution = conjugate_gradients(operator, matrix @ x, start=x)
    assert solution.iterations == 0
    np.testing.assert_array_equal(solution.x, x)


def test_singular_but_consistent():
    """The Laplacian of a ring: constants are its null space."""
    size = 60
    ring = sp.lil_array((size, size))
    ring.setdiag(2.0)
    for i in range(size):
        ring[i, (i + 1) % size] = ring[(i + 1) % size, i] = -1.0
    matrix = sp.csr_array(ring)
    b = matrix @ side_for(matrix)
    operator = symmetric(matrix, CPU)
    solution = conjugate_gradients(operator, b, jacobi(operator))
    assert solution.converged
    np.testing.assert_allclose(matrix @ solution.x, b, atol=1e-8)
    assert abs(solution.x.mean()) <= 1e-8  # from zero it never leaves the range


def test_singular_and_inconsistent_says_so():
    matrix = sp.csr_array(sp.diags_array([1.0, 2.0, 0.0]))
    operator = symmetric(matrix, CPU)
    solution = conjugate_gradients(operator, np.ones(3), jacobi(operator))
    assert not solution.converged
    assert solution.residual == pytest.approx(1.0)
    np.testing.assert_allclose(solution.x[:2], [1.0, 0.5])


def test_ill_conditioned_ends_with_an_honest_residual():
    indices = np.arange(1.0, 13.0)
    matrix = sp.csr_array(1.0 / (indices[:, None] + indices[None, :] - 1.0))  # Hilbert
    b = matrix @ np.ones(12)
    solution = conjugate_gradients(symmetric(matrix, CPU), b, tolerance=1e-14, iteration_limit=500)
    residual = np.linalg.norm(b - matrix @ solution.x)
    assert solution.residual == pytest.approx(residual, rel=0.2, abs=1e-15)
    assert residual <= 1e-9 * np.linalg.norm(b)
    assert solution.converged == (solution.residual <= solution.target)


def test_residual_is_true_after_several_batches():
    matrix = scaled(laplacian(40), 0.5, 7)
    b = side_for(matrix)
    operator = symmetric(matrix, CPU)
    solution = conjugate_gradients(operator, b, jacobi(operator), tolerance=1e-10)
    assert solution.iterations > 2 * BATCH
    assert solution.converged
    assert np.linalg.norm(b - matrix @ solution.x) <= 1.0001e-10 * np.linalg.norm(b)


def test_workspace_serves_several_sides():
    matrix = random_spd(80, 8)
    operator = symmetric(matrix, CPU)
    space = prepare(operator, jacobi(operator))
    for seed in range(3):
        b = side_for(matrix, seed)
        solution = run(space, b, tolerance=1e-10)
        fresh = conjugate_gradients(operator, b, jacobi(operator), tolerance=1e-10)
        assert solution.iterations == fresh.iterations
        np.testing.assert_array_equal(solution.x, fresh.x)


def test_caller_may_stop_it():
    matrix = scaled(laplacian(40), 0.5, 7)
    space = prepare(symmetric(matrix, CPU))
    solution = run(space, side_for(matrix), should_stop=lambda: True)
    assert solution.stopped is Stopped.INTERRUPTED
    assert solution.iterations == BATCH


@pytest.mark.parametrize("kind", sorted(PRECONDITIONERS))
def test_normal_equations_without_forming_them(kind):
    generator = np.random.default_rng(4)
    A = sp.random_array((70, 200), density=0.08, rng=generator, format="csr")
    weight = generator.uniform(0.0, 2.0, 200)
    weight[::3] = 0.0
    M = (A @ sp.diags_array(weight) @ A.T).toarray()
    operator = normal_equations(A, CPU, weight)
    b = M @ generator.standard_normal(70)
    solution = conjugate_gradients(operator, b, PRECONDITIONERS[kind](operator))
    assert solution.converged
    np.testing.assert_allclose(M @ solution.x, b, atol=1e-8 * np.linalg.norm(b))


@settings(max_examples=40)
@given(
    size=st.integers(1, 24),
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(sorted(PRECONDITIONERS)),
)
def test_any_positive_definite_system(size, seed, kind):
    matrix = random_spd(size, seed, 0.4)
    operator = symmetric(matrix, CPU)
    b = side_for(matrix, seed)
    solution = conjugate_gradients(operator, b, PRECONDITIONERS[kind](operator), tolerance=1e-9)
    assert solution.converged
    np.testing.assert_allclose(
        solution.x, np.linalg.solve(matrix.toarray(), b), rtol=1e-5, atol=1e-5
    )


def test_indefinite_matrix_is_no_convergence():
    matrix = sp.csr_array([[1.0, 3.0], [3.0, 1.0]])
    solution = conjugate_gradients(symmetric(matrix, CPU), np.array([1.0, -1.0]))
    assert solution.stopped is Stopped.BREAKDOWN
    assert not solution.converged


def test_what_cannot_be_solved_returns_nothing_worse_than_the_start():
    ones = sp.csr_array(np.ones((5, 5)))
    indefinite = sp.csr_array(np.diag([1.0, -1.0, 2.0, 3.0, -4.0]))
    for matrix, make in ((ones, jacobi), (indefinite, lambda operator: None)):
        operator = symmetric(matrix, CPU)
        for start in (None, np.full(5, 0.1)):
            b = np.arange(5.0) + 1.0
            solution = conjugate_gradients(operator, b, make(operator), start=start)
            before = np.linalg.norm(b if start is None else b - matrix @ start)
            assert not solution.converged
            assert solution.residual <= before * (1 + 1e-12)
            true = np.linalg.norm(b - matrix @ solution.x)
            assert solution.residual == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ("abc", "A str is no sparse matrix"),
        (None, "A NoneType is no sparse matrix"),
        (np.array([[1j, 0], [0, 1]]), "some entries are complex"),
        (np.array([["a"]], dtype=object), "no sparse matrix of real numbers"),
    ],
)
def test_what_is_no_matrix_is_refused(matrix, words):
    for make in (symmetric, normal_equations):
        with pytest.raises(ProblemError, match=words):
            make(matrix, CPU)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 3)), "2 x 3"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "not symmetric"),
        (np.array([[np.nan, 0.0], [0.0, 1.0]]), r"Entry \(0, 0\)"),
    ],
)
def test_matrices_that_are_refused(matrix, words):
    with pytest.raises(ProblemError, match=words):
        symmetric(sp.csr_array(matrix), CPU)


def test_weights_that_are_refused():
    A = sp.csr_array(np.ones((2, 3)))
    with pytest.raises(ProblemError, match="Weight 1"):
        normal_equations(A, CPU, [1.0, -1.0, 1.0])
    with pytest.raises(ProblemError, match="3 columns"):
        normal_equations(A, CPU, [1.0, 1.0])
    with pytest.raises(ProblemError, match="'weight' is no array of real numbers"):
        normal_equations(A, CPU, ["a", "b", "c"])


def test_vectors_that_are_refused():
    operator = symmetric(laplacian(3), CPU)
    with pytest.raises(ProblemError, match="9 rows"):
        conjugate_gradients(operator, np.ones(4))
    with pytest.raises(ProblemError, match="not finite"):
        conjugate_gradients(operator, np.full(9, np.inf))
    for wrong in ("text", ["a"] * 9, np.full(9, 1j)):
        with pytest.raises(ProblemError, match="'side' is no array of real numbers"):
            conjugate_gradients(operator, wrong)
    with pytest.raises(ProblemError, match="tolerances are nan"):
        conjugate_gradients(operator, np.ones(9), tolerance=np.nan)
    with pytest.raises(ProblemError, match="operator 9 rows"):
        prepare(operator, jacobi(symmetric(laplacian(4), CPU)))


def test_jacobi_inverts_the_diagonal():
    A = sp.random_array((37, 90), density=0.15, rng=np.random.default_rng(6), format="csr")
    weight = np.random.default_rng(7).uniform(0.5, 2.0, 90)
    matrix = random_spd(45, 3)
    for operator, M in (
        (symmetric(matrix, CPU), matrix),
        (normal_equations(A, CPU, weight), A @ sp.diags_array(weight) @ A.T),
    ):
        np.testing.assert_allclose(jacobi(operator), 1 / M.diagonal())


def test_empty_rows_get_no_share():
    operator = symmetric(sp.csr_array(np.diag([2.0, 0.0])), CPU)
    np.testing.assert_array_equal(jacobi(operator), [0.5, 0.0])


@pytest.mark.parametrize(
    ("matrix", "entry"),
    [([[1.0, 0.0], [0.0, -2.0]], "entry 1 of the matrix is -2"), ([[0.0, 1.0], [1.0, 1.0]], "0")],
)
def test_matrices_that_are_not_definite_are_refused(matrix, entry):
    with pytest.raises(ProblemError, match=entry):
        jacobi(symmetric(sp.csr_array(matrix), CPU))
