"""The twins against the iteration written with dense matrices, and the layout."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.pdlp.control import Stop
from solvers.pdlp.execution.on_cpu import dual_arguments, primal_arguments
from solvers.pdlp.shared_matrix.kernels.check import CHECK
from solvers.pdlp.shared_matrix.kernels.layout import LONG_ROW, PART, rows_of_unit
from solvers.pdlp.shared_matrix.kernels.step import KEEP_FIRST, KEEP_LAST, STEP
from solvers.pdlp.shared_matrix.state import (
    WIDTHS,
    Field,
    check_arguments,
    interleaved,
    separated,
    units_of,
)
from tests.cases import through
from tests.matrices import random_matrix
from tests.pdlp.shared_matrix.cases import POISON, arrays_of, make_state


@pytest.mark.parametrize("width", WIDTHS)
def test_units_hold_every_row_once_and_long_rows_alone(width):
    generator = np.random.default_rng(width)
    for size in (0, 1, 2, 31, 100, 1000):
        lengths = generator.integers(0, 20, size)
        lengths[generator.random(size) < 0.05] = LONG_ROW + 1
        lengths[generator.random(size) < 0.05] = 3 * PART - 1
        table = units_of(lengths, width)
        rows, sums = [], []
        for first, count, part, parts in table.tolist():
            if part == 0:
                rows += range(first, first + max(count, 1))
            assert count <= rows_of_unit(width)
            assert (count <= 0) == (lengths[first] > LONG_ROW)
            assert (count < 0) == (parts > 1) == (lengths[first] > PART)
            if count < 0:
                assert parts == 3
                sums.append(-1 - count + part)
        assert rows == list(range(size))
        assert sums == list(range(len(sums)))


def test_neighbouring_rows_fill_units():
    table = units_of(np.ones(100, dtype=int), 8)
    assert table.tolist() == [[0, 32, 0, 1], [32, 32, 0, 1], [64, 32, 0, 1], [96, 4, 0, 1]]


def test_a_row_in_parts_is_computed_once():
    matrix = random_matrix(3, 3 * PART, 0.9, 1)
    state = make_state(matrix, 8, 3, (), cpu())
    assert (state.by_row.unit_table[:, 1] < 0).any()
    before = arrays_of(state)
    STEP["dual_step"](*dual_arguments(state), 4, KEEP_LAST)
    after = arrays_of(state)
    for p in range(8):
        y, xb = separated(before["y.point"], 8)[p], separated(before["reflected"], 8)[p]
        s = before["control"][Field.SIGMA, p] * state.row_metric
        v = y - s * (matrix @ xb)
        low, high = (separated(state.vectors[f"row_{side}"], 8)[p] for side in ("lower", "upper"))
        expected = v - np.clip(v, -s * high, -s * low)
        np.testing.assert_allclose(separated(after["y.projection"], 8)[p], expected, rtol=1e-10)


def test_vectors_stand_side_by_side():
    vectors = np.arange(6.0).reshape(2, 3)
    columns = interleaved(vectors, 8)
    assert columns[:8].tolist() == [0.0, 3.0, *[0.0] * 6]
    np.testing.assert_array_equal(separated(columns, 8)[:2], vectors)
    np.testing.assert_array_equal(separated(interleaved(vectors[0], 8), 8), [vectors[0]] * 8)


@pytest.mark.parametrize("width", [8, 24])
@pytest.mark.parametrize("keep", [0, KEEP_FIRST, KEEP_LAST, KEEP_FIRST | KEEP_LAST])
def test_an_iteration_is_that_of_the_docstring(width, keep):
    matrix = random_matrix(20, 30, 0.3, 1)
    stopped = (2, 5)
    state = make_state(matrix, width, 3, stopped, cpu())
    before = arrays_of(state)
    STEP["primal_step"](*primal_arguments(state), 4, keep)
    STEP["dual_step"](*dual_arguments(state), 4, keep)
    after = arrays_of(state)
    A = matrix.toarray()

    def of(name, problem):
        return separated(before[name], width)[problem]

    def data(name, problem):
        return separated(state.vectors[name], width)[problem]

    for p in range(width):
        if p in stopped:
            for name in after:
                if "partial" not in name and name != "control":
                    np.testing.assert_array_equal(separated(after[name], width)[p], of(name, p))
            continue
        control = before["control"][:, p]
        k = control[Field.ITERATIONS_SINCE_RESTART] + 4
        w = (k + 1) / (k + 2)
        x, y = of("x.point", p), of("y.point", p)
        t = control[Field.TAU] * state.column_metric
        xh = np.clip(x - t * (data("cost", p) - A.T @ y), data("lower", p), data("upper", p))
        xb = 2 * xh - x
        s = control[Field.SIGMA] * state.row_metric
        v = y - s * (A @ xb)
        yh = v - np.clip(v, -s * data("row_upper", p), -s * data("row_lower", p))
        yb = 2 * yh - y
        expected = {
            "x.point": w * xb + (1 - w) * of("x.anchor", p),
            "y.point": w * yb + (1 - w) * of("y.anchor", p),
            "reflected": xb,
            "x.projection": xh if keep & KEEP_LAST else POISON,
            "y.projection": yh if keep & KEEP_LAST else POISON,
            "x.difference": xb - x if keep & KEEP_LAST else POISON,
            "y.first_difference": yb - y if keep & KEEP_FIRST else POISON,
        }
        for name, values in expected.items():
            np.testing.assert_allclose(
                separated(after[name], width)[p], values, rtol=1e-10, atol=1e-12
            )


def checked_state(width=8, stopped=(3,)):
    matrix = random_matrix(40, 30, 0.3, 2)
    state = make_state(matrix, width, 7, stopped, cpu())
    for keep in (KEEP_FIRST, KEEP_LAST):
        STEP["primal_step"](*primal_arguments(state), 0, keep)
        STEP["dual_step"](*dual_arguments(state), 0, keep)
    return matrix.toarray(), state


def test_the_statistics_are_those_of_each_problem():
    A, state = checked_state()
    before = arrays_of(state)
    for name, arguments in check_arguments(state, 2).items():
        CHECK[name](*arguments)
    after = arrays_of(state)["control"]
    for p in (0, 1, 2, 4, 5, 6, 7):

        def of(name, p=p):
            return separated(before[name], 8)[p]

        def data(name, p=p):
            return separated(state.vectors[name], 8)[p]

        xh, yh = of("x.projection"), of("y.projection")
        violation = A @ xh - np.clip(A @ xh, data("row_lower"), data("row_upper"))
        reduced = data("cost") - A.T @ yh
        side = np.where(reduced > 0, data("lower"), data("upper"))
        held = np.isfinite(side)
        row_side = np.where(yh > 0, data("row_lower"), data("row_upper"))
        leaning = yh != 0
        dual_objective = reduced[held] @ side[held] + yh[leaning] @ row_side[leaning]
        column = after[:, p]
        assert column[Field.PRIMAL_RESIDUAL] == pytest.approx(np.linalg.norm(violation))
        assert column[Field.DUAL_RESIDUAL] == pytest.approx(np.linalg.norm(reduced[~held]))
        assert column[Field.PRIMAL_OBJECTIVE] == pytest.approx(data("cost") @ xh)
        assert column[Field.DUAL_OBJECTIVE] == pytest.approx(dual_objective)
        distance = (xh - of("x.anchor")) ** 2 / state.column_metric
        assert column[Field.PRIMAL_DISTANCE] == pytest.approx(np.sqrt(distance.sum()))
        steps = [
            column_weight * (of(f"x.{kind}") ** 2 / state.column_metric).sum()
            + (of(f"y.{kind}") ** 2 / state.row_metric).sum() / column_weight
            for kind, column_weight in (
                ("first_difference", before["control"][Field.WEIGHT, p]),
                ("difference", before["control"][Field.WEIGHT, p]),
            )
        ]
        if before["control"][Field.ITERATIONS_SINCE_RESTART, p] == 0.0:
            assert column[Field.FIRST_METRIC] == pytest.approx(np.sqrt(steps[0]))
        if column[Field.STOP] == Stop.NO:
            assert column[Field.PREVIOUS_METRIC] == pytest.approx(np.sqrt(steps[1]))
        assert column[Field.ITERATIONS] == before["control"][Field.ITERATIONS, p] + 2


def test_stopped_problems_keep_their_figures():
    _, state = checked_state()
    before = arrays_of(state)["control"][:, 3]
    for name, arguments in check_arguments(state, 2).items():
        CHECK[name](*arguments)
    after = arrays_of(state)["control"][:, 3]
    for field in Field:
        if field not in (Field.RESTART, Field.KEEP_BEST):
            assert after[field] == before[field]
    assert after[Field.RESTART] == after[Field.KEEP_BEST] == 0.0


def test_settling_moves_only_who_restarts_and_keeps_only_the_best():
    _, state = checked_state(stopped=())
    state.control[Field.RESTART] = [1, 0, 1, 0, 1, 0, 1, 0]
    state.control[Field.KEEP_BEST] = [1, 1, 0, 0, 1, 1, 0, 0]
    before = arrays_of(state)
    CHECK["settle"](*check_arguments(state, 2)["settle"])
    after = arrays_of(state)
    for name in ("x", "y"):
        for p in range(8):
            got = {
                part: separated(after[f"{name}.{part}"], 8)[p]
                for part in ("point", "anchor", "best")
            }
            old = {part: separated(before[f"{name}.{part}"], 8)[p] for part in got}
            projection = separated(before[f"{name}.projection"], 8)[p]
            restarts, keeps = p % 2 == 0, p % 4 < 2
            for part, changes in (("point", restarts), ("anchor", restarts), ("best", keeps)):
                np.testing.assert_array_equal(got[part], projection if changes else old[part])


def decide_with(**fields):
    """Return the control column of a problem after a check with these residuals squared."""
    control = np.zeros((len(Field), 8))
    control[Field.STOP, 1:] = 1.0
    column = {
        Field.STEP: 1.0,
        Field.WEIGHT: 1.0,
        Field.CHECKS: 5.0,
        Field.ITERATIONS_SINCE_RESTART: 100.0,
        Field.ITERATIONS: 10_000.0,
        Field.FIRST_METRIC: 1.0,
        Field.PREVIOUS_METRIC: 0.9,
        Field.TOLERANCE: 1e-3,
        Field.BEST_ERROR: np.inf,
        Field.BEST_IMBALANCE: np.inf,
        Field.SUFFICIENT: 0.2,
        Field.NECESSARY: 0.5,
        Field.ARTIFICIAL: 0.36,
        Field.RESIDUAL_EXPONENT: 0.25,
    }
    for field, value in column.items():
        control[field, 0] = value
    rows, columns = np.zeros((1, 6, 8)), np.zeros((1, 6, 8))
    rows[0, 0, 0] = fields.get("primal", 1e-2) ** 2
    columns[0, 0, 0] = fields.get("dual", 1e-2) ** 2
    columns[0, 3, 0] = fields.get("metric", 0.8) ** 2
    columns[0, 2, 0], rows[0, 2, 0] = 1.0, fields.get("dual_distance", 4.0) ** 2
    for name, value in fields.items():
        if name.upper() in Field.__members__:
            control[Field[name.upper()], 0] = value
    CHECK["decide"](1, rows, 1, columns, 8, 100, control)
    return control[:, 0]


@through(
    ("fields", "restarts"),
    [
        ({}, False),
        ({"metric": 0.19}, True),
        ({"metric": 0.21}, False),
        ({"metric": 0.45, "previous_metric": 0.4}, True),
        ({"metric": 0.45, "previous_metric": 0.5}, False),
        ({"metric": 0.55, "previous_metric": 0.4}, False),
        ({"checks": 0.0}, True),
        ({"iterations_since_restart": 4000.0}, True),
    ],
)
def test_restarts_come_when_the_rules_say_so(fields, restarts):
    found = decide_with(**fields)
    assert found[Field.RESTART] == float(restarts)
    assert found[Field.WEIGHT] == pytest.approx(4.0 if restarts else 1.0)
    assert found[Field.TAU] * found[Field.WEIGHT] == pytest.approx(1.0)
    assert (found[Field.ITERATIONS_SINCE_RESTART] == 0.0) == restarts


@pytest.mark.parametrize(
    ("primal", "dual", "stop"),
    [(9e-4, 9e-4, Stop.OPTIMAL), (1.1e-3, 0.0, Stop.NO), (0.0, 1.1e-3, Stop.NO)],
)
def test_a_problem_stops_within_its_tolerance(primal, dual, stop):
    found = decide_with(primal=primal, dual=dual)
    assert found[Field.STOP] == stop
    assert found[Field.KEEP_BEST] == 1.0
    assert found[Field.BEST_ERROR] == pytest.approx(max(primal, dual))


def test_numbers_that_are_none_stop_a_problem():
    found = decide_with(primal=np.nan)
    assert found[Field.STOP] == Stop.BROKEN
    assert found[Field.KEEP_BEST] == 0.0
