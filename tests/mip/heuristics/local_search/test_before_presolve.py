from __future__ import annotations

import numpy as np

from solvers.core.progress import Progress
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.heuristic import search_original
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.presolve_stage import hand_on
from solvers.mip.reducer import Reduced, unreduced
from solvers.mip.solutions.acceptance import Acceptance
from solvers.mip.solutions.incumbents import IncumbentStore
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of


def incumbents_of(model: MipModel) -> IncumbentStore:
    return IncumbentStore(model.problem, Progress(), 1e-6, 5)


def test_points_of_either_walk_are_recorded():
    model = schedule(0, jobs=20, periods=30)
    incumbents = incumbents_of(model)
    search_original(incumbents, 0, Budget(work=3e7))
    assert incumbents.pool.best is not None
    assert is_feasible(model, incumbents.pool.best.x)


def test_points_at_bounds_come_first():
    model = model_of(np.ones(6), np.ones((2, 6)), [3, 2], [np.inf, np.inf], 0, 1, True)
    incumbents = incumbents_of(model)
    search_original(incumbents, 0, Budget(stop=lambda: len(incumbents.pool) > 0))
    best = incumbents.pool.best
    assert best is not None
    assert best.source == "trivial"


def test_without_implied_columns_the_walk_on_the_problem_has_all_of_the_time():
    model = model_of([1, 1, 1], [[1, 1, 1]], [1], [1], 0, 1, True)
    incumbents = incumbents_of(model)
    search_original(incumbents, 0, Budget(work=1e7))
    assert incumbents.pool.objective == 1.0


def test_walks_that_have_nothing_to_improve_end():
    model = schedule(0, cost=False)
    budget = Budget(work=1e9)
    search_original(incumbents_of(model), 0, budget)
    assert budget.work < 1e9


def no_room() -> MipModel:
    """Six binaries of which exactly three are one, and of the same six at most two."""
    return model_of(np.ones(6), np.ones((2, 6)), [3, -np.inf], [3, 2], 0, 1, True)


def test_the_least_violated_points_are_handed_on_and_counted_anew():
    model = no_room()
    incumbents = incumbents_of(model)
    search_original(incumbents, 0, Budget(work=5e6))
    assert len(incumbents.infeasible_points)
    acceptance = Acceptance(model, unreduced(model.problem), incumbents, Progress())
    hand_on([one.x for one in incumbents.infeasible_points.points()], acceptance)
    assert 0 < len(acceptance.infeasible_points) <= 3
    assert all(point.violated_rows == 1 for point in acceptance.infeasible_points.points())


def test_where_there_is_no_way_into_the_reduced_model_nothing_is_handed_on():
    model = no_room()
    incumbents = incumbents_of(model)
    incumbents.infeasible_points.add(np.ones(6), 2)
    acceptance = Acceptance(
        model, Reduced(model.problem, lambda x: x), incumbents_of(model), Progress()
    )
    hand_on([one.x for one in incumbents.infeasible_points.points()], acceptance)
    assert not len(acceptance.infeasible_points)


def test_unknown_values_become_zero():
    model = no_room()
    incumbents = incumbents_of(model)
    incumbents.infeasible_points.add(np.ones(6), 2)
    half = np.array([1.0, np.nan, 1.0, np.nan, np.nan, np.nan])
    reduced = Reduced(model.problem, lambda x: x, lambda x: half)
    acceptance = Acceptance(model, reduced, incumbents_of(model), Progress())
    hand_on([one.x for one in incumbents.infeasible_points.points()], acceptance)
    (point,) = acceptance.infeasible_points.points()
    np.testing.assert_array_equal(point.x, [1, 0, 1, 0, 0, 0])
    assert point.violated_rows == 1
