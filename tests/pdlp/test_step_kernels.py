"""Twins of the two half iterations against the formulas in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.pdlp.kernels.step import STEP
from tests.pdlp.matrices import MATRICES, compressed
from tests.pdlp.step_cases import make_case

NAMES = sorted(MATRICES)
CLOSE = {"rtol": 1e-11, "atol": 1e-11}


def halpern(current, mirrored, anchor, control, offset):
    gamma, k = control[2], control[3] + offset
    weight = (k + 1) / (k + 2)
    return weight * (gamma * mirrored + (1 - gamma) * current) + (1 - weight) * anchor


def run_primal(case, offset, keep, gamma=1.0):
    n = case.shape[1]
    case.control[2] = gamma
    out = [np.full(n, np.nan) for _ in range(3)]
    x = case.x.copy()
    STEP["primal_step"](
        *compressed(case.matrix.T.tocsr()).arguments,
        case.y, x, case.x_anchor, case.cost, case.lower, case.upper, *out,
        case.control, offset, keep,
    )  # fmt: skip
    return x, *out


def run_dual(case, offset, keep, gamma=1.0):
    m = case.shape[0]
    case.control[2] = gamma
    out = [np.full(m, np.nan) for _ in range(2)]
    y = case.y.copy()
    STEP["dual_step"](
        *compressed(case.matrix).arguments,
        case.reflected, y, case.y_anchor, case.row_lower, case.row_upper, *out,
        case.control, offset, keep,
    )  # fmt: skip
    return y, *out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_primal_step_is_the_formula(name, gamma):
    case = make_case(MATRICES[name], 1)
    x, reflected, projection, difference = run_primal(case, 3, 1, gamma)
    gradient = case.cost - case.matrix.T @ case.y
    expected = np.clip(case.x - 0.3 * gradient, case.lower, case.upper)
    mirrored = 2 * expected - case.x
    np.testing.assert_allclose(projection, expected, **CLOSE)
    np.testing.assert_allclose(reflected, mirrored, **CLOSE)
    np.testing.assert_allclose(difference, mirrored - case.x, **CLOSE)
    np.testing.assert_allclose(
        x, halpern(case.x, mirrored, case.x_anchor, case.control, 3), **CLOSE
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_dual_step_is_the_formula(name, gamma):
    case = make_case(MATRICES[name], 2)
    y, projection, difference = run_dual(case, 3, 1, gamma)
    q = case.y / 0.7 - case.matrix @ case.reflected
    expected = 0.7 * (q - np.clip(q, -case.row_upper, -case.row_lower))
    mirrored = 2 * expected - case.y
    np.testing.assert_allclose(projection, expected, **CLOSE)
    np.testing.assert_allclose(difference, mirrored - case.y, **CLOSE)
    np.testing.assert_allclose(
        y, halpern(case.y, mirrored, case.y_anchor, case.control, 3), **CLOSE
    )


def test_duals_never_lean_on_an_infinite_side():
    case = make_case(MATRICES["large"], 3)
    _, projection, _ = run_dual(case, 0, 1)
    assert np.all(projection[~np.isfinite(case.row_lower)] <= 0)
    assert np.all(projection[~np.isfinite(case.row_upper)] >= 0)


def test_without_keep_projection_and_difference_stay_untouched():
    case = make_case(MATRICES["square 33"], 4)
    assert np.isnan(run_primal(case, 0, 0)[2]).all()
    assert np.isnan(run_primal(case, 0, 0)[3]).all()
    assert np.isnan(run_dual(case, 0, 0)[1]).all()


@pytest.mark.parametrize("name", ["square 1", "empty rows", "long row", "large", "no columns"])
@pytest.mark.parametrize("compilation", ["serial", "parallel"])
def test_steps_fast_equals_single_steps(name, compilation):
    case = make_case(MATRICES[name], 5)
    m, n = case.shape
    results = []
    for fast in (True, False):
        x, y = case.x.copy(), case.y.copy()
        scratch = [np.zeros(n) for _ in range(3)]
        primal = (
            *compressed(case.matrix.T.tocsr()).arguments,
            y, x, case.x_anchor, case.cost, case.lower, case.upper, *scratch, case.control,
        )  # fmt: skip
        dual = (
            *compressed(case.matrix).arguments,
            scratch[0], y, case.y_anchor, case.row_lower, case.row_upper,
            np.zeros(m), np.zeros(m), case.control,
        )  # fmt: skip
        if fast:
            getattr(STEP.twin.steps_fast, compilation)(2, 5, primal, dual)
        else:
            for offset in range(2, 7):
                STEP["primal_step"](*primal, offset, 0)
                STEP["dual_step"](*dual, offset, 0)
        results.append((x, y))
    assert np.array_equal(results[0][0], results[1][0])
    assert np.array_equal(results[0][1], results[1][1])


def test_declared_bytes_count_matrix_gather_and_vectors():
    case = make_case(MATRICES["large"], 6)
    m, n, nnz = *case.shape, case.matrix.nnz
    layout = compressed(case.matrix).arguments
    kernel = STEP.kernels["dual_step"]
    values = kernel.by_name((*layout, case.reflected, *([case.y] * 6), case.control, 0, 0))
    assert kernel.bytes_moved(values) == 12 * nnz + 4 * (m + 1) + 8 * n + 5 * 8 * m
