"""Dense LU on a GPU, beside that on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import Device, cpu, find_device
from solvers.papers.dense_lu import lu
from solvers.papers.dense_lu.elimination import solve_by_elimination
from tests.papers.dense_lu.test_kernels import SIZES, assert_equal_on, cases

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


@pytest.mark.parametrize("n", SIZES)
def test_kernels_equal_their_twins(n, gpu):
    def launch(family, name, values):
        there = [gpu.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
        with gpu.activate():
            family[name](*there)
        return [v if np.isscalar(v) else gpu.to_host(v) for v in there]

    for case in cases(n):
        assert_equal_on(launch, case)


@pytest.mark.parametrize("n", [1, 33, 700])
def test_solves_and_eliminates_as_the_cpu(n, gpu):
    generator = np.random.default_rng(n)
    A, b = generator.standard_normal((n, n)), generator.standard_normal(n)
    expected = lu.solve(lu.factorise(A, cpu()), b)
    close = {"rtol": 1e-7, "atol": 1e-8 * np.abs(expected).max()}
    with gpu.activate():
        factors = lu.factorise(A, gpu)
        np.testing.assert_allclose(
            gpu.to_host(lu.solve(factors, gpu.to_device(b))), expected, **close
        )
        np.testing.assert_allclose(gpu.to_host(lu.inverse(factors)) @ b, expected, **close)
        np.testing.assert_allclose(solve_by_elimination(A, b, gpu).x, expected, **close)
        with pytest.raises(lu.SingularMatrixError, match="column 1"):
            lu.factorise(np.ones((3, 3)), gpu)
