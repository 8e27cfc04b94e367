from __future__ import annotations

import numpy as np

from solvers.core.problem import Problem
from solvers.mip.heuristics.lattice.equations import find_equations, widened
from solvers.mip.model import MipModel
from tests.mip.heuristics.lattice.models import model_of


def test_only_equations_of_whole_numbers_and_integer_columns_count():
    problem = Problem.from_arrays(
        np.zeros(4),
        [[2, 4, 0, 0], [1, 1, 0, 0], [1, 0.5, 0, 0], [1, 0, 1, 0], [0, 3, 0, 5], [0, 0, 0, 2]],
        [6, -np.inf, 3, 2, 13, 4],
        [6, 3, 3, 2, 13, 4],
        upper=[9, 9, 9, 2],
        lower=[0, 0, 0, 2],
        integrality=[True, True, False, True],
    )
    model = MipModel.of(problem)
    found = find_equations(model, model.lower, model.upper)
    # an inequality, a fraction, a continuous column, a row with nothing free
    np.testing.assert_array_equal(found.rows, [0, 4])
    np.testing.assert_array_equal(found.columns, [0, 1])
    # divided by two; the fixed column taken to the other side, and divided by three
    np.testing.assert_array_equal(found.matrix.toarray(), [[1, 2], [0, 1]])
    np.testing.assert_array_equal(found.right, [3, 1])
    assert found.is_solvable


def test_a_divisor_that_does_not_divide_the_side_is_noticed():
    model = model_of([[4, 6, 10], [1, 1, 1]], [7, 3])
    assert not find_equations(model, model.lower, model.upper).is_solvable


def test_the_equations_within_some_columns():
    model = model_of([[1, 2, 0], [0, 3, 1]], [8, 10])
    equations = find_equations(model, model.lower, model.upper)
    matrix, right = equations.within(np.array([0, 2], np.int32), np.array([7.0, 3.0, 7.0]))
    np.testing.assert_array_equal(matrix.toarray(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(right, [2, 1])


def test_columns_with_small_coefficients_are_added_to_missed_equations():
    coefficients = np.array([[10, 20, 30, 9, 8, 7, 6, 5, 4, 3], [1] * 10])
    model = model_of(coefficients, [61, 9])
    equations = find_equations(model, model.lower, model.upper)
    present = np.array([0, 1, 2], np.int32)
    wider = widened(equations, np.array([0], np.int32), present, np.random.default_rng(0))
    np.testing.assert_array_equal(wider, [0, 1, 2, 5, 6, 7, 8, 9])
