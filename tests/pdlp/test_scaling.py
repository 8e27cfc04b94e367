"""Scaling and step size: what they promise on any matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.device import cpu
from solvers.outcome import StopReason
from solvers.pdlp.scaling import find_scaling, scale_matrix
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.step_size import NORM_AFTER_SCALING, spectral_norm
from solvers.progress import Progress
from tests.pdlp.matrices import MATRICES, as_problem_matrix, compressed

NAMES = sorted(name for name, matrix in MATRICES.items() if matrix.nnz)


def scaled(matrix, settings=DEFAULT):
    by_row, by_column = compressed(matrix), compressed(matrix.T.tocsr())
    scaling = find_scaling(by_row, by_column, np, settings, Progress())
    return scaling, scale_matrix(by_row, scaling.row, scaling.column, np)


@pytest.mark.parametrize("name", NAMES)
def test_scales_are_positive_and_the_norm_is_at_most_one(name):
    matrix = MATRICES[name]
    scaling, result = scaled(matrix)
    assert np.all(scaling.row > 0)
    assert np.all(scaling.column > 0)
    rebuilt = as_problem_matrix(matrix.copy())
    rebuilt.data = result.values
    if min(matrix.shape) > 1 and max(matrix.shape) < 3000:
        assert np.linalg.norm(rebuilt.toarray(), 2) <= 1.0 + 1e-12


def test_scaling_undoes_the_scaling_of_a_matrix():
    matrix = MATRICES["square 129"].copy()
    generator = np.random.default_rng(1)
    rows, columns = 10.0 ** generator.uniform(-6, 6, 129), 10.0 ** generator.uniform(-6, 6, 129)
    spoilt = as_problem_matrix(matrix.multiply(rows[:, None]).multiply(columns[None, :]).tocsr())
    _, straight = scaled(matrix)
    _, repaired = scaled(spoilt)
    sizes = np.abs(repaired.values)
    assert (
        sizes.max() / sizes.min()
        < 1e2 * np.abs(straight.values).max() / np.abs(straight.values).min()
    )


def test_empty_rows_and_columns_keep_the_scale_one():
    matrix = MATRICES["empty rows"]
    scaling, _ = scaled(matrix)
    empty = np.diff(matrix.indptr) == 0
    assert empty.any()
    assert np.all(scaling.row[empty] == 1.0)


@pytest.mark.parametrize("name", ["square 33", "wide", "one column", "empty rows"])
def test_norm_by_power_iteration(name):
    settings = replace(DEFAULT, power_iterations=20_000, power_tolerance=1e-8)
    matrix = MATRICES[name]
    _, result = scaled(matrix)
    rebuilt = as_problem_matrix(matrix.copy())
    rebuilt.data = result.values
    norm = spectral_norm(result, compressed(rebuilt.T.tocsr()), cpu(), settings, Progress())
    assert norm == pytest.approx(np.linalg.norm(rebuilt.toarray(), 2), rel=1e-6)


def test_the_bound_stands_in_when_time_or_iterations_run_out():
    by_row = compressed(MATRICES["wide"])
    by_column = compressed(MATRICES["wide"].T.tocsr())
    few = replace(DEFAULT, power_iterations=1)
    assert spectral_norm(by_row, by_column, cpu(), few, Progress()) == NORM_AFTER_SCALING
    late = Progress(0.0)
    assert late.should_stop() is StopReason.TIME_LIMIT
    assert spectral_norm(by_row, by_column, cpu(), DEFAULT, late) == NORM_AFTER_SCALING
