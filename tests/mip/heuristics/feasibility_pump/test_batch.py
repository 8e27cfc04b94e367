"""Pumps in lockstep."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.steps import by_walker, nearest
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.feasibility_pump.cases import (
    Keeper,
    knapsack,
    pump_batch,
    pumps_of,
    random_mip,
)


def test_eight_pumps_find_points_and_differ():
    model = random_mip(3, 15, 25)
    keeper = Keeper(model)
    counts = pump_batch(model, keeper, Budget(work=1.5e7), 0, pool=keeper.pool)
    assert counts.projections % 8 == 0
    assert counts.projections > 0
    assert keeper.pool.best is not None
    assert counts.found > 0
    assert len({x[model.integers].tobytes() for x, _ in keeper.submitted}) > 1


def test_the_same_seed_takes_the_same_way():
    model = random_mip(4, 15, 25)
    keepers = [Keeper(model), Keeper(model)]
    for keeper in keepers:
        pump_batch(model, keeper, Budget(work=1e7), 5, pool=keeper.pool)
    one, two = keepers
    assert len(one.submitted) == len(two.submitted) > 0
    for (x, _), (y, _) in zip(one.submitted, two.submitted, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_batch_goes_on_in_turns_with_own_rounders_and_searches():
    model = random_mip(1, 15, 25)
    keeper = Keeper(model)
    made = pumps_of(
        model,
        keeper,
        width=8,
        pool=keeper.pool,
        rounder_of=lambda seed: nearest(model),
        search_of=lambda seed: by_walker(model, seed, keeper.pool),
        workers=2,
    )
    with closing(made):
        done = [made.run(Budget(work=1e7)).projections for _ in range(3)]
    assert 0 < done[0] < done[1] < done[2]
    assert made.counts.searches >= done[2]
    assert keeper.pool.best is not None


def test_a_batch_ends_when_nothing_is_left_to_gain():
    model = MipModel.of(
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], 3.0, 5.0, upper=4.0, integrality=True)
    )
    keeper = Keeper(model)
    assert pump_batch(model, keeper, Budget(work=1e7), 0, pool=keeper.pool).is_over
    assert keeper.pool.objective == 3.0


@pytest.mark.parametrize(
    "problem",
    [
        Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], 1.0, 2.0),
        Problem.from_arrays([1.0], np.zeros((0, 1)), integrality=True),
    ],
    ids=["continuous", "no rows"],
)
def test_models_that_cannot_be_pumped_are_left_alone(problem):
    model = MipModel.of(problem)
    keeper = Keeper(model)
    counts = pump_batch(model, keeper, Budget(work=1e6), 0)
    assert counts.is_over
    assert not keeper.submitted


def test_a_stop_from_outside_is_heard():
    model = knapsack(0, 50)
    counts = pump_batch(model, Keeper(model), Budget(stop=lambda: True), 0)
    assert counts.projections == 0
