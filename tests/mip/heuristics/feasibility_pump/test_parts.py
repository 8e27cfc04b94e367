"""Cycles, perturbation, rounding and the target, each by itself."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.mip.heuristics.feasibility_pump.steps import (
    Rounded,
    Roundings,
    Target,
    by_propagation,
    nearest,
)
from solvers.mip.heuristics.feasibility_pump.trajectory import (
    MOST,
    REMEMBERED,
    WINDOW,
    Cycle,
    Cycles,
    flipped,
    shaken,
    shifted,
)
from solvers.mip.model import MipModel
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import Found, Pool
from tests.mip.heuristics.feasibility_pump.cases import knapsack, random_mip


def vector(*values):
    return np.array(values, dtype=float)


def test_the_same_point_twice_running_is_stuck():
    cycles = Cycles()
    assert cycles.note(vector(0, 1), 0.0, 3.0) is Cycle.NONE
    assert cycles.note(vector(-0.0, 1), 0.0, 3.0) is Cycle.STUCK


def test_an_older_point_is_a_repeat_until_it_is_forgotten():
    cycles = Cycles()
    cycles.note(vector(-1.0), 0.0, 9.0)
    for value in range(REMEMBERED - 1):
        assert cycles.note(vector(value), 0.0, 8.0) is Cycle.NONE
    assert cycles.note(vector(-1.0), 0.0, 7.0) is Cycle.REPEAT
    for value in range(100, 100 + REMEMBERED):
        cycles.note(vector(value), 0.0, 1.0)
    assert cycles.note(vector(-1.0), 0.0, 0.5) is Cycle.NONE


def test_another_share_of_the_objective_is_no_circle():
    cycles = Cycles()
    cycles.note(vector(1.0), 0.9, 9.0)
    assert cycles.note(vector(1.0), 0.8, 9.0) is Cycle.NONE
    assert cycles.note(vector(1.0), 0.796, 9.0) is Cycle.STUCK


def test_a_distance_that_stays_is_a_stall_after_a_full_window():
    cycles = Cycles()
    for number in range(WINDOW):
        assert cycles.note(vector(number), 0.0, 10.0) is Cycle.NONE
    assert cycles.note(vector(-1), 0.0, 9.1) is Cycle.STALL
    assert cycles.note(vector(-2), 0.0, 8.0) is Cycle.NONE
    cycles.forget_distances()
    assert cycles.note(vector(-3), 0.0, 50.0) is Cycle.NONE
    cycles.forget()
    assert cycles.note(vector(-3), 0.0, 50.0) is Cycle.NONE


@pytest.mark.parametrize("seed", range(5))
def test_changes_keep_bounds_and_integrality_and_other_columns(seed):
    model = random_mip(seed, 10, 60)
    generator = np.random.default_rng(seed)
    x = np.clip(generator.uniform(-4.0, 6.0, 60), model.lower, model.upper)
    rounded = model.rounded(x)
    columns = model.integers[::2]
    others = np.setdiff1d(np.arange(60), columns)
    for changed in (
        flipped(model, rounded, x, columns, generator),
        shifted(model, rounded, x, columns, generator),
        shaken(model, rounded, columns, generator),
    ):
        np.testing.assert_array_equal(changed[others], rounded[others])
        assert (np.abs(changed - rounded) <= 1.0).all()
        assert (changed >= model.lower).all()
        assert (changed <= model.upper).all()
        assert (changed[columns] == np.round(changed[columns])).all()
        assert (changed[columns] != rounded[columns]).any()


def test_a_small_change_takes_the_farthest_columns():
    model = knapsack(0, 100)
    rounded = np.zeros(100)
    x = np.where(np.arange(100) < 10, 0.5, 0.01)
    changed = flipped(model, rounded, x, np.arange(100, dtype=np.int32), np.random.default_rng(0))
    assert (changed[:10] == 1.0).all()
    assert 10 <= changed.sum() <= MOST


def test_nearest_rounding_rounds():
    model = random_mip(1, 10, 40)
    x = np.clip(np.random.default_rng(0).uniform(-4, 6, 40), model.lower, model.upper)
    found = nearest(model)(x, Budget(), 0)
    np.testing.assert_array_equal(found.x, model.rounded(x))
    assert not found.is_consistent


def test_careful_roundings_keep_their_share():
    model = knapsack(0, 10)

    def careful(x, budget, seed):
        budget.charge(30.0)
        return Rounded(np.ones(10), True)

    roundings = Roundings(model, careful)
    found = []
    for _ in range(9):
        rounded, effort = roundings.round(np.zeros(10), Budget(work=1e6), 0, 10.0)
        assert effort == (40.0 if rounded.is_consistent else 10.0)
        found.append(rounded.is_consistent)
    assert found == [True, False, True, False, False, True, False, False, True]


def test_propagation_rounds_to_what_the_rows_allow():
    model = MipModel.of(
        Problem.from_arrays(
            np.zeros(4), [[1.0, 1.0, 1.0, 1.0]], 1.0, 1.0, upper=1.0, integrality=True
        )
    )
    found = by_propagation(model, lambda: None)(np.full(4, 0.25), Budget(), 3)
    assert found.is_consistent
    assert found.x.sum() == 1.0


def test_propagation_asks_for_the_cache_before_every_rounding():
    model = MipModel.of(
        Problem.from_arrays(np.zeros(3), [[1.0, 1.0, 1.0]], 1.0, 1.0, upper=1.0, integrality=True)
    )
    asked = []
    rounder = by_propagation(model, lambda: asked.append(1))
    for seed in range(3):
        assert rounder(np.full(3, 1 / 3), Budget(), seed).x.sum() == 1.0
    assert len(asked) == 3


def test_the_cutoff_is_below_the_best_point():
    model = MipModel.of(
        Problem.from_arrays([0.6, 1.0], [[1.0, 1.0]], 1.0, 9.0, integrality=True, offset=100.0)
    )
    pool = Pool(5, model.integers)
    target = Target(model, pool)
    assert target.cutoff == np.inf
    assert not target.is_out_of_reach
    pool.add(Found(vector(0, 4), 104.0, 0.0, "another"))
    assert target.cutoff == pytest.approx(4.0 - 0.104)
    target.note(102.0)
    assert target.best == 102.0
    assert target.cutoff == pytest.approx(2.0 - 0.102)


def test_whole_costs_ask_for_a_whole_step():
    model = MipModel.of(Problem.from_arrays([4.0, 6.0], [[1.0, 1.0]], 1.0, 9.0, integrality=True))
    target = Target(model, None, bound=9.0)
    target.note(12.0)
    assert target.cutoff == pytest.approx(10.0, abs=1e-4)
    assert not target.is_out_of_reach
    target.note(10.0)
    assert target.is_out_of_reach


def test_without_an_objective_the_first_point_is_enough():
    model = MipModel.of(Problem.from_arrays([0.0], [[1.0]], 1.0, 9.0, integrality=True))
    target = Target(model, None)
    assert not target.is_out_of_reach
    target.note(0.0)
    assert target.is_out_of_reach
