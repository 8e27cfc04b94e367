"""Twins of the sums of a check against plain NumPy, and their independence of threads."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.pdlp.control import Control, Stop
from solvers.pdlp.kernels.measure import COLUMN_SUMS, MEASURE, ROW_SUMS, SUMS
from tests.matrices import NAMES, Which, any_matrix, each, matrix_of
from tests.pdlp.matrices import PLANS, lay_out
from tests.pdlp.step_cases import StepCase, make_measured_case


def case_of(which: Which, seed: int, plan: str = "cpu") -> StepCase:
    return make_measured_case(lay_out(matrix_of(which), PLANS[plan]).plain, seed)


def support(multiplier, low, high):
    return sum(
        value * (a if value > 0 else b)
        for value, a, b in zip(multiplier, low, high, strict=True)
        if value != 0
    )


def row_sums(case: StepCase) -> dict[str, float]:
    """Return ROW_SUMS, computed at length."""
    x, y = case.x, case.y
    activity = case.matrix @ x.projection
    residual = activity - np.clip(activity, y.low, y.high)
    return {
        "primal_residual_squared": residual @ residual,
        "row_support": support(y.projection, y.low, y.high),
        "row_distance_squared": np.sum((y.projection - y.anchor) ** 2 / y.metric),
        "row_step_squared": np.sum(y.difference**2 / y.metric),
        "cross": y.difference @ (case.matrix @ x.difference),
        "first_row_step_squared": np.sum(y.first_difference**2 / y.metric),
        "first_cross": y.first_difference @ (case.matrix @ x.first_difference),
    }


def column_sums(case: StepCase) -> dict[str, float]:
    """Return COLUMN_SUMS, computed at length."""
    x, y = case.x, case.y
    reduced = case.cost - case.matrix.T @ y.projection
    supported = np.where(np.isfinite(x.low), reduced, np.minimum(reduced, 0.0))
    supported = np.where(np.isfinite(x.high), supported, np.maximum(supported, 0.0))
    return {
        "dual_residual_squared": np.sum((reduced - supported) ** 2),
        "column_support": support(supported, x.low, x.high),
        "column_distance_squared": np.sum((x.projection - x.anchor) ** 2 / x.metric),
        "column_step_squared": np.sum(x.difference**2 / x.metric),
        "primal_objective": case.cost @ x.projection,
        "first_column_step_squared": np.sum(x.first_difference**2 / x.metric),
        "unused": 0.0,
    }


@each(which=NAMES, plan=cycle(["cpu", "many units"]), slots=cycle([1, 3, 40]))
@given(any_matrix(), st.sampled_from([*PLANS]), st.integers(1, 50))
@settings(max_examples=30)
def test_sums_are_what_they_are_called(which, plan, slots):
    case = case_of(which, 1, plan)
    rows, columns = (np.full((slots, SUMS), np.nan) for _ in range(2))
    MEASURE["measure_rows"](*case.row_measure_arguments(rows))
    MEASURE["measure_columns"](*case.column_measure_arguments(columns))
    close = {"rel": 1e-10, "abs": 1e-8}
    found = dict(zip(ROW_SUMS, rows.sum(axis=0), strict=True))
    assert found == pytest.approx(row_sums(case), **close)
    found = dict(zip(COLUMN_SUMS, columns.sum(axis=0), strict=True))
    assert found == pytest.approx(column_sums(case), **close)


@pytest.mark.parametrize("kernel", ["measure_rows", "measure_columns"])
def test_what_is_not_finite_shows_in_the_sums(kernel):
    case = case_of("square 33", 2)
    case.x.projection[:] = case.y.projection[:] = np.nan
    partial = np.zeros((3, SUMS))
    arguments = {
        "measure_rows": case.row_measure_arguments,
        "measure_columns": case.column_measure_arguments,
    }[kernel](partial)
    MEASURE[kernel](*arguments)
    assert np.isnan(partial[:, 2].sum())


@pytest.mark.parametrize("stop", [Stop.OPTIMAL, Stop.BROKEN])
def test_nothing_is_written_while_control_says_stop(stop):
    case = case_of("square 33", 3)
    case.control[Control.STOP] = stop
    partial = np.full((3, SUMS), 4.0)
    MEASURE["measure_rows"](*case.row_measure_arguments(partial))
    MEASURE["measure_columns"](*case.column_measure_arguments(partial))
    assert np.all(partial == 4.0)


@pytest.mark.parametrize("kernel", ["measure_rows", "measure_columns"])
def test_threads_give_the_same_bits_as_one_loop(kernel):
    case = case_of("large", 4)
    results = []
    for threads in (1, 2):
        partial = np.empty((7, SUMS))
        arguments = {
            "measure_rows": case.row_measure_arguments,
            "measure_columns": case.column_measure_arguments,
        }[kernel](partial)
        getattr(MEASURE.twin, kernel)(*arguments, threads)
        results.append(partial)
    assert np.array_equal(*results)
