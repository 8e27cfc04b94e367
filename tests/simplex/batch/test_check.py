"""The check of batches: figures are those of verify.py, and the device code says the same."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gpu_bridge.verify.residuals import bound_violations, lp_residuals
from solvers.core.problem import Problem
from solvers.simplex.batch.kernels.check import FAMILY, FIGURES, INSIDE
from solvers.simplex.batch.kernels.check import FAMILY as CHECKS
from solvers.simplex.batch.prepare import columns_of, is_full
from tests.cases import through
from tests.emulator import emulated, needs_compiler
from tests.simplex.batch.check_cases import CLAIMED, SHAPES, random_case, run_check

VARYING = ("values", "cost", "upper", "row_lower", "offset")


def by_twin(case, threads=1):
    return checked(case, lambda values: FAMILY["check"](*values, threads=threads))


def checked(case, run):
    figures, y = run_check(case, run)
    return figures.reshape(case.count, -1), y.reshape(case.y.shape)


def problem_of(case, k):
    def own(name):
        array = case.given[name]
        return array[k if len(array) > 1 else 0]

    pattern = case.pattern
    return Problem(
        own("cost"),
        sp.csr_array((own("values"), pattern.indices, pattern.indptr), shape=pattern.shape),
        own("row_lower"),
        own("row_upper"),
        own("lower"),
        own("upper"),
        np.zeros(pattern.shape[1], dtype=bool),
        offset=float(own("offset")[0]),
    )


@pytest.mark.parametrize("density", [1.0, 0.3])
@pytest.mark.parametrize("varying", [(), VARYING], ids=["shared", "own"])
def test_figures_are_those_of_the_gate_of_single_solves(density, varying):
    case = random_case(3, 40, 9, 14, density=density, varying=varying)
    figures, y = by_twin(case)
    claimed = case.ending == CLAIMED
    assert claimed.any()
    assert not claimed.all()
    assert np.isnan(figures[~claimed]).all()
    np.testing.assert_array_equal(y[~claimed], case.y[~claimed])
    for k in np.flatnonzero(claimed).tolist():
        problem = problem_of(case, k)
        expected, priced = lp_residuals(problem, case.x[k], case.y[k])
        np.testing.assert_array_equal(y[k], priced.row_dual)
        found = dict(zip(FIGURES, figures[k], strict=True))
        outside = bound_violations(problem, case.x[k])
        assert found["inside"] == float(not outside.any())
        assert found["objective"] == pytest.approx(problem.objective_at(case.x[k]), rel=1e-12)
        assert found["dual_objective"] == pytest.approx(priced.objective, rel=1e-12)
        if outside.any():
            continue
        for name in ("primal", "primal_relative", "dual", "dual_relative", "gap_relative"):
            assert found[name] == pytest.approx(getattr(expected, name), rel=1e-12), name


def test_threads_change_nothing():
    case = random_case(4, 50, 8, 9, varying=VARYING)
    for one, other in zip(by_twin(case), by_twin(case, threads=2), strict=True):
        np.testing.assert_array_equal(one, other)


def test_numbers_that_are_none_earn_nothing():
    case = random_case(5, 30, 6, 8)
    case.x[:] = np.clip(0.0, case.given["lower"], case.given["upper"])
    case.x[:10, 2] = np.nan
    case.y[10:20, 3] = np.nan
    case.given["row_upper"][0, 3] = 1.0
    case.ending[:] = CLAIMED
    figures, _ = by_twin(case)
    assert (figures[:10, INSIDE] == 0.0).all()
    assert (figures[10:, INSIDE] == 1.0).all()
    assert np.isnan(figures[10:20, FIGURES.index("gap_relative")]).all()
    assert np.isfinite(figures[20:]).all()


def test_a_pattern_by_columns():
    pattern = sp.csr_array(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))
    starts, rows, places = columns_of(pattern)
    assert starts.tolist() == [0, 1, 2, 4]
    assert rows.tolist() == [1, 0, 0, 1]
    assert places.tolist() == [2, 0, 1, 3]
    assert not is_full(pattern)
    assert is_full(sp.csr_array(np.ones((2, 3))))
    turned = sp.csr_array((np.ones(2), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert not is_full(turned)


def test_narrow_numbers():
    narrow = np.full(6, 77, dtype=np.uint8)
    CHECKS["narrow"](4, np.array([0, 3, 255, 1], dtype=np.int32), narrow)
    assert narrow.tolist() == [0, 3, 255, 1, 77, 77]


@needs_compiler
@through("shape", SHAPES)
@through("density", [1.0, 0.2])
def test_the_device_code_finds_the_same(shape, density):
    kernel = emulated(FAMILY)["check"]
    for varying in ((), VARYING, ("lower", "row_upper")):
        case = random_case(6, 7, *shape, density=density, varying=varying)
        figures, y = checked(case, lambda values: kernel(*values))
        expected, clipped = by_twin(case)
        np.testing.assert_array_equal(y, clipped)
        np.testing.assert_array_equal(figures[:, INSIDE], expected[:, INSIDE])
        np.testing.assert_allclose(figures, expected, rtol=1e-12, atol=1e-12)
