from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from solvers.mip.budget import Budget
from solvers.mip.inference.aggregation import eliminate
from solvers.mip.model import MipModel, is_feasible
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of, random_model


def by_milp(model: MipModel):
    """Solve a model with SciPy."""
    rows = LinearConstraint(model.problem.matrix, model.row_lower, model.row_upper)
    return milp(
        model.cost,
        constraints=rows,
        bounds=Bounds(model.lower, model.upper),
        integrality=model.is_integer,
    )


def model_with_equations(seed: int) -> MipModel:
    """Return a random model to which equations are added that define columns, one by another."""
    rng = np.random.default_rng(seed)
    model = random_model(seed, rows=4, columns=6)
    n, more = model.num_columns, 4
    matrix = np.zeros((4 + more, n + more))
    matrix[:4, :n] = model.problem.matrix.toarray()
    matrix[rng.integers(4), n:] = rng.integers(-2, 3, more)
    whole = rng.random(more) < 0.5
    sides = rng.integers(-3, 4, more).astype(float)
    for k in range(more):
        matrix[4 + k, n + k] = rng.choice([1.0, -1.0, 3.0, -0.5])
        matrix[4 + k, : n + k] = rng.integers(-2, 3, n + k) * (rng.random(n + k) < 0.6)
    integrality = np.concatenate([model.is_integer == 1, whole])
    return model_of(
        np.concatenate([model.cost, rng.integers(-2, 3, more)]),
        matrix,
        np.concatenate([model.row_lower, sides]),
        np.concatenate([model.row_upper, sides]),
        np.concatenate([model.lower, np.full(more, -30.0)]),
        np.concatenate([model.upper, np.full(more, 30.0)]),
        integrality,
        offset=1.5,
    )


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_points_keep_their_feasibility_and_objective(seed):
    model = model_with_equations(seed)
    sub = eliminate(model)
    if sub is None:
        return
    rng = np.random.default_rng(seed)
    small = sub.model
    assert small.num_columns + sub.implied.size == model.num_columns
    for _ in range(20):
        x = small.rounded(rng.uniform(small.lower, small.upper))
        point = sub.to_whole(x)
        np.testing.assert_array_equal(sub.from_whole(point), x)
        assert model.objective_at(point) == pytest.approx(small.objective_at(x), abs=1e-8)
        assert is_feasible(model, point, 1e-7) == is_feasible(small, x, 1e-7)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_optimum_is_the_same_as_scipys(seed):
    model = model_with_equations(seed)
    sub = eliminate(model)
    if sub is None:
        return
    reference, found = by_milp(model), by_milp(sub.model)
    assert found.status == reference.status
    if reference.status == 0:
        objective = found.fun + sub.model.offset
        assert objective == pytest.approx(reference.fun + model.offset, abs=1e-5)
        assert is_feasible(model, model.rounded(sub.to_whole(sub.model.rounded(found.x))), 1e-5)


def test_stocks_and_times_go_and_only_the_choice_of_each_job_stays_an_equation():
    model = schedule(seed=0)
    sub = eliminate(model)
    assert sub is not None
    jobs, periods = 6, 10
    assert sub.implied.size == periods + jobs
    assert int(np.count_nonzero(sub.model.row_lower == sub.model.row_upper)) == jobs
    assert sub.model.is_binary.all()


def test_what_the_objective_costs_moves_to_the_columns_that_stay():
    model = schedule(seed=1)
    sub = eliminate(model)
    assert sub is not None
    assert by_milp(sub.model).fun + sub.model.offset == pytest.approx(by_milp(model).fun)


def test_a_column_that_would_not_be_whole_by_itself_stays():
    # 2 y = 3 a + b: a and b must agree, and putting y in would lose that
    model = model_of([1, 1, 1], [[3, 1, -2]], [0], [0], 0, [1, 1, 9], True)
    assert eliminate(model) is None
    halves = model_of([1, 1, 1], [[4, 2, -2]], [0], [0], 0, [1, 1, 9], True)
    sub = eliminate(halves)
    assert sub is not None
    np.testing.assert_array_equal(sub.implied, [2])
    odd = model_of([1, 1, 1], [[4, 2, -2]], [1], [1], 0, [1, 1, 9], True)
    assert eliminate(odd) is None


def test_an_integer_beside_a_continuous_column_stays_and_the_continuous_one_goes():
    model = model_of([1, 1], [[1, -1]], [0], [0], 0, [5, 9], [True, False])
    sub = eliminate(model)
    assert sub is not None
    np.testing.assert_array_equal(sub.implied, [1])


def test_small_coefficients_define_nothing():
    model = model_of([1, 1, 1], [[1000, 1, 0]], [0], [0], -9, 9, [True, False, False])
    assert eliminate(model) is None


def test_binaries_stay():
    model = model_of([1, 1, 1], [[1, 1, 1]], [1], [1], 0, 1, True)
    assert eliminate(model) is None


def in_every_row(m: int, n: int = 60) -> MipModel:
    """Return a model with one column in an equation with everything and in each of m other rows."""
    rng = np.random.default_rng(3)
    rows = np.zeros((m, n))
    rows[:, 0] = 1.0
    rows[np.arange(m), rng.integers(1, n, m)] = 2.0
    upper = np.full(n, 1.0)
    upper[0] = 50.0
    sides = np.concatenate([[20.0], np.full(m, 40.0)])
    low = np.concatenate([[20.0], np.full(m, -np.inf)])
    return model_of(np.ones(n), np.vstack([np.ones((1, n)), rows]), low, sides, 0, upper, True)


def test_columns_stay_where_the_matrix_would_fill_in():
    assert eliminate(in_every_row(40)) is None
    assert eliminate(in_every_row(3)) is not None


def test_no_single_column_fills_in_a_large_part_of_the_matrix(monkeypatch):
    elimination = import_module("solvers.mip.inference.aggregation")
    monkeypatch.setattr(elimination, "FEW", 0)
    assert eliminate(in_every_row(3)) is None
    monkeypatch.setattr(elimination, "MOST_AT_ONCE", 10.0)
    assert eliminate(in_every_row(3)) is not None


def test_an_ended_budget_leaves_what_was_done():
    model = schedule(seed=2)
    assert eliminate(model, Budget(work=0.0)) is None
    budget = Budget()
    assert eliminate(model, budget) is not None
    assert 0 < budget.work < 1e7
