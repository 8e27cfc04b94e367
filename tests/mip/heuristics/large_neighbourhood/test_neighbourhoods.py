from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import (
    CATALOGUE,
    FEWEST_APART,
    Situation,
    choose,
    cutoff_below,
    graph_induced,
    near_rows,
    rins,
)
from solvers.mip.model import MipModel, Relaxation
from tests.cases import through
from tests.mip.heuristics.large_neighbourhood.situations import packing, situation

AROUND_THE_INCUMBENT = [rins, graph_induced]
RATES = [0.0, 0.3, 0.6, 0.9, 1.0]


def chain(length: int = 50) -> MipModel:
    """Return binaries of which each shares a row with the next only."""
    rows = np.repeat(np.arange(length - 1), 2)
    columns = np.column_stack([np.arange(length - 1), np.arange(1, length)]).ravel()
    matrix = sp.csr_array((np.ones(rows.size), (rows, columns)))
    problem = Problem.from_arrays(
        -np.ones(length), matrix, -np.inf, 1.0, upper=1.0, integrality=True
    )
    return MipModel.of(problem)


@through("rate", RATES)
@pytest.mark.parametrize("make", AROUND_THE_INCUMBENT)
@through("seed", range(4))
def test_the_box_holds_a_point_it_was_made_from_and_fixes_as_many_as_asked(make, rate, seed):
    given = situation(seed)
    sub = make(given, np.random.default_rng(seed), rate)
    model = given.model
    assert np.all((given.incumbent >= sub.lower) & (given.incumbent <= sub.upper))
    assert np.all(sub.lower >= model.lower)
    assert np.all(sub.upper <= model.upper)
    fixed = (sub.lower == sub.upper)[given.decidable]
    wanted = round(rate * given.decidable.size)
    assert fixed.sum() == wanted
    continuous = model.is_integer == 0
    np.testing.assert_array_equal(sub.lower[continuous], model.lower[continuous])
    np.testing.assert_array_equal(sub.upper[continuous], model.upper[continuous])
    assert sub.cutoff == given.cutoff


def test_rins_fixes_what_agrees_before_anything_else():
    given = situation(1)
    columns = given.decidable
    agree = np.abs(given.incumbent[columns] - given.relaxation.x[columns]) < 1e-6
    assert 0.3 < agree.mean() < 1
    sub = rins(given, np.random.default_rng(0), agree.mean())
    np.testing.assert_array_equal((sub.lower == sub.upper)[columns], agree)


def test_rins_says_nothing_where_the_relaxation_is_far():
    given = situation(0)
    far = Relaxation(given.incumbent + 1.0, np.zeros(given.incumbent.size), 0.0, is_exact=False)
    assert rins(replace(given, relaxation=far), np.random.default_rng(0), 0.5) is None


def test_around_a_row_come_first_the_nearest():
    model = chain(50)
    wanted = np.ones(50, dtype=bool)
    rng = np.random.default_rng(0)
    found = near_rows(model, np.array([20], dtype=np.int32), wanted, 6, rng)
    np.testing.assert_array_equal(found, [18, 19, 20, 21, 22, 23])
    wanted[::2] = False
    found = near_rows(model, np.array([20], dtype=np.int32), wanted, 4, rng)
    np.testing.assert_array_equal(found, [17, 19, 21, 23])
    assert near_rows(model, np.array([20], dtype=np.int32), wanted, 400, rng).size == 25


def test_graph_induced_frees_what_hangs_together():
    model = chain(50)
    given = Situation(model, replace(situation(0).best, x=np.zeros(50)))
    sub = graph_induced(given, np.random.default_rng(3), 0.8)
    free = np.flatnonzero(sub.lower < sub.upper)
    assert free.size == 10
    assert np.ptp(free) <= 11
    assert model.num_columns == 50


def test_columns_that_agree_are_chosen_first_and_others_by_distance():
    agree = np.array([True, False, True, False, False])
    distance = np.array([0.0, 0.3, 0.0, 0.1, 0.2])
    rng = np.random.default_rng(0)
    assert set(choose(agree, distance, 1, rng)) <= {0, 2}
    np.testing.assert_array_equal(choose(agree, distance, 2, rng), [0, 2])
    np.testing.assert_array_equal(choose(agree, distance, 4, rng), [0, 2, 3, 4])
    assert choose(agree, distance, 0, rng).size == 0


def cover() -> MipModel:
    """Return a partition of six columns into two rows that need two each, beside idle columns."""
    matrix = np.zeros((3, 12))
    matrix[0, :3] = matrix[1, 3:6] = 1
    matrix[2, 6:] = 1
    problem = Problem.from_arrays(
        np.ones(12), sp.csr_array(matrix), [2, 2, 0], [2, 2, 6], upper=1.0, integrality=True
    )
    return MipModel.of(problem)


@through("one", CATALOGUE)
def test_every_neighbourhood_copes_with_bare_models(one):
    rng = np.random.default_rng(0)
    no_rows = Problem.from_arrays([1.0, -1.0], upper=3.0, integrality=[True, False])
    all_continuous = Problem.from_arrays([1.0], sp.csr_array([[1.0]]), 0, 1, upper=3.0)
    free = Problem.from_arrays(
        [0.0], sp.csr_array([[1.0]]), 2, np.inf, lower=-np.inf, integrality=True
    )
    for problem in (no_rows, all_continuous, free):
        model = MipModel.of(problem)
        x = np.full(model.num_columns, 2.0)
        for best in (None, replace(situation(0).best, x=x)):
            for relaxation in (None, Relaxation(x + 0.5, 0 * x, 0.0, is_exact=True)):
                sub = one.make(Situation(model, best, relaxation), rng, 0.5)
                assert sub is None or np.all(sub.lower <= sub.upper)


def test_neighbourhoods_repeat_themselves_for_a_seed():
    given = situation(5)
    for one in CATALOGUE:
        first = one.make(given, np.random.default_rng(9), 0.6)
        second = one.make(given, np.random.default_rng(9), 0.6)
        if first is not None and second is not None:
            np.testing.assert_array_equal(first.lower, second.lower)
            np.testing.assert_array_equal(first.upper, second.upper)


def test_the_cutoff_asks_for_the_next_value_of_a_whole_objective():
    assert cover().objective_step == 1
    assert cutoff_below(7.0, 1.0) == pytest.approx(6.0, abs=1e-5)
    assert cutoff_below(7.0, 1.0) >= 6.0
    assert cutoff_below(7.0, 0.0) == pytest.approx(7 - 7e-4)
    assert cutoff_below(0.0, 0.0) < 0
    assert cutoff_below(np.inf, 1.0) == np.inf
    assert packing().objective_step == 0  # continuous columns have costs
    halves = Problem.from_arrays([6.0, 4.0], upper=1.0, integrality=True)
    assert MipModel.of(halves).objective_step == 2
    halves = Problem.from_arrays([0.5, 4.0], upper=1.0, integrality=True)
    assert MipModel.of(halves).objective_step == 0.5
    thirds = Problem.from_arrays([0.5, 0.75], upper=1.0, integrality=True)
    assert MipModel.of(thirds).objective_step == 0


@through("seed", range(3))
def test_all_that_points_agree_on_is_fixed_where_that_is_asked_for(seed):
    given = replace(situation(seed), keeps_agreement=True)
    columns = given.decidable
    sub = rins(given, np.random.default_rng(seed), 0.1)
    fixed = (sub.lower == sub.upper)[columns]
    agree = np.abs(given.relaxation.x[columns] - given.incumbent[columns]) < 1e-6
    assert np.all(fixed[agree])
    if np.count_nonzero(~agree) >= FEWEST_APART:
        np.testing.assert_array_equal(fixed, agree)
    loose = rins(replace(given, keeps_agreement=False), np.random.default_rng(seed), 0.1)
    assert (loose.lower == loose.upper)[columns].sum() == round(0.1 * columns.size)


def test_rins_fixes_what_costs_most_to_change():
    given = situation(4, points=1)
    columns = given.decidable
    same = given.incumbent.copy()
    relaxation = Relaxation(same, np.zeros(same.size), 0.0, is_exact=True)
    relaxation.reduced_cost[columns[::2]] = 1e9
    half = np.ceil(columns.size / 2) / columns.size
    for seed in range(5):
        sub = rins(replace(given, relaxation=relaxation), np.random.default_rng(seed), half)
        dear = columns[::2]
        assert np.all(sub.lower[dear] == sub.upper[dear])
