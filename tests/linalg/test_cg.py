"""Conjugate gradients against direct solves and SciPy's, in all variants."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.device import cpu
from solvers.core.errors import OptionError, ProblemError
from solvers.linalg import (
    Stopped,
    block_jacobi,
    cg,
    chebyshev,
    conjugate_gradients,
    jacobi,
    neumann,
    normal_equations,
    prepare,
    run,
    symmetric,
)
from solvers.linalg.workspace import BATCH
from tests.linalg.systems import SYSTEMS, laplacian, random_spd, scaled

CPU = cpu()
VARIANTS = ("single", "classic")
PRECONDITIONERS = {
    "none": lambda operator: None,
    "jacobi": jacobi,
    "block 8": lambda operator: block_jacobi(operator, 8),
    "block 32": lambda operator: block_jacobi(operator, 32),
    "neumann 2": lambda operator: neumann(operator, 2),
    "neumann 3": lambda operator: neumann(operator, 3),
    "chebyshev 3": lambda operator: chebyshev(operator, 3),
    "chebyshev 8": lambda operator: chebyshev(operator, 8),
}


def side_for(matrix, seed=0):
    return np.random.default_rng(seed).standard_normal(matrix.shape[0])


@pytest.mark.parametrize("name", sorted(SYSTEMS))
@pytest.mark.parametrize("kind", sorted(PRECONDITIONERS))
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


@pytest.mark.parametrize("variant", VARIANTS)
def test_iterations_are_those_of_scipy(variant):
    matrix = laplacian(30)
    b = side_for(matrix)
    counted = []
    sla.cg(matrix, b, rtol=1e-8, callback=counted.append)
    solution = conjugate_gradients(symmetric(matrix, CPU), b, tolerance=1e-8, variant=variant)
    assert solution.converged
    assert abs(solution.iterations - len(counted)) <= 2


def test_single_and_classic_go_the_same_way():
    matrix = laplacian(14)
    operator = symmetric(matrix, CPU)
    b = side_for(matrix)
    for count in (1, 2, 3, 10, 17):
        points = [
            conjugate_gradients(
                operator, b, jacobi(operator), iteration_limit=count, variant=variant
            )
            for variant in VARIANTS
        ]
        assert [point.iterations for point in points] == [count, count]
        assert points[0].stopped is Stopped.ITERATION_LIMIT
        np.testing.assert_allclose(points[0].x, points[1].x, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
def test_exact_after_as_many_iterations_as_distinct_eigenvalues(variant):
    matrix = sp.csr_array(sp.diags_array(np.repeat([1.0, 2.0, 5.0], 20)))
    solution = conjugate_gradients(symmetric(matrix, CPU), side_for(matrix), variant=variant)
    assert solution.converged
    assert solution.iterations == 3


@pytest.mark.parametrize("variant", VARIANTS)
def test_zero_side_needs_no_iteration(variant):
    solution = conjugate_gradients(symmetric(laplacian(5), CPU), np.zeros(25), variant=variant)
    assert solution.converged
    assert solution.iterations == 0
    assert not solution.x.any()


def test_no_rows_at_all():
    solution = conjugate_gradients(symmetric(sp.csr_array((0, 0)), CPU), np.zeros(0))
    assert solution.converged
    assert solution.x.shape == (0,)


@pytest.mark.parametrize("variant", VARIANTS)
def test_start_at_the_solution_needs_no_iteration(variant):
    matrix = laplacian(10)
    operator = symmetric(matrix, CPU)
    x = side_for(matrix, 3)
    solution = conjugate_gradients(operator, matrix @ x, start=x, variant=variant)
    assert solution.iterations == 0
    np.testing.assert_array_equal(solution.x, x)


@pytest.mark.parametrize("variant", VARIANTS)
def test_singular_but_consistent(variant):
    """The Laplacian of a ring: constants are its null space."""
    size = 60
    ring = sp.lil_array((size, size))
    ring.setdiag(2.0)
    for i in range(size):
        ring[i, (i + 1) % size] = ring[(i + 1) % size, i] = -1.0
    matrix = sp.csr_array(ring)
    b = matrix @ side_for(matrix)
    operator = symmetric(matrix, CPU)
    solution = conjugate_gradients(operator, b, jacobi(operator), variant=variant)
    assert solution.converged
    np.testing.assert_allclose(matrix @ solution.x, b, atol=1e-8)
    assert abs(solution.x.mean()) <= 1e-8  # from zero it never leaves the range


@pytest.mark.parametrize("variant", VARIANTS)
def test_singular_and_inconsistent_says_so(variant):
    matrix = sp.csr_array(sp.diags_array([1.0, 2.0, 0.0]))
    operator = symmetric(matrix, CPU)
    solution = conjugate_gradients(operator, np.ones(3), jacobi(operator), variant=variant)
    assert not solution.converged
    assert solution.residual == pytest.approx(1.0)
    np.testing.assert_allclose(solution.x[:2], [1.0, 0.5])


@pytest.mark.parametrize("variant", VARIANTS)
def test_ill_conditioned_ends_with_an_honest_residual(variant):
    indices = np.arange(1.0, 13.0)
    matrix = sp.csr_array(1.0 / (indices[:, None] + indices[None, :] - 1.0))  # Hilbert
    b = matrix @ np.ones(12)
    solution = conjugate_gradients(
        symmetric(matrix, CPU), b, tolerance=1e-14, iteration_limit=500, variant=variant
    )
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


@pytest.mark.parametrize("variant", VARIANTS)
def test_workspace_serves_several_sides(variant):
    matrix = random_spd(80, 8)
    operator = symmetric(matrix, CPU)
    space = prepare(operator, jacobi(operator), variant=variant)
    for seed in range(3):
        b = side_for(matrix, seed)
        solution = run(space, b, tolerance=1e-10)
        fresh = conjugate_gradients(operator, b, jacobi(operator), tolerance=1e-10, variant=variant)
        assert solution.iterations == fresh.iterations
        np.testing.assert_array_equal(solution.x, fresh.x)


def test_odd_polynomial_in_a_reused_workspace():
    matrix = random_spd(80, 9)
    operator = symmetric(matrix, CPU)
    space = prepare(operator, chebyshev(operator, 3))
    for seed in range(3):
        b = side_for(matrix, seed)
        np.testing.assert_allclose(matrix @ run(space, b).x, b, atol=1e-8)


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
    for variant in VARIANTS:
        preconditioner = PRECONDITIONERS[kind](operator)
        if variant == "classic" and preconditioner is not None and preconditioner.steps:
            continue
        solution = conjugate_gradients(operator, b, preconditioner, variant=variant)
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
    for variant in VARIANTS:
        solution = conjugate_gradients(
            symmetric(matrix, CPU), np.array([1.0, -1.0]), variant=variant
        )
        assert solution.stopped is Stopped.BREAKDOWN
        assert not solution.converged


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_cannot_be_solved_returns_nothing_worse_than_the_start(variant):
    ones = sp.csr_array(np.ones((5, 5)))
    indefinite = sp.csr_array(np.diag([1.0, -1.0, 2.0, 3.0, -4.0]))
    for matrix, make in ((ones, block_jacobi), (indefinite, lambda operator: None)):
        operator = symmetric(matrix, CPU)
        for start in (None, np.full(5, 0.1)):
            b = np.arange(5.0) + 1.0
            solution = conjugate_gradients(
                operator, b, make(operator), start=start, variant=variant
            )
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


def test_vectors_and_variants_that_are_refused():
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
    with pytest.raises(OptionError, match="'triple'"):
        prepare(operator, variant="triple")
    with pytest.raises(OptionError, match="chebyshev 4"):
        prepare(operator, chebyshev(operator, 4), variant="classic")


def test_residual_that_drifted_is_replaced(monkeypatch):
    """With no drift allowed the residual is replaced after every batch, with some all the same."""
    matrix = scaled(laplacian(40), 0.5, 7)
    operator = symmetric(matrix, CPU)
    b = side_for(matrix)
    replaced = []
    real = cg.direction_product
    monkeypatch.setattr(
        cg, "direction_product", lambda space: (replaced.append(space), real(space))
    )
    usual = conjugate_gradients(operator, b, jacobi(operator), variant="single")
    assert usual.converged
    assert not replaced
    monkeypatch.setattr(cg, "MOST_DRIFT", 0.0)
    always = conjugate_gradients(operator, b, jacobi(operator), variant="single")
    assert always.converged
    assert len(replaced) == (always.iterations - 1) // BATCH
