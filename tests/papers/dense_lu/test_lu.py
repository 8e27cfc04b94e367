"""Dense LU by the libraries, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu import lu

CPU = cpu()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("sides", [(), (5,)])
def test_solve(transposed, sides):
    generator = np.random.default_rng(1)
    A, b = generator.standard_normal((17, 17)), generator.standard_normal((17, *sides))
    before = A.copy()
    x = lu.solve(lu.factorise(A, CPU), b, transposed=transposed)
    np.testing.assert_allclose((A.T if transposed else A) @ x, b, atol=1e-11)
    np.testing.assert_array_equal(A, before)


def test_inverse():
    A = np.random.default_rng(3).standard_normal((40, 40))
    np.testing.assert_allclose(lu.inverse(lu.factorise(A, CPU)) @ A, np.eye(40), atol=1e-10)


@pytest.mark.parametrize(("A", "column"), [(np.zeros((3, 3)), 0), (np.ones((3, 3)), 1)])
def test_singular_matrix_names_the_column(A, column):
    with pytest.raises(lu.SingularMatrixError, match=f"column {column}"):
        lu.factorise(A, CPU)


@pytest.mark.parametrize(
    ("A", "said"), [(np.ones((2, 3)), "square"), (np.full((2, 2), np.nan), "Column 0")]
)
def test_what_is_no_matrix_to_factorise(A, said):
    with pytest.raises(ProblemError, match=said):
        lu.factorise(A, CPU)
