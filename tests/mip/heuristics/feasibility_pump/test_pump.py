"""Whole pumps: what they submit, and that they end."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.projection import Augmented
from solvers.mip.heuristics.feasibility_pump.steps import by_walker, nearest
from solvers.mip.inference.relaxation import first_order, root_relaxation
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import Found, Pool
from tests.mip.heuristics.feasibility_pump.cases import Keeper, knapsack, pumps_of, random_mip


def run(model, seed=0, work=1e7, **options):
    keeper = Keeper(model)
    counts = pumps_of(model, keeper, seed, pool=keeper.pool, **options).run(Budget(work=work))
    return keeper, counts


@pytest.mark.parametrize("seed", range(6))
def test_pure_integer_models_are_solved_to_feasibility(seed):
    model = knapsack(seed, 30)
    keeper, counts = run(model)
    assert counts.found >= 1
    best = keeper.pool.best
    assert best is not None
    assert is_feasible(model, best.x)
    bound = root_relaxation(model, Budget()).relaxation.objective
    assert bound - 1e-6 <= best.objective <= 0.9 * bound


def test_small_mixed_models_get_points():
    found = 0
    for seed in range(8):
        keeper, _ = run(random_mip(seed, 10, 20))
        found += keeper.pool.best is not None
    assert found >= 6


def test_pdlp_projects_as_well():
    found = 0
    for seed in range(5):
        model = random_mip(seed, 10, 20)
        projector = first_order(Augmented.of(model).problem, cpu(), Budget())
        keeper, counts = run(
            model, projector=projector, rounder_of=lambda _, model=model: nearest(model), work=5e6
        )
        assert counts.converged > 0 or counts.projections == 0
        found += keeper.pool.best is not None
    assert found >= 3


def test_the_same_seed_takes_the_same_way():
    model = random_mip(3, 15, 25)
    (one, first), (two, second), (three, _) = (run(model, seed) for seed in (5, 5, 6))
    assert [source for _, source in one.submitted] == [source for _, source in two.submitted]
    for (x, _), (y, _) in zip(one.submitted, two.submitted, strict=True):
        np.testing.assert_array_equal(x, y)
    assert first.projections == second.projections
    assert first.cycles == second.cycles
    same = len(one.submitted) == len(three.submitted) and all(
        np.array_equal(x, y) for (x, _), (y, _) in zip(one.submitted, three.submitted, strict=True)
    )
    assert not same


def test_points_of_others_set_the_cutoff():
    model = knapsack(4, 30)
    keeper = Keeper(model)
    first, _ = run(model, work=5e7)
    best = first.pool.best
    assert best is not None
    keeper.pool.add(Found(best.x, best.objective, 0.0, "another"))
    pumps_of(model, keeper, 1, pool=keeper.pool).run(Budget(work=2e6))
    assert keeper.pool.objective <= best.objective


def test_without_an_objective_the_first_point_ends_the_pump():
    cover = np.random.default_rng(0).random((20, 30)) < 0.3
    cover[:, 0] = True
    model = MipModel.of(
        Problem.from_arrays(
            np.zeros(30), cover.astype(float), 1.0, np.inf, upper=1.0, integrality=True
        )
    )
    keeper, counts = run(model)
    assert counts.is_over
    assert len(keeper.pool) == 1


def test_the_relaxations_bound_ends_the_pump():
    model = MipModel.of(
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], 3.0, 5.0, upper=4.0, integrality=True)
    )
    keeper, counts = run(model)
    assert counts.is_over
    assert keeper.pool.objective == 3.0


def test_local_search_is_asked_around_every_rounding():
    model = knapsack(0, 20)
    seen = []

    def search(x, budget):
        seen.append(budget.work_left)
        assert (x == np.round(x)).all()
        return np.zeros(20), True

    keeper, counts = run(model, work=1e6, search_of=lambda _: search)
    assert counts.searches == len(seen) > 0
    assert max(seen) <= 1e6
    sources = [source for x, source in keeper.submitted if not x.any()]
    assert "pump search" in sources


def test_a_walker_searches_around_rounded_points():
    model = random_mip(1, 15, 25)
    found = Keeper(model)
    search = by_walker(model, 0, found.pool)
    counts = pumps_of(model, found, 0, pool=found.pool, search_of=lambda _: search).run(
        Budget(work=2e7)
    )
    assert counts.searches > 0
    assert found.pool.best is not None


def test_a_pump_goes_on_where_its_last_turn_ended():
    model = random_mip(3, 15, 25)
    keeper = Keeper(model)
    made = pumps_of(model, keeper, 0, pool=keeper.pool)
    done = [made.run(Budget(work=1e6)).projections for _ in range(4)]
    submitted = len(keeper.submitted)
    assert made.run(Budget(work=0.0)).projections == done[-1]
    assert len(keeper.submitted) == submitted
    assert 0 < done[0] < done[1] < done[2] < done[3]


def test_a_pump_that_is_over_does_nothing_more():
    model = MipModel.of(
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], 3.0, 5.0, upper=4.0, integrality=True)
    )
    made = pumps_of(model, Keeper(model), 0)
    assert made.run(Budget(work=1e7)).is_over
    before = made.counts
    assert made.run(Budget(work=1e7)).projections == before.projections


def test_an_infeasible_model_ends_without_a_point():
    parity = Problem.from_arrays([1.0, 1.0], [[2.0, 2.0]], 3.0, 3.0, upper=5.0, integrality=True)
    keeper, counts = run(MipModel.of(parity), work=1e6)
    assert keeper.pool.best is None
    assert counts.found == 0
    empty = Problem.from_arrays([1.0], [[1.0], [1.0]], [2.0, 0.0], [3.0, 1.0], integrality=True)
    keeper, counts = run(MipModel.of(empty), work=1e6)
    assert keeper.pool.best is None


@pytest.mark.parametrize(
    "problem",
    [
        Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], 1.0, 2.0),
        Problem.from_arrays([1.0], np.zeros((0, 1)), integrality=True),
        Problem.from_arrays([1.0, -1.0], [[0.0, 0.0]], 0.0, 1.0, upper=1.0, integrality=True),
        Problem.from_arrays([-1.0], [[1.0]], 0.0, np.inf, integrality=True),
        Problem.from_arrays([1.0], [[2.0]], 4.0, 4.0, lower=-np.inf, integrality=True),
        Problem.from_arrays([1.0], [[1.0]], 0.0, 3.0, lower=2.0, upper=2.0, integrality=True),
    ],
    ids=["continuous", "no rows", "no entries", "unbounded", "free integer", "fixed"],
)
def test_awkward_models_end_and_offer_only_whole_points(problem):
    model = MipModel.of(problem)
    keeper, _ = run(model, work=2e5)
    for x, _ in keeper.submitted:
        assert (x[model.integers] == np.round(x[model.integers])).all()
        assert (x >= model.lower).all()
        assert (x <= model.upper).all()


def test_a_stop_from_outside_is_heard():
    model = knapsack(0, 50)
    keeper = Keeper(model)
    counts = pumps_of(model, keeper, 0).run(Budget(stop=lambda: True))
    assert counts.projections == 0
    assert Pool(1, model.integers).best is None
