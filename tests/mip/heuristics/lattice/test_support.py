from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.feasibility_pump.projector import Projection
from solvers.mip.heuristics.lattice.equations import find_equations
from solvers.mip.heuristics.lattice.support import (
    MOST_EARLY_ENDS,
    Program,
    Vertices,
    centre_problem,
    columns_of_vertices,
)
from solvers.mip.model import largest_row_violation
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.lattice.models import model_of, random_system


def find_centre(model, lower, upper, columns):
    problem = centre_problem(model, lower, upper, columns)
    program = Program(problem, 0)
    point = program.solve(problem.cost, Budget())
    assert program.has_failed == (point is None)
    return None if point is None else point[: model.num_columns]


def test_the_centre_is_as_far_from_all_bounds_as_it_can():
    # x + y + z = 30 with z up to 4: z in its middle, the others alike
    model = model_of([[1, 1, 1]], [30], upper=[np.inf, np.inf, 4])
    equations = find_equations(model, model.lower, model.upper)
    centre = find_centre(model, model.lower, model.upper, equations.columns)
    assert centre.sum() == pytest.approx(30)
    assert centre[2] == pytest.approx(2)
    assert centre[:2].min() >= 7


def test_columns_without_a_place_in_the_lattice_stay_at_home():
    A, b, _ = random_system(2, 3, 30)
    model = model_of(A, b)
    columns = np.arange(20, dtype=np.int32)
    upper = np.where(np.arange(30) < 20, model.upper, 0.0)
    centre = find_centre(model, model.lower, upper, columns)
    assert largest_row_violation(model, centre) < 1e-6
    assert not centre[20:].any()
    assert centre[:20].min() > 0.5


def test_an_empty_relaxation_has_no_centre():
    model = model_of([[1, 1]], [30], upper=4)
    equations = find_equations(model, model.lower, model.upper)
    assert find_centre(model, model.lower, model.upper, equations.columns) is None
    vertices = Vertices(model, model.lower, model.upper, 0)
    assert not vertices.another(Budget())
    assert vertices.program.has_failed


def test_vertices_differ_and_their_columns_are_those_off_a_common_bound():
    A, b, _ = random_system(5, 4, 60)
    model = model_of(A, b, upper=np.where(np.arange(60) % 2, 6.0, np.inf))
    equations = find_equations(model, model.lower, model.upper)
    vertices = Vertices(model, model.lower, model.upper, 3)
    for _ in range(3):
        assert vertices.another(Budget())
    found = vertices.found
    assert not np.allclose(found[0], found[1])
    chosen = columns_of_vertices(equations, model.lower, model.upper, found)
    others = np.setdiff1d(np.arange(60), chosen)
    assert 4 < chosen.size < 60
    for x in found:
        assert largest_row_violation(model, x) < 1e-6
        np.testing.assert_allclose(x[others], found[0][others], atol=1e-6)
        np.testing.assert_allclose(x[others], np.round(x[others]), atol=1e-6)


def test_a_budget_that_is_spent_leaves_the_vertex_for_later():
    A, b, _ = random_system(5, 12, 300)
    model = model_of(A, b)
    vertices = Vertices(model, model.lower, model.upper, 3)
    assert not vertices.another(Budget(work=1.0))
    assert not vertices.program.has_failed
    assert vertices.found == []
    assert vertices.another(Budget())


def test_an_lp_that_ends_early_again_and_again_has_failed(monkeypatch):
    A, b, _ = random_system(5, 4, 60)
    program = Program(model_of(A, b).problem, 0)
    ended = Projection(np.zeros(60), np.zeros(4), is_converged=False, is_empty=False)
    monkeypatch.setattr(program._simplex, "project", lambda request, budget: ended)
    spent = Budget(work=0.0)
    for _ in range(10):
        assert program.solve(np.ones(60), spent) is None
    assert not program.has_failed  # there was no budget left
    for _ in range(MOST_EARLY_ENDS):
        assert not program.has_failed
        assert program.solve(np.ones(60), Budget()) is None
    assert program.has_failed
