"""Inverting a nucleus, and status the columns that depend on others."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.simplex.dense_gpu import nucleus
from solvers.simplex.dense_gpu.nucleus import SingularError, inverse_of, inverse_on_host
from tests.simplex.dense_gpu.cases import random_problem, run


@pytest.mark.parametrize("size", [0, 1, 2, 33])
def test_regular_matrix_is_inverted(size):
    matrix = np.random.default_rng(size).uniform(-1.0, 1.0, (size, size))
    inverse, dependent = inverse_of(cpu(), matrix.copy())
    assert dependent == []
    assert inverse.flags.c_contiguous
    np.testing.assert_allclose(matrix @ inverse, np.eye(size), atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_replacing_dependent_columns_by_units_makes_a_regular_matrix(seed):
    random = np.random.default_rng(seed)
    matrix = random.uniform(-1.0, 1.0, (12, 12))
    matrix[:, 7] = matrix[:, 2] - 3.0 * matrix[:, 4]
    matrix[:, 9] = 0.0
    _, dependent = inverse_on_host(matrix.copy())
    assert len(dependent) == 2
    for column, row in dependent:
        matrix[:, column] = 0.0
        matrix[row, column] = -1.0
    assert inverse_on_host(matrix.copy())[1] == []
    assert np.linalg.cond(matrix) < 1e6


def test_breakdown_is_looked_into_on_the_host(monkeypatch):
    def broken(device, matrix):
        if not matrix.size:
            return inverse_of(device, matrix)
        monkeypatch.undo()
        raise SingularError

    straight = run(random_problem(12, 18, 5), cpu())
    monkeypatch.setattr(nucleus, "inverse_of", broken)
    with_breakdown = run(random_problem(12, 18, 5), cpu())
    assert with_breakdown.objective == straight.objective
