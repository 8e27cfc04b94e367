"""Twins of the sums of a check against plain NumPy, and their independence of threads."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.pdlp.kernels.measure import COLUMN_SUMS, MEASURE, ROW_SUMS, SUMS
from tests.pdlp.matrices import MATRICES, compressed
from tests.pdlp.step_cases import make_case

NAMES = sorted(MATRICES)


def support(multiplier, low, high):
    return sum(
        value * (a if value > 0 else b)
        for value, a, b in zip(multiplier, low, high, strict=True)
        if value != 0
    )


def with_allowed_signs(case):
    y = np.where(np.isfinite(case.row_lower), case.y, np.minimum(case.y, 0.0))
    return np.where(np.isfinite(case.row_upper), y, np.maximum(y, 0.0))


@pytest.mark.parametrize("slots", [1, 3, 40])
@pytest.mark.parametrize("name", NAMES)
def test_row_sums_are_what_they_are_called(name, slots):
    case = make_case(MATRICES[name], 1)
    m, n = case.shape
    generator = np.random.default_rng(8)
    dx, dy = generator.standard_normal(n), generator.standard_normal(m)
    scale = generator.uniform(0.5, 2.0, m)
    y = with_allowed_signs(case)
    partial = np.full((slots, SUMS), np.nan)
    MEASURE["measure_rows"](
        *compressed(case.matrix).arguments,
        case.x, dx, y, dy, case.y_anchor, case.row_lower, case.row_upper, scale, slots, partial,
    )  # fmt: skip
    activity = case.matrix @ case.x
    residual = (activity - np.clip(activity, case.row_lower, case.row_upper)) / scale
    expected = {
        "primal_residual_squared": residual @ residual,
        "row_support": support(y, case.row_lower, case.row_upper),
        "row_distance_squared": np.sum((y - case.y_anchor) ** 2),
        "row_step_squared": dy @ dy,
        "cross": dy @ (case.matrix @ dx),
    }
    found = dict(zip(ROW_SUMS, partial.sum(axis=0), strict=True))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("slots", [1, 3, 40])
@pytest.mark.parametrize("name", NAMES)
def test_column_sums_are_what_they_are_called(name, slots):
    case = make_case(MATRICES[name], 2)
    n = case.shape[1]
    generator = np.random.default_rng(9)
    dx, scale = generator.standard_normal(n), generator.uniform(0.5, 2.0, n)
    partial = np.full((slots, SUMS), np.nan)
    MEASURE["measure_columns"](
        *compressed(case.matrix.T.tocsr()).arguments,
        case.y, case.x, dx, case.x_anchor, case.cost, case.lower, case.upper, scale, slots, partial,
    )  # fmt: skip
    reduced = case.cost - case.matrix.T @ case.y
    supported = np.where(np.isfinite(case.lower), reduced, np.minimum(reduced, 0.0))
    supported = np.where(np.isfinite(case.upper), supported, np.maximum(supported, 0.0))
    expected = {
        "dual_residual_squared": np.sum(((reduced - supported) / scale) ** 2),
        "column_support": support(supported, case.lower, case.upper),
        "column_distance_squared": np.sum((case.x - case.x_anchor) ** 2),
        "column_step_squared": dx @ dx,
        "primal_objective": case.cost @ case.x,
    }
    found = dict(zip(COLUMN_SUMS, partial.sum(axis=0), strict=True))
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-9)


def test_threads_give_the_same_bits_as_one_loop():
    case = make_case(MATRICES["large"], 3)
    n = case.shape[1]
    results = []
    for compilation in ("serial", "parallel"):
        partial = np.empty((7, SUMS))
        getattr(MEASURE.twin.measure_columns, compilation)(
            *compressed(case.matrix.T.tocsr()).arguments,
            case.y, case.x, case.x, case.x_anchor, case.cost, case.lower, case.upper,
            np.ones(n), 7, partial,
        )  # fmt: skip
        results.append(partial)
    assert np.array_equal(*results)
