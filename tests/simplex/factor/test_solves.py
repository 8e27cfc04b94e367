"""Solves with a factorised basis against SciPy's, and sparse ones against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import splu, spsolve

from solvers.errors import EngineError
from solvers.simplex.factor.basis import BasisFactor
from solvers.simplex.factor.solves import btran, ftran
from tests.simplex.factor.bases import (
    columns_of,
    form_of,
    optimal_basis,
    random_basis,
    random_form,
)

SHAPES = [
    (0, 0, 0.0, 0),
    (1, 1, 1.0, 0),
    (5, 9, 0.6, 1),
    (40, 60, 0.2, 10),
    (150, 200, 0.5, 0),
    (400, 600, 0.01, 100),
    (30, 20, 0.3, 30),
]


def assert_solves(factor: BasisFactor, basic: np.ndarray, tolerance: float = 1e-12) -> None:
    """Check both solves with random right-hand sides by their backward error, row by row."""
    matrix = columns_of(factor.form, basic)
    m = basic.size
    rng = np.random.default_rng(1)
    pattern = np.zeros(m, dtype=np.int32)
    for solve, product in ((ftran, matrix), (btran, matrix.T)):
        right = rng.standard_normal(m)
        solution = right.copy()
        solve(factor.arrays, solution, pattern, -1)
        size = abs(product) @ abs(solution) + abs(right)
        assert (abs(product @ solution - right) <= tolerance * (size + size.max(initial=0))).all()


@pytest.mark.parametrize(("m", "n", "density", "logicals"), SHAPES)
def test_solves_fit_the_basis(m, n, density, logicals):
    form = random_form(m, n, density, seed=m)
    basic = random_basis(form, logicals, seed=n)
    factor = BasisFactor(form)
    factor.factorise(basic)
    assert_solves(factor, basic)


def test_residual_measures_the_solution():
    form = random_form(20, 30, 0.4, seed=2)
    basic = random_basis(form, 4, seed=3)
    factor = BasisFactor(form)
    factor.factorise(basic)
    right = np.arange(20.0)
    solution = right.copy()
    ftran(factor.arrays, solution, np.zeros(20, dtype=np.int32), -1)
    assert factor.residual(basic, right, solution) <= 1e-10
    solution[np.flatnonzero(basic >= 30)[0]] += 0.5  # a logical, whose column is a unit vector
    assert factor.residual(basic, right, solution) == pytest.approx(0.5)


def test_the_slack_basis_has_no_entries():
    form = random_form(50, 20, 0.3, seed=4)
    factor = BasisFactor(form)
    basic = np.arange(20, 70, dtype=np.int64)
    assert not factor.factorise(basic)
    assert factor.factor_entries == 0
    vector = np.arange(50.0)
    ftran(factor.arrays, vector, np.zeros(50, dtype=np.int32), -1)
    assert (vector == -np.arange(50.0)).all()


def test_triangular_bases_need_no_elimination():
    rng = np.random.default_rng(5)
    lower = np.tril(rng.standard_normal((60, 60)) * (rng.random((60, 60)) < 0.1), -1) + np.eye(60)
    form = form_of(lower[rng.permutation(60)][:, rng.permutation(60)])
    factor = BasisFactor(form)
    basic = np.arange(60, dtype=np.int64)
    assert not factor.factorise(basic)
    assert factor.nucleus_size == 0
    assert factor.factor_entries == np.count_nonzero(lower) - 60
    assert_solves(factor, basic)


@pytest.mark.parametrize("density", [0.02, 1.0])
def test_a_large_nucleus(density):
    """All columns structural; at density one it is eliminated as a dense matrix."""
    form = random_form(300, 300, density, seed=6)
    factor = BasisFactor(form)
    basic = np.arange(300, dtype=np.int64)
    factor.factorise(basic)
    assert_solves(factor, basic)


def test_many_rows():
    m = 100_000
    rng = np.random.default_rng(7)
    matrix = sp.random(m, 500, 5e-5, random_state=rng, format="csr") + sp.eye_array(m, 500)
    form = form_of(matrix)
    basic = np.concatenate([np.arange(500), 500 + rng.permutation(np.arange(500, m))])
    basic = rng.permutation(basic).astype(np.int64)
    factor = BasisFactor(form)
    assert not factor.factorise(basic)
    assert_solves(factor, basic)
    vector, pattern = np.zeros(m), np.zeros(m, dtype=np.int32)
    vector[7], pattern[0] = 1.0, 7
    before = factor.solve_work
    count = btran(factor.arrays, vector, pattern, 1)
    assert count == np.count_nonzero(vector)
    assert set(pattern[:count]) == set(np.flatnonzero(vector))
    assert factor.solve_work - before < 1000, "a sparse solve must not visit every row"


@pytest.mark.parametrize("name", ["afiro", "adlittle", "forplan"])
def test_optimal_bases_of_netlib(name):
    form, basic = optimal_basis(name)
    factor = BasisFactor(form)
    assert not factor.factorise(basic)
    matrix = columns_of(form, basic)
    pattern = np.zeros(basic.size, dtype=np.int32)
    rng = np.random.default_rng(8)
    for solve, product in ((ftran, matrix), (btran, sp.csc_array(matrix.T))):
        right = product @ rng.standard_normal(basic.size)
        solution = right.copy()
        solve(factor.arrays, solution, pattern, -1)
        np.testing.assert_allclose(solution, spsolve(product, right), rtol=1e-8, atol=1e-8)
    other = splu(matrix)
    assert factor.factor_entries <= other.L.nnz + other.U.nnz - 2 * basic.size


@given(st.integers(0, 10_000), st.integers(1, 60), st.floats(0.02, 0.5), st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_sparse_solves_equal_dense_ones(seed, m, density, entries):
    rng = np.random.default_rng(seed)
    form = random_form(m, m + 5, density, seed)
    basic = random_basis(form, m // 2, seed)
    factor = BasisFactor(form)
    factor.factorise(basic)
    assert_solves(factor, basic, 1e-9)
    for solve in (ftran, btran):
        nonzeros = rng.permutation(m)[:entries]
        listed = np.zeros(m)
        listed[nonzeros] = rng.standard_normal(nonzeros.size)
        dense = listed.copy()
        pattern = np.zeros(m, dtype=np.int32)
        factor.arrays.density[:] = 0.0
        pattern[: nonzeros.size] = nonzeros
        count = solve(factor.arrays, listed, pattern, nonzeros.size)
        found = set(pattern[:count].tolist())
        solve(factor.arrays, dense, np.zeros(m, dtype=np.int32), -1)
        np.testing.assert_allclose(listed, dense, rtol=1e-9, atol=1e-12 * abs(dense).max())
        if count >= 0:
            assert len(found) == count
            assert found == set(np.flatnonzero(listed).tolist())
        assert not factor.arrays.scratch.mark.any()
        assert not factor.arrays.scratch.work.any()


@given(st.integers(0, 10_000), st.integers(2, 40))
@settings(max_examples=40, deadline=None)
def test_coefficients_of_many_magnitudes(seed, m):
    """Rows and columns scaled from 1e-9 to 1e9: errors stay small beside what was added up."""
    rng = np.random.default_rng(seed)
    core = rng.standard_normal((m, m)) * (rng.random((m, m)) < 0.3) + 3.0 * np.eye(m)
    rows, columns = 10.0 ** rng.uniform(-4.5, 4.5, (2, m))
    form = form_of(rows[:, None] * core[:, rng.permutation(m)] * columns)
    basic = np.arange(m, dtype=np.int64)
    factor = BasisFactor(form)
    assert not factor.factorise(basic)
    matrix = columns_of(form, basic)
    right = matrix @ (rng.standard_normal(m) / columns)
    solution = right.copy()
    ftran(factor.arrays, solution, np.zeros(m, dtype=np.int32), -1)
    size = abs(matrix) @ abs(solution) + abs(right)
    assert (abs(matrix @ solution - right) <= 1e-9 * (size + rows)).all()


@pytest.mark.parametrize(
    "basic",
    [np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int32), np.array([0, 1, 9])],
    ids=["too short", "wrong type", "no such variable"],
)
def test_what_is_no_basis_is_refused(basic):
    factor = BasisFactor(random_form(3, 4, 1.0, seed=1))
    with pytest.raises(EngineError, match="basis"):
        factor.factorise(basic)
