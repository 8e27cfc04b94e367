"""Solves with a factorised basis against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.simplex.factor.basis import BasisFactor
from solvers.simplex.factor.solves import btran, ftran
from tests.simplex.factor.bases import columns_of, random_basis, random_form

SHAPES = [
    (1, 1, 1.0, 0),
    (5, 9, 0.6, 1),
    (40, 60, 0.2, 10),
    (150, 200, 0.5, 0),
    (400, 600, 0.01, 100),
    (30, 20, 0.3, 30),
]


@pytest.mark.parametrize(("m", "n", "density", "logicals"), SHAPES)
def test_solves_fit_the_basis(m, n, density, logicals):
    form = random_form(m, n, density, seed=m)
    basic = random_basis(form, logicals, seed=n)
    factor = BasisFactor(form)
    factor.factorise(basic)
    matrix = columns_of(form, basic)
    rng = np.random.default_rng(1)
    pattern = np.zeros(m, dtype=np.int32)
    right = rng.standard_normal(m)
    solution = right.copy()
    ftran(factor.arrays, solution, pattern, -1)
    size = abs(matrix).max() * max(1.0, abs(solution).max())
    assert abs(matrix @ solution - right).max() <= 1e-12 * size
    assert factor.residual(basic, right, solution) <= 1e-12 * size
    solution = right.copy()
    btran(factor.arrays, solution, pattern, -1)
    size = abs(matrix).max() * max(1.0, abs(solution).max())
    assert abs(matrix.T @ solution - right).max() <= 1e-12 * size
