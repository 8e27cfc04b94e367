from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.lattice import supports
from solvers.mip.heuristics.lattice.equations import find_equations
from solvers.mip.heuristics.lattice.supports import MOST_FAILURES, Supports
from solvers.mip.model import largest_row_violation
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.lattice.models import model_of, random_system


def supports_of(model, seed=0) -> Supports:
    equations = find_equations(model, model.lower, model.upper)
    return Supports(model, equations, model.lower, model.upper, seed)


def test_few_columns_are_all_taken():
    A, b, _ = random_system(1, 3, 20)
    model = model_of(A, b)
    support = supports_of(model)
    support.find(Budget())
    np.testing.assert_array_equal(support.columns, np.arange(20))
    assert largest_row_violation(model, support.centre) < 1e-6
    assert not support.is_partial
    support.fail()  # there are no others
    assert support.is_over


def test_of_many_columns_those_of_vertices_are_taken_and_others_next(monkeypatch):
    monkeypatch.setattr(supports, "MOST_COLUMNS", 40)
    A, b, _ = random_system(2, 5, 300)
    model = model_of(A, b)
    support = supports_of(model)
    seen = []
    for _ in range(2):
        support.find(Budget())
        seen.append(support.columns)
        others = np.setdiff1d(np.arange(300), support.columns)
        assert support.columns.size == 40  # with some at random besides
        np.testing.assert_array_equal(support.centre[others], support.home[others])
        assert largest_row_violation(model, support.centre) < 1e-6
        support.begin_anew()
    assert not np.array_equal(*seen)


def test_wider_columns_are_tried_before_other_ones_and_failures_are_counted(monkeypatch):
    monkeypatch.setattr(supports, "MOST_COLUMNS", 40)
    A, b, _ = random_system(2, 5, 300)
    support = supports_of(model_of(A, b))
    support.find(Budget())
    wider = np.arange(30, dtype=np.int32)
    support.fail(wider)
    np.testing.assert_array_equal(support.columns, wider)
    support.fail(np.arange(41, dtype=np.int32))
    assert support.columns is None  # too wide: other vertices
    for failures in range(2, MOST_FAILURES):
        assert not support.is_over, failures
        support.fail()
    assert support.is_over


@pytest.mark.parametrize("work", [2e5, 1e6])
def test_small_budgets_come_to_the_same_centre(monkeypatch, work):
    monkeypatch.setattr(supports, "MOST_COLUMNS", 40)
    A, b, _ = random_system(4, 5, 300)
    model = model_of(A, b)
    whole, parts = supports_of(model), supports_of(model)
    whole.find(Budget())
    turns = 0
    while parts.centre is None:
        parts.find(Budget(work=work))
        turns += 1
        assert turns < 1000
    assert turns > 1 or work == 1e6
    np.testing.assert_array_equal(parts.columns, whole.columns)
    np.testing.assert_allclose(parts.centre, whole.centre, atol=1e-6)
