from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.budget import Budget
from solvers.mip.heuristics.one_opt.improve import improve
from solvers.mip.model import is_feasible
from tests.mip.heuristics.one_opt.models import INF, awkward_models, model_of, random_model

AWKWARD = list(awkward_models())


def improved(model, x, seed=0):
    return improve(model, x, Budget(), seed)


def improves(model, x, moved):
    """Whether a move improves a point, and cannot be made for ever."""
    gains = model.objective_at(moved) < model.objective_at(x) - 1e-9
    far = x + 1e7 * (moved - x)
    return gains and is_feasible(model, moved, 1e-9) and not is_feasible(model, far)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_points_stay_feasible_and_get_no_worse(seed):
    model, x = random_model(seed)
    assert is_feasible(model, x)
    before = x.copy()
    better = improved(model, x)
    assert is_feasible(model, better)
    assert model.objective_at(better) <= model.objective_at(x)
    assert np.array_equal(x, before)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_no_single_integer_shift_is_left(seed):
    model, x = random_model(seed)
    better = improved(model, x)
    for j in model.integers:
        if model.cost[j] == 0:
            continue
        for step in (-1.0, 1.0):
            moved = better.copy()
            moved[j] += step
            assert not improves(model, better, moved)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_no_pair_of_unit_steps_is_left(seed):
    model, x = random_model(seed, continuous=0.0, infinite=0.0)
    better = improved(model, x)
    for j, k in itertools.combinations(range(model.num_columns), 2):
        for one, two in itertools.product((-1.0, 1.0), repeat=2):
            moved = better.copy()
            moved[j] += one
            moved[k] += two
            assert not improves(model, better, moved)


@pytest.mark.parametrize(("name", "model", "x"), AWKWARD, ids=[case[0] for case in AWKWARD])
def test_awkward_models_are_improved(name, model, x):
    better = improve(model, x, Budget(work=3e7), 0)
    assert is_feasible(model, better)
    gain = model.objective_at(x) - model.objective_at(better)
    assert gain == 0.0 if name == "unbounded" else gain > 0.0


def test_exchange_in_a_partition_finds_the_cheapest_member():
    _, model, x = next(case for case in AWKWARD if case[0] == "partitions")
    cheapest = model.cost.reshape(33, 31).min(axis=1).sum()
    assert model.objective_at(improved(model, x)) == cheapest


def test_a_partner_makes_way_by_as_much_as_is_needed():
    # 3 x + y + z <= 3, y = 3: x is worth more than three steps of y
    model = model_of([-5, -1, -1], [[3, 1, 1]], -INF, 3, upper=[1, 3, 0], integrality=True)
    assert improved(model, np.array([0.0, 3.0, 0.0])).tolist() == [1, 0, 0]


def test_an_integer_makes_way_for_a_continuous_column():
    # y <= 10 x, where a unit of x costs 3 and a unit of y earns 1
    model = model_of([3, -1], [[-10, 1]], -INF, 0, upper=[1, 8], integrality=[True, False])
    assert improved(model, np.zeros(2)).tolist() == [1, 8]


def test_a_continuous_column_makes_way_for_an_integer():
    model = model_of([-3, 1], [[2, 1]], 4, 4, upper=[2, 9], integrality=[True, False])
    assert improved(model, np.array([0.0, 4.0])).tolist() == [2, 0]


def test_free_integers_go_as_far_as_their_rows_let_them():
    model = model_of([-1], [[3]], -INF, 1000, lower=-INF, integrality=True)
    assert improved(model, np.zeros(1)).tolist() == [333]


def test_points_that_are_not_feasible_come_back_as_they_are():
    model = model_of([-1, -1], [[1, 1]], -INF, 1, upper=5, integrality=True)
    for x in ([1.0, 1.0], [0.6, 0.6]):
        assert improved(model, np.array(x)).tolist() == x


def test_slight_violations_do_not_grow():
    # the row is violated within the tolerance, and stays so
    model = model_of([-1, -1], [[1, 1]], -INF, 1, upper=[1, 2], integrality=[True, False])
    x = np.array([0.0, 1.0 + 9e-7])
    assert improved(model, x).tolist() == x.tolist()


def test_a_spent_budget_changes_nothing():
    model, x = random_model(1)
    assert improve(model, x, Budget(work=0.0), 0).tolist() == model.rounded(x).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_the_same_seed_gives_the_same_bits(seed):
    model, x = random_model(seed, m=30, n=40, density=0.1)
    one, two = improved(model, x, seed), improved(model, x, seed)
    assert np.array_equal(one, two)


def test_large_coefficients_and_offsets_keep_their_rows():
    model = model_of(
        [-1, -1], [[1e9, 1], [1e-6, 1]], -INF, [1e9 + 1, 1], upper=[5, 5], integrality=True
    )
    better = improved(model, np.zeros(2))
    assert is_feasible(model, better)
    assert model.objective_at(better) == -1.0
