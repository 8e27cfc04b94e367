"""The paper's three-kernel elimination, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.papers.dense_lu.elimination import solve_by_elimination
from solvers.papers.dense_lu.lu import SingularMatrixError

CPU = cpu()


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_solution(n):
    generator = np.random.default_rng(n)
    A, b = generator.standard_normal((n, n)), generator.standard_normal(n)
    found = solve_by_elimination(A, b, CPU)
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), rtol=1e-9)
    phases = (found.to_device, found.elimination, found.to_host, found.substitution)
    assert found.seconds == pytest.approx(sum(phases))


def test_rows_are_interchanged():
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [4.0, 0.0, 0.0]])
    np.testing.assert_array_equal(
        solve_by_elimination(A, np.array([3.0, 2.0, 4.0]), CPU).x, [1, 3, 1]
    )


@pytest.mark.parametrize(("A", "column"), [(np.zeros((3, 3)), 0), (np.ones((3, 3)), 1)])
def test_singular_matrix(A, column):
    with pytest.raises(SingularMatrixError, match=f"column {column}"):
        solve_by_elimination(A, np.ones(3), CPU)
