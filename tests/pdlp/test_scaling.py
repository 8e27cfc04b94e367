"""Scaling and step size: what they promise on any matrix."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.device import Device, cpu
from solvers.core.outcome import StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.scaling import (
    NORM_AFTER_SCALING,
    Scaling,
    drawn_rows,
    find_scaling,
    spectral_norm,
)
from solvers.pdlp.settings import DEFAULT, Settings
from solvers.pdlp.start import place
from solvers.pdlp.state import DeviceProblem
from tests.cases import through
from tests.matrices import MATRICES, as_problem_matrix
from tests.pdlp.matrices import PLANS, PRETENDED_GPU, Laid, lay_out

NAMES = sorted(name for name, matrix in MATRICES.items() if matrix.nnz)


def scaling_of(laid: Laid, progress: Progress | None = None) -> Scaling:
    return find_scaling(laid.by_row, laid.by_column, cpu(), DEFAULT, progress or Progress())


def scaled(laid: Laid, scaling: Scaling) -> sp.csr_array:
    """Return R A C."""
    by_rows = laid.matrix.multiply(scaling.row[:, None])
    return as_problem_matrix(by_rows.multiply(scaling.column[None, :]).tocsr())


@through("name", NAMES)
def test_scales_are_positive_and_the_norm_is_at_most_one(name):
    laid = lay_out(MATRICES[name])
    scaling = scaling_of(laid)
    assert np.all(scaling.row > 0)
    assert np.all(scaling.column > 0)
    result = scaled(laid, scaling)
    # sqrt(|A|_1 |A|_inf) bounds the norm; by Pock and Chambolle it is one at the most
    if max(laid.matrix.shape) < 3000:
        assert np.linalg.norm(result.toarray(), 2) <= 1.0 + 1e-12
    else:
        generator = np.random.default_rng(0)
        for _ in range(20):
            q = generator.standard_normal(laid.matrix.shape[1])
            assert np.linalg.norm(result @ q) <= np.linalg.norm(q)


@through("plan", ["usual", "many units"])
@through("name", ["square 129", "empty rows", "long row", "wide"])
def test_the_layout_does_not_change_the_scaling(name, plan):
    plain, laid = lay_out(MATRICES[name]), lay_out(MATRICES[name], PLANS[plan])
    here, there = scaling_of(plain), scaling_of(laid.plain)
    rows = np.argsort(-np.diff(plain.matrix.indptr), kind="stable")
    columns = np.argsort(-np.diff(plain.matrix.tocsc().indptr), kind="stable")
    np.testing.assert_allclose(there.row, here.row[rows], rtol=1e-10)
    np.testing.assert_allclose(there.column, here.column[columns], rtol=1e-10)


def test_scaling_undoes_the_scaling_of_a_matrix():
    matrix = MATRICES["square 129"]
    generator = np.random.default_rng(1)
    rows, columns = 10.0 ** generator.uniform(-6, 6, 129), 10.0 ** generator.uniform(-6, 6, 129)
    spoilt = as_problem_matrix(matrix.multiply(rows[:, None]).multiply(columns[None, :]).tocsr())
    spreads = []
    for given in (matrix, spoilt):
        laid = lay_out(given)
        sizes = np.abs(scaled(laid, scaling_of(laid)).data)
        spreads.append(sizes.max() / sizes.min())
    assert spreads[1] < 1e2 * spreads[0]


def test_empty_rows_and_columns_keep_the_scale_one():
    matrix = MATRICES["empty rows"]
    scaling = scaling_of(lay_out(matrix))
    empty = np.diff(matrix.indptr) == 0
    assert empty.any()
    assert np.all(scaling.row[empty] == 1.0)
    transposed = as_problem_matrix(sp.csr_array(matrix.T))
    assert np.all(scaling_of(lay_out(transposed)).column[empty] == 1.0)


def test_without_time_only_the_pass_that_bounds_the_norm_is_made():
    laid = lay_out(MATRICES["square 33"])
    scaling = scaling_of(laid, Progress(0.0))
    sizes = abs(laid.matrix)
    np.testing.assert_allclose(scaling.row, 1.0 / np.sqrt(sizes.sum(axis=1)))
    np.testing.assert_allclose(scaling.column, 1.0 / np.sqrt(sizes.sum(axis=0)))


def placed(matrix: sp.csr_array, device: Device) -> DeviceProblem:
    problem = Problem.from_arrays(np.ones(matrix.shape[1]), matrix, 0.0, 1.0)
    return place(problem, device, DEFAULT, Progress())


def norm_of(there: DeviceProblem, settings: Settings, progress: Progress) -> float:
    return spectral_norm(there, settings, progress, drawn_rows(there.coefficients, there.device))


def scaled_norm(there: DeviceProblem) -> float:
    row = there.row_scale()
    column = there.column_scale()
    dense = there.original.matrix.toarray()
    return float(np.linalg.norm(row[:, None] * dense * column, 2))


@pytest.mark.parametrize("device", [cpu(), PRETENDED_GPU], ids=["cpu", "layout of a gpu"])
@pytest.mark.parametrize("name", ["square 33", "wide", "one column", "empty rows"])
def test_norm_by_power_iteration(name, device):
    settings = DEFAULT.changed(step={"power_iterations": 20_000})
    there = placed(MATRICES[name], device)
    norm = norm_of(there, settings, Progress())
    assert norm == pytest.approx(scaled_norm(there), rel=1e-6)


def test_the_norm_of_a_matrix_whose_signs_cancel():
    signs = np.random.default_rng(4).choice([-1.0, 1.0], (150, 150))
    there = placed(sp.csr_array(signs), cpu())
    assert scaled_norm(there) < 0.2
    settings = DEFAULT.changed(step={"power_iterations": 20_000})
    assert norm_of(there, settings, Progress()) == pytest.approx(scaled_norm(there))


def test_the_bound_stands_in_when_time_or_iterations_run_out():
    there = placed(MATRICES["wide"], cpu())
    few, late = DEFAULT.changed(step={"power_iterations": 1}), Progress(0.0)
    assert late.should_stop() is StopReason.TIME_LIMIT
    assert norm_of(there, few, Progress()) == NORM_AFTER_SCALING
    assert norm_of(there, DEFAULT, late) == NORM_AFTER_SCALING
