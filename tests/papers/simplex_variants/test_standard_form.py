"""Problems in standard form and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from solvers.core.problem import Problem
from solvers.papers.simplex_variants.standard_form import NONE, scaled_form, standard_form
from tests.papers.simplex_variants.models import INF, random_problem, reference

SEEDS = st.integers(0, 10_000)


@given(SEEDS)
@settings(max_examples=15)
def test_standard_form_has_the_same_optimum(seed):
    problem = random_problem(seed)
    form = standard_form(problem)
    found = linprog(form.cost, A_eq=form.matrix, b_eq=form.rhs, bounds=(0, None))
    x = form.recover_point(found.x)
    assert problem.objective_at(x) == pytest.approx(reference(problem), abs=1e-7)
    assert np.all(x >= problem.lower - 1e-7)
    assert np.all(x <= problem.upper + 1e-7)
    activity = problem.matrix @ x
    assert np.all(activity >= problem.row_lower - 1e-7)
    assert np.all(activity <= problem.row_upper + 1e-7)


@given(SEEDS)
@settings(max_examples=15)
def test_duals_of_the_standard_form_are_duals_of_the_problem(seed):
    problem = random_problem(seed)
    form = standard_form(problem)
    found = linprog(form.cost, A_eq=form.matrix, b_eq=form.rhs, bounds=(0, None))
    y = form.recover_duals(found.eqlin.marginals)
    z = problem.cost - problem.matrix.T @ y
    side = np.where(y > 0, problem.row_lower, problem.row_upper)
    bound = np.where(z > 0, problem.lower, problem.upper)
    large = np.abs(y) > 1e-9, np.abs(z) > 1e-9
    value = y[large[0]] @ side[large[0]] + z[large[1]] @ bound[large[1]]
    assert value + problem.offset == pytest.approx(found.fun + problem.cost @ form.shift, abs=1e-6)


def test_only_what_needs_a_row_gets_one():
    problem = Problem.from_arrays(
        [1.0, 1, 1, 1, 1],
        np.ones((4, 5)),
        [1.0, -INF, 0.0, -INF],
        [1.0, 2.0, 4.0, INF],
        lower=[0, 1, -INF, -INF, 3],
        upper=[INF, 2, 5, INF, 3],
    )
    form = standard_form(problem)
    # rows: equation, inequality, range, and the widths of column 1 and of the range's slack
    assert form.num_rows == 5
    assert list(form.kept_rows) == [0, 1, 2]
    # columns: x0, x1, -x2, x3+, x3-, two slacks, two complements; x4 is fixed
    assert list(form.owner) == [0, 1, 2, 3, 3, NONE, NONE, NONE, NONE]
    assert list(form.sign[:5]) == [1, 1, -1, 1, -1]
    assert list(form.shift) == [0, 1, 5, 0, 3]
    assert list(form.rhs[3:]) == [1.0, 4.0]
    assert list(form.slack) == [NONE, 5, 6, 7, 8]


def test_scaled_form_is_the_form_with_powers_of_two():
    form = standard_form(random_problem(3))
    scaled = scaled_form(form)
    by_hand = form.matrix.toarray() * scaled.row_scale[:, None] * scaled.column_scale
    assert np.array_equal(scaled.matrix.toarray(), by_hand)
    assert np.array_equal(scaled.cost * scaled.cost_scale, form.cost * scaled.column_scale)
    assert np.array_equal(scaled.rhs, form.rhs * scaled.row_scale)
    for scale in (scaled.row_scale, scaled.column_scale):
        assert np.array_equal(np.log2(scale), np.round(np.log2(scale)))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty_problems_have_a_standard_form(shape):
    form = scaled_form(standard_form(Problem.from_arrays(np.ones(shape[1]), np.zeros(shape))))
    assert form.num_rows == 1  # free rows are left out, and an empty equation makes a basis
    assert form.matrix.nnz == 0
    assert form.num_columns == shape[1]
