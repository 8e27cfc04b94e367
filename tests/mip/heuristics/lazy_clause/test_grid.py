"""The count of the objective: whole where it can be, and never more than the objective has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.heuristics.lazy_clause.grid import bounds_of, grid_of, is_safe, sides_of
from tests.mip.heuristics.lazy_clause.enumerated import feasible_points, small_model
from tests.mip.inference.domain.models import model_of, random_model

KINDS = ("binary", "general", "decimal", "real")


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_counts_bound_objectives_and_better_points_are_below(seed, kind):
    model = small_model(seed, kind)
    grid = grid_of(model, model.lower, model.upper)
    assert grid.is_whole
    assert grid.is_common == (kind != "real")
    points = feasible_points(model)
    for x in points[:: max(1, len(points) // 20)]:
        objective, count = model.objective_at(x), float(grid.coefficient @ x)
        assert count == round(count)
        assert grid.objective_of(count) <= objective
        assert grid.objective_of(count) == pytest.approx(objective, rel=1e-6, abs=1e-5)
        assert grid.below(objective) < count + 1e-9 or not grid.is_common
        for y in points[:: max(1, len(points) // 20)]:
            gain = objective - model.objective_at(y)
            if gain > 1e-3 * max(1.0, abs(objective - model.offset)):
                assert grid.coefficient @ y <= grid.below(objective)


@pytest.mark.parametrize(
    ("cost", "step"), [([4, 6, -10], 2.0), ([0.25, 0.5, 3], 0.25), ([0.1, 0.2, 0.3], 0.1)]
)
def test_the_step_is_the_largest_common_one(cost, step):
    model = model_of(cost, [[1, 1, 1]], 0, 2, upper=1, integrality=True)
    grid = grid_of(model, model.lower, model.upper)
    assert grid.step == pytest.approx(step)
    assert grid.below(3 * step) == 2.0


def test_costs_of_continuous_columns_stay_as_they_are():
    model = model_of([1.0, 0.7], [[1, 1]], 0, 2, upper=[1, 5], integrality=[True, False])
    grid = grid_of(model, model.lower, model.upper)
    assert not grid.is_whole
    np.testing.assert_allclose(grid.coefficient * grid.step, model.cost)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["integer", "mixed", *KINDS]))
def test_sides_hold_for_every_feasible_point(seed, kind):
    if kind in KINDS:
        model = small_model(seed, kind)
        points = feasible_points(model)
    else:
        model, point = random_model(seed, continuous=0.5 * (kind == "mixed"))
        points = point[None, :]
    grid = grid_of(model, model.lower, model.upper)
    bound = bounds_of(model.lower, model.upper)
    sides, right = sides_of(model, bound, grid)
    by_side = sides.by_side
    assert by_side.indices[-1] == bound.size - 1
    assert right[-1] == np.inf
    for x in points[:20]:
        values = np.append(x, grid.coefficient @ x)
        both = np.column_stack([values, -values]).ravel()
        total = by_side.times(both)
        room = 1e-6 * np.maximum(1.0, np.abs(right))
        assert (total <= right + room).all()
        assert total[-1] == pytest.approx(0.0, abs=1e-3)
    for i in np.flatnonzero(sides.is_exact):
        coefficients = by_side[i][1]
        np.testing.assert_array_equal(coefficients, np.round(coefficients))


def test_small_whole_models_are_safe_and_others_are_not():
    for seed in range(20):
        model = small_model(seed, "decimal")
        bound = bounds_of(model.lower, model.upper)
        sides, right = sides_of(model, bound, grid_of(model, model.lower, model.upper))
        assert is_safe(sides, right, bound)
        bound[0] = -np.inf
        assert not is_safe(sides, right, bound)
