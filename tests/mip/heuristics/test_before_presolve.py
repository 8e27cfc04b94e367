from __future__ import annotations

import numpy as np

from solvers.core.progress import Progress
from solvers.mip.heuristics.before_presolve import EarlyWalks
from solvers.mip.heuristics.local_search.cpu import walk
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.mip.reduced import Reduced, unreduced
from solvers.mip.solutions.acceptance import Gate
from solvers.mip.solutions.incumbents import Ledger
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of


def ledger_of(model: MipModel) -> Ledger:
    return Ledger(model.problem, Progress(), 1e-6, 5)


def test_points_of_either_walk_are_recorded():
    model = schedule(0, jobs=20, periods=30)
    ledger = ledger_of(model)
    EarlyWalks(ledger, 0).run(Budget(work=3e7))
    assert ledger.pool.best is not None
    assert is_feasible(model, ledger.pool.best.x)


def test_the_ends_of_the_bounds_come_first():
    model = model_of(np.ones(6), np.ones((2, 6)), [3, 2], [np.inf, np.inf], 0, 1, True)
    ledger = ledger_of(model)
    EarlyWalks(ledger, 0).run(Budget(stop=lambda: len(ledger.pool) > 0))
    best = ledger.pool.best
    assert best is not None
    assert best.source == "ends of bounds"


def test_without_defined_columns_the_walk_on_the_problem_has_all_of_the_time():
    model = model_of([1, 1, 1], [[1, 1, 1]], [1], [1], 0, 1, True)
    ledger = ledger_of(model)
    EarlyWalks(ledger, 0).run(Budget(work=1e7))
    assert ledger.pool.objective == 1.0


def test_walks_that_have_nothing_to_improve_end():
    model = schedule(0, cost=False)
    budget = Budget(work=1e9)
    EarlyWalks(ledger_of(model), 0).run(budget)
    assert budget.work < 1e9


def no_room() -> MipModel:
    """Six binaries of which exactly three are one, and of the same six at most two."""
    return model_of(np.ones(6), np.ones((2, 6)), [3, -np.inf], [3, 2], 0, 1, True)


def test_the_least_violated_points_are_handed_on_and_counted_anew(monkeypatch):
    monkeypatch.setattr(walk, "FIRST_NEAR", 1)
    model = no_room()
    ledger = ledger_of(model)
    early = EarlyWalks(ledger, 0)
    early.run(Budget(work=5e6))
    assert len(early.near)
    gate = Gate(model, unreduced(model.problem), ledger, Progress())
    early.hand_on(gate)
    assert 0 < len(gate.near) <= 3
    assert all(point.violated_rows == 1 for point in gate.near.points())


def test_where_there_is_no_way_into_the_reduced_model_nothing_is_handed_on():
    model = no_room()
    early = EarlyWalks(ledger_of(model), 0)
    early.near(np.ones(6), 2)
    gate = Gate(model, Reduced(model.problem, lambda x: x), ledger_of(model), Progress())
    early.hand_on(gate)
    assert not len(gate.near)


def test_unknown_values_become_zero():
    model = no_room()
    early = EarlyWalks(ledger_of(model), 0)
    early.near(np.ones(6), 2)
    half = np.array([1.0, np.nan, 1.0, np.nan, np.nan, np.nan])
    reduced = Reduced(model.problem, lambda x: x, lambda x: half)
    gate = Gate(model, reduced, ledger_of(model), Progress())
    early.hand_on(gate)
    (point,) = gate.near.points()
    np.testing.assert_array_equal(point.x, [1, 0, 1, 0, 0, 0])
    assert point.violated_rows == 1
