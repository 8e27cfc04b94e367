"""Sweeps: what they construct is what they say it is, and on easy models it is feasible."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge import SolutionStatus
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip import presolve_stage, reducer
from solvers.mip.budget import Budget
from solvers.mip.context import SolveContext
from solvers.mip.heuristics import constructive
from solvers.mip.heuristics.constructive import SOURCE, first_point, sweep
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.presolve_stage import Reducing
from solvers.mip.reducer import Reducer
from solvers.mip.solutions.incumbents import InfeasiblePoints
from tests.mip.test_solve import ALONE, covering


def random_model(seed: int) -> MipModel:
    """Return rows of all kinds over binary, integer, continuous and free columns."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(0, 12)), int(rng.integers(1, 15))
    matrix = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.4)
    lower = rng.choice([0.0, -2.0, -np.inf], n)
    upper = np.maximum(rng.choice([1.0, 3.0, np.inf], n), lower)
    middle = matrix @ rng.integers(0, 2, n) if m else np.zeros(0)
    kind = rng.integers(0, 3, m)
    return MipModel.of(
        Problem.from_arrays(
            rng.integers(-3, 9, n),
            matrix.astype(float),
            np.where(kind == 1, -np.inf, middle),
            np.where(kind == 2, np.inf, middle),
            lower=lower,
            upper=upper,
            integrality=rng.random(n) < 0.7,
        )
    )


def generalised_assignment(jobs=300, options=5, seed=2) -> Problem:
    """Return jobs that each go to one of some machines with room to spare."""
    rng = np.random.default_rng(seed)
    machines, n = jobs // 5, jobs * options
    job, entry = np.repeat(np.arange(jobs), options), np.arange(n)
    once = sp.csr_array((np.ones(n), (job, entry)), (jobs, n))
    load = sp.csr_array(
        (rng.integers(1, 10, n).astype(float), (rng.integers(0, machines, n), entry)),
        (machines, n),
    )
    return Problem.from_arrays(
        rng.integers(1, 100, n),
        sp.vstack([once, load]),
        np.r_[np.ones(jobs), np.full(machines, -np.inf)],
        np.r_[np.ones(jobs), np.full(machines, 45.0)],
        upper=1.0,
        integrality=True,
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 100_000))
def test_the_count_of_violated_rows_is_right_and_the_point_is_in_its_box(seed):
    model = random_model(seed)
    swept = sweep(model, Budget())
    assert np.all(swept.x >= model.lower)
    assert np.all(swept.x <= model.upper)
    whole = swept.x[model.integers]
    assert np.array_equal(whole, np.round(whole))
    activity = model.activity(swept.x)
    outside = np.maximum(model.row_lower - activity, activity - model.row_upper)
    assert swept.violated_rows == np.count_nonzero(outside > 1e-6)
    assert swept.is_feasible == is_feasible(model, swept.x)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 100_000))
def test_no_column_of_a_cover_can_be_left_out(seed):
    model = MipModel.of(covering(25, 30, seed))
    swept = sweep(model, Budget())
    assert swept.is_feasible
    for j in np.flatnonzero(swept.x):
        other = swept.x.copy()
        other[j] = 0.0
        assert not is_feasible(model, other)


@pytest.mark.parametrize("problem", [covering(), generalised_assignment()], ids=["cover", "assign"])
def test_covering_and_assignment_with_room_are_solved(problem):
    model = MipModel.of(problem)
    first, second = sweep(model, Budget()), sweep(model, Budget())
    assert first.is_feasible
    assert is_feasible(model, first.x)
    np.testing.assert_array_equal(first.x, second.x)


@pytest.mark.parametrize("problem", [covering(), generalised_assignment()], ids=["cover", "assign"])
def test_a_first_point_is_the_best_of_those_told(problem):
    progress = Progress()
    told = []
    progress.incumbent = lambda objective, source, x=None: bool(told.append((objective, source)))
    x = first_point(problem, EngineOptions(), progress)
    assert is_feasible(MipModel.of(problem), x)
    assert min(told) == (pytest.approx(problem.objective_at(x)), SOURCE)


def test_no_first_point_comes_of_a_contradiction():
    problem = Problem.from_arrays([1.0], [[2.0]], 1.0, 1.0, upper=9.0, integrality=True)
    assert first_point(problem, EngineOptions(), Progress()) is None


def test_a_long_row_is_mended_by_many_steps():
    n = 160
    problem = Problem.from_arrays(
        np.arange(1.0, n + 1), np.ones((1, n)), n - 3.0, upper=1.0, integrality=True
    )
    swept = sweep(MipModel.of(problem), Budget())
    assert swept.is_feasible
    assert swept.x.sum() == n - 3


def test_a_spent_budget_ends_the_sweeps():
    model = MipModel.of(covering(400, 400))
    swept = sweep(model, Budget(work=0.0))
    assert np.all(np.isin(swept.x, (0.0, 1.0)))


def test_long_columns_end_the_sweeps_by_work(monkeypatch):
    """More equations than columns, and each column is in all of them."""
    monkeypatch.setattr(constructive, "LEAST_WORK", 50_000)
    monkeypatch.setattr(constructive, "SLICE", 10_000)
    rng = np.random.default_rng(0)
    matrix = rng.choice([-1.0, 1.0], (300, 60))
    problem = Problem.from_arrays(
        np.ones(60), matrix, 1.0, 1.0, lower=-1.0, upper=1.0, integrality=True
    )
    model = MipModel.of(problem)
    budget = Budget()
    assert not sweep(model, budget).is_feasible
    cap = constructive.WORK_PER_ENTRY * model.num_nonzeros
    assert budget.work <= 1.5 * cap


def test_its_point_is_the_first_of_a_solve_after_points_at_bounds():
    outcome = gpu_bridge.solve(covering(), device="cpu", **ALONE)
    sources = [event.source for event in outcome.history]
    assert sources[:2] == ["trivial", SOURCE]


def test_a_walk_goes_on_from_what_a_sweep_nearly_solved(monkeypatch):
    """Only the sweep's work is taken away: one row of sixty is left violated for the walk."""
    problem = covering()
    whole = sweep(MipModel.of(problem), Budget())
    row = problem.matrix[[0]].toarray()[0]
    x = np.where(row > 0.0, 0.0, 1.0)
    left = int(np.count_nonzero(problem.matrix @ x < 1.0))
    assert 0 < left <= presolve_stage.CLOSE * problem.num_rows
    assert whole.is_feasible
    monkeypatch.setattr(constructive, "sweep", lambda *_: constructive.Swept(x, left))
    progress = Progress()
    solve = SolveContext(problem, EngineOptions(device="cpu"), progress, None)
    infeasible_points = InfeasiblePoints()
    Reducing(solve).sweep_original(infeasible_points)
    assert solve.has_point
    assert solve.incumbents.pool.best.source == "local search"
    assert len(infeasible_points) == 1


def test_a_sweep_that_fails_holds_nobody_up(monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("made to fail")

    monkeypatch.setattr(constructive, "sweep", fail)
    monkeypatch.setattr(reducer, "PRESOLVE_BESIDE_FROM", 1)
    outcome = gpu_bridge.solve(covering(150, 400), device="cpu", time_limit=3, heuristics_only=True)
    assert "'local search before presolve' failed" in outcome.log
    assert outcome.solution_status is SolutionStatus.FEASIBLE


def test_no_walk_goes_on_from_what_is_far_from_solved(monkeypatch):
    problem = covering()
    monkeypatch.setattr(constructive, "sweep", lambda *_: constructive.Swept(np.zeros(90), 60))
    solve = SolveContext(problem, EngineOptions(device="cpu"), Progress(), None)
    infeasible_points = InfeasiblePoints()
    Reducing(solve).sweep_original(infeasible_points)
    assert not solve.has_point
    assert len(infeasible_points) == 1


def test_heuristics_do_not_wait_for_the_presolve_of_a_huge_model(monkeypatch):
    monkeypatch.setattr(reducer, "PRESOLVE_BESIDE_FROM", 1)
    problem = covering()
    reduced = Reducer(problem)(Progress())
    assert reduced.problem is problem
    assert reduced.further is not None
    assert reduced.further(Progress(time_limit=600.0)).further is None
    outcome = gpu_bridge.solve(problem, method="mip", device="cpu", time_limit=600.0)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
