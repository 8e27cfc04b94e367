"""Parts of the engine: reduction, relaxation, congruence, pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from solvers.knapsack.multiple_choice.engine import solve_multiple_choice
from solvers.knapsack.multiple_choice.items import MultipleChoice
from solvers.knapsack.multiple_choice.relaxation import (
    Congruence,
    congruence,
    multiple_choice_form,
    relax,
)
from solvers.knapsack.multiple_choice.stages import core_of
from tests.knapsack.multiple_choice.instances import KINDS, instance, model_of


def test_dominated_and_heavy_items_and_decided_classes_go() -> None:
    profit = [4, 3, 9, 2, 7, 1, 6, 8]
    weight = [2, 4, 6, 1, 9, 3, 3, 3]
    form = multiple_choice_form(MultipleChoice(profit, weight, [0, 3, 5, 8], 11))
    assert form is not None
    # of the first class the second item is dominated, of the second 9 does not fit beside 2 and 3,
    # and in the third only the best of three equal weights is left
    assert form.choice.profit.tolist() == [0, 1]
    assert form.choice.weight.tolist() == [0, 1]
    assert form.choice.capacity == 1
    assert (form.profit_unit, form.base) == (5, 4 + 2 + 8)
    assert form.selection_back(np.array([1])).tolist() == [2, 3, 7]
    assert form.profit_back(1) == 9 + 2 + 8


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_that_of_the_linear_relaxation(kind: str) -> None:
    choice = instance(kind, 12, 6, 1000, 5)
    form = multiple_choice_form(choice)
    assert form is not None
    problem = model_of(form.choice)
    rows = problem.matrix.toarray()
    value = linprog(
        problem.cost,
        A_ub=rows[:1],
        b_ub=problem.row_upper[:1],
        A_eq=rows[1:],
        b_eq=problem.row_upper[1:],
        bounds=(0.0, 1.0),
    ).fun
    assert relax(form.choice).bound == np.floor(-value + 1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_enter_the_core_once_and_bounds_widen_towards_its_end(kind: str) -> None:
    form = multiple_choice_form(instance(kind, 30, 6, 1000, 5))
    assert form is not None
    core = core_of(form.choice, relax(form.choice))
    assert sorted(core.sequence) == list(range(form.choice.num_classes))
    assert (np.diff(core.up_profit / core.up_weight) <= 0).all()
    heavier = core.down_weight > 0
    assert (np.diff((core.down_profit / np.maximum(core.down_weight, 1))[heavier]) >= 0).all()
    assert (np.diff(heavier.astype(int)) <= 0).all()


def test_strongly_correlated_profits_are_known_modulo_the_constant() -> None:
    steps = np.array([[3, 8, 9], [2, 5, 11], [4, 7, 13]])
    weight, profit = np.cumsum(steps, axis=1).ravel(), np.cumsum(steps + 100, axis=1).ravel()
    form = multiple_choice_form(MultipleChoice(profit, weight, [0, 3, 6, 9], 40))
    assert form is not None
    rule = congruence(form.choice, relax(form.choice))
    assert (rule.modulus, rule.factor) == (100, 1)
    assert rule.residue == form.choice.capacity % 100
    assert Congruence(100, 31, 1).rounded_down(430) == 331
    assert Congruence(100, 31, 1).rounded_down(431) == 431


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 5))
def test_rounded_bounds_are_bounds(seed: int, constant: int, factor: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 30, 12)
    profit = factor * weight + constant * rng.integers(0, 4, 12)
    least = int(weight.reshape(4, 3).min(axis=1).sum())
    choice = MultipleChoice(profit, weight, [0, 3, 6, 9, 12], least + int(rng.integers(0, 40)))
    form = multiple_choice_form(choice)
    assert form is not None
    relaxation = relax(form.choice)
    bound = relaxation.bound
    if relaxation.break_step < relaxation.profit.size:  # else everything fits
        bound = congruence(form.choice, relaxation).rounded_down(bound)
    best = max(
        int(choice.profit[list(items)].sum())
        for items in product(range(3), range(3, 6), range(6, 9), range(9, 12))
        if choice.weight[list(items)].sum() <= choice.capacity
    )
    assert form.profit_back(bound) >= best


def test_pairs_end_a_search_that_products_would_make_long() -> None:
    found = solve_multiple_choice(instance("weakly", 10, 10, 10**9, 7))
    assert found.is_optimal
    assert found.work < 1_000_000  # of ten thousand million selections
