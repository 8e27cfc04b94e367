"""Dense linear algebra on a GPU: kernels against their twins, and the front doors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import ProblemError
from solvers.papers.dense_lu import lu
from solvers.papers.dense_lu.elimination import solve_by_elimination
from tests.papers.dense_lu.kernel_cases import (
    PART_SIZES,
    SIZES,
    Case,
    all_cases,
    inspect_cases,
    random_matrices,
    singular_cases,
)

pytestmark = pytest.mark.gpu

CPU = cpu()


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


def run_both(case: Case, gpu: Device) -> tuple[list, list]:
    """Run a kernel and its twin; return what both hold afterwards, on the host."""
    family, name, values = case
    there = [gpu.to_device(v) if isinstance(v, np.ndarray) else v for v in values]
    with np.errstate(all="ignore"):
        family[name](*values)
    with gpu.activate():
        family[name](*there)
    return values, [v if np.isscalar(v) else gpu.to_host(v) for v in there]


@pytest.mark.parametrize("n", [*SIZES, 64, 65, 129, 160, *PART_SIZES])
def test_kernels_equal_their_twins(n, gpu):
    for case in inspect_cases(n, n) if n in PART_SIZES else all_cases(n):
        family, name, _ = case
        ours, theirs = run_both(case, gpu)
        for place, argument in enumerate(family.kernels[name].arguments):
            if argument.direction == "in":
                continue
            here, there = ours[place], theirs[place]
            close = 0.0 if here.dtype == np.int32 else 1e-8 * (1.0 + np.nanmax(np.abs(here)))
            message = f"{name} {argument.name}"
            np.testing.assert_allclose(there, here, rtol=1e-8, atol=close, err_msg=message)


def test_kernels_and_twins_find_the_same_singular_columns(gpu):
    for case in singular_cases():
        names = [argument.name for argument in case[0].kernels[case[1]].arguments]
        ours, theirs = run_both(case, gpu)
        at = names.index("singular")
        np.testing.assert_array_equal(theirs[at], ours[at])


@pytest.mark.parametrize("n", [1, 2, 33, 160, 700])
def test_front_door(n, gpu):
    A = random_matrices(1, n, n)[0]
    b = np.random.default_rng(n).standard_normal((n, 4))
    here = lu.factorise(A, CPU)
    with gpu.activate():
        there = lu.factorise(A, gpu)
        there = lu.factorise(gpu.to_device(A), gpu, reuse=there)
        for transposed in (False, True):
            x = gpu.to_host(lu.solve(there, gpu.to_device(b), transposed=transposed))
            y = lu.solve(here, b, transposed=transposed)
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-8 * np.abs(y).max())
        np.testing.assert_allclose(
            gpu.to_host(lu.inverse(there)) @ A, np.eye(n), atol=1e-7 * lu.condition(here) ** 0.5
        )
        assert lu.condition(there) == pytest.approx(lu.condition(here), rel=1e-6)
        np.testing.assert_allclose(lu.determinant(there), lu.determinant(here), rtol=1e-9)
        refined = lu.refine(A, there, gpu.to_device(b))
        expected = lu.refine(A, here, b)
        assert refined.backward_error <= 3e-16
        np.testing.assert_allclose(gpu.to_host(refined.x), expected.x, rtol=1e-14)
        np.testing.assert_array_equal(
            lu.row_order(there)[: min(n, 3)], lu.row_order(here)[: min(n, 3)]
        )


def test_refinement_of_an_ill_conditioned_system(gpu):
    A = scipy.linalg.hilbert(10)
    b = np.random.default_rng(6).standard_normal(10)
    with gpu.activate():
        found = gpu.to_host(lu.refine(A, lu.factorise(A, gpu), b).x)
    expected = lu.refine(A, lu.factorise(A, CPU), b).x
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=4e-16 * np.abs(expected).max())


def test_singular_matrices(gpu):
    with gpu.activate():
        for A, column in ((np.zeros((3, 3)), 0), (np.ones((40, 40)), 1)):
            with pytest.raises(lu.SingularMatrixError, match=f"column {column}"):
                lu.factorise(A, gpu)
        with pytest.raises(ProblemError, match="Column 2"):
            lu.factorise(np.where(np.arange(9) == 5, np.nan, 1.0).reshape(3, 3), gpu)


@pytest.mark.parametrize("n", [1, 20, 100, 169, 200])
def test_many(n, gpu):
    A = np.random.default_rng(n).standard_normal((7, n, n))
    b = np.random.default_rng(1).standard_normal((7, 3, n))
    A[4] = 0.0
    good = [0, 1, 2, 3, 5, 6]
    with gpu.activate():
        found = lu.factorise_many(gpu.to_device(A), gpu)
        assert gpu.to_host(found.singular).tolist() == [-1, -1, -1, -1, 0, -1, -1]
        for transposed in (False, True):
            M = A.transpose(0, 2, 1) if transposed else A
            x = gpu.to_host(lu.solve_many(found, gpu.to_device(b), transposed=transposed))
            left = np.einsum("bij,bkj->bki", M[good], x[good]) - b[good]
            assert np.abs(left).max() < 1e-8
        inverses = lu.inverse_many(gpu.to_device(A), gpu)
        left = gpu.to_host(inverses.inverses)[good] @ A[good] - np.eye(n)
    assert np.abs(left).max() < 1e-8
    np.testing.assert_allclose(inverses.condition[good], np.linalg.cond(A[good], 1), rtol=1e-6)
    assert gpu.to_host(inverses.singular).tolist() == [-1, -1, -1, -1, 0, -1, -1]
    assert not np.isfinite(inverses.condition[4])


def test_three_kernel_elimination(gpu):
    A = random_matrices(1, 100, 3)[0]
    with gpu.activate():
        found = solve_by_elimination(A, np.ones(100), gpu)
    expected = np.linalg.solve(A, np.ones(100))
    np.testing.assert_allclose(found.x, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
