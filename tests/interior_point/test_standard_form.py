"""The standard form says the same as the problem, and the way back leads there."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.interior_point.standard_form import Outline, find_scaling, standard_form
from solvers.native.interior_point_scaling import rescale_lines
from tests.interior_point.lps import of_every_kind


@pytest.mark.parametrize("seed", range(5))
def test_a_point_of_the_form_is_one_of_the_problem(seed: int) -> None:
    problem = of_every_kind(np.random.default_rng(seed), rows=40, columns=20)
    form = standard_form(problem)
    rng = np.random.default_rng(seed)
    inside = rng.uniform(0.1, 0.9, form.c.size)
    inside[form.free] -= 0.5
    inside[form.bounded] *= form.u
    x = form.origin.point(inside)
    assert (x >= problem.lower).all()
    assert (x <= problem.upper).all()
    # what the equations miss is what rows and slacks differ by, in the form's units
    missed = form.matrix @ inside - form.b
    is_equation = problem.row_lower == problem.row_upper
    finite = np.isfinite(problem.row_lower) | np.isfinite(problem.row_upper)
    equations = np.flatnonzero(is_equation[finite])
    wrong = (problem.matrix @ x - problem.row_lower)[finite][equations]
    assert (np.abs(missed[equations]) > 1e-9).any()
    in_units = form.origin.objective_factor / form.origin.row_factor[equations]
    assert wrong == pytest.approx(missed[equations] * in_units, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_objectives_differ_by_a_factor_and_a_constant(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = of_every_kind(rng, rows=8, columns=15)
    form = standard_form(problem)
    points = rng.uniform(size=(3, form.c.size))
    here = np.array([form.c @ point for point in points]) * form.origin.objective_factor
    there = np.array([problem.objective_at(form.origin.point(point)) for point in points])
    assert np.diff(here) == pytest.approx(np.diff(there), rel=1e-8)


def test_fixed_columns_and_rows_without_sides_are_left_out() -> None:
    problem = Problem.from_arrays(
        [1, 2, 3], [[1, 1, 0], [0, 1, 1]], [2, -np.inf], [2, np.inf], upper=[5, 0, 4]
    )
    form = standard_form(problem)
    assert form.matrix.shape == (1, 2)
    assert form.origin.point(np.zeros(2)) == pytest.approx([0, 0, 0])
    assert form.origin.row_dual(np.ones(1), 2)[1] == 0.0


def test_scales_are_powers_of_two_and_bring_entries_near_one() -> None:
    rng = np.random.default_rng(1)
    spread = np.exp(rng.uniform(-12, 12, 30))
    problem = of_every_kind(rng, rows=30, columns=40)
    matrix = (problem.matrix.toarray().T * spread).T
    scaled_problem = Problem.from_arrays(np.zeros(40), matrix)
    row, column = find_scaling(scaled_problem.matrix)
    for scale in (row, column):
        assert (np.frexp(scale)[0] == 0.5).all()
    scaled = np.abs(row[:, None] * matrix * column)
    largest = scaled.max(axis=1)[scaled.any(axis=1)]
    assert largest.min() > 0.2
    assert largest.max() < 5.0


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("geometric", [False, True])
def test_a_line_is_divided_by_the_size_of_its_entries(geometric: bool, threads: int) -> None:
    rng = np.random.default_rng(5)
    matrix = sp.random_array((40, 30), density=0.1, rng=rng, format="csr")
    matrix.data = np.exp(rng.normal(size=matrix.nnz))
    across, along = rng.uniform(0.1, 10.0, 30), rng.uniform(0.1, 10.0, 40)
    scaled = along[:, None] * matrix.toarray() * across
    expected = along.copy()
    for i in range(40):
        entries = scaled[i][scaled[i] > 0.0]
        if entries.size:
            size = entries.max() if not geometric else entries.max() * entries.min()
            expected[i] /= np.sqrt(size)
    starts = matrix.indptr.astype(np.int64)
    indices = matrix.indices.astype(np.int32)
    rescale_lines(starts, indices, matrix.data, across, along, geometric, threads)
    np.testing.assert_allclose(along, expected, rtol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_an_outline_has_the_entries_of_its_form(seed: int) -> None:
    problem = of_every_kind(np.random.default_rng(seed), rows=20, columns=35)
    outline = Outline.of(problem)
    form = outline.form()
    for name in ("indptr", "indices"):
        outlined, made = (getattr(one.transposed, name) for one in (outline, form))
        np.testing.assert_array_equal(outlined, made)
    assert outline.transposed.shape == form.transposed.shape
    np.testing.assert_array_equal(outline.free, form.free)
    assert outline.rows.size == form.b.size
    assert (form.matrix != form.transposed.T).nnz == 0
