"""Updated factors against fresh ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.simplex.factor.arrays import BEST_AVERAGE, FACTOR_WORK, SOLVE_WORK, UPDATES
from solvers.simplex.factor.basis import BasisFactor
from solvers.simplex.factor.solves import btran, ftran, ftran_entering
from solvers.simplex.factor.updates import refactorisation_pays, update
from solvers.simplex.form import SlackForm
from tests.simplex.factor.bases import columns_of, optimal_basis, random_basis, random_form
from tests.simplex.factor.test_solves import assert_solves


def enter(factor: BasisFactor, variable: int) -> np.ndarray:
    """Return B^-1 times the column of a variable."""
    m = factor.form.num_rows
    column = columns_of(factor.form, np.array([variable]))
    vector, pattern = np.zeros(m), np.zeros(m, dtype=np.int32)
    vector[column.indices] = column.data
    pattern[: column.nnz] = column.indices
    ftran_entering(factor.arrays, vector, pattern, column.nnz)
    return vector


def inverse_row(factor: BasisFactor, position: int) -> np.ndarray:
    m = factor.form.num_rows
    vector, pattern = np.zeros(m), np.zeros(m, dtype=np.int32)
    vector[position], pattern[0] = 1.0, position
    btran(factor.arrays, vector, pattern, 1)
    return vector


def walk(form: SlackForm, basic: np.ndarray, steps: int, seed: int) -> tuple[BasisFactor, int]:
    """Change a basis at random, by pivots that are not small; return how often it was factorised.

    Every other pivot asks for the row of the inverse before, and for another solve in between.
    """
    rng = np.random.default_rng(seed)
    factor = BasisFactor(form)
    factor.factorise(basic)
    again = done = 0
    while done < steps:
        entering = int(rng.integers(form.num_variables))
        if entering in basic:
            continue
        alpha = enter(factor, entering)
        position = int(np.argmax(np.abs(alpha) * rng.uniform(0.3, 1.0, alpha.size)))
        if abs(alpha[position]) < 1e-2:
            continue
        if done % 2:
            inverse_row(factor, position)
            ftran(factor.arrays, alpha.copy(), np.zeros(alpha.size, dtype=np.int32), -1)
        failed = update(factor.arrays, position, alpha[position])
        basic[position] = entering
        if failed:
            again += 1
            factor.factorise(basic)
        done += 1
    return factor, again


@pytest.mark.parametrize(
    ("m", "n", "density", "logicals"),
    [(12, 20, 0.4, 3), (150, 300, 0.03, 60), (80, 120, 0.6, 10), (600, 900, 0.004, 300)],
)
def test_a_long_chain_of_updates(m, n, density, logicals):
    form = random_form(m, n, density, seed=m)
    basic = random_basis(form, logicals, seed=1)
    factor, again = walk(form, basic, 150, seed=2)
    assert again <= 1
    assert_solves(factor, basic, 1e-8)
    fresh = BasisFactor(form)
    assert not fresh.factorise(basic)
    right = np.random.default_rng(3).standard_normal(m)
    pattern = np.zeros(m, dtype=np.int32)
    ours, theirs = right.copy(), right.copy()
    ftran(factor.arrays, ours, pattern, -1)
    ftran(fresh.arrays, theirs, pattern, -1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7 * abs(theirs).max())


def test_updates_away_from_an_optimal_basis():
    form, basic = optimal_basis("forplan")
    factor, _ = walk(form, basic, 100, seed=5)
    assert_solves(factor, basic, 1e-7)


@given(st.integers(0, 10_000), st.integers(1, 25), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_any_chain_of_updates(seed, m, steps):
    form = random_form(m, 2 * m + 3, 0.3, seed)
    basic = random_basis(form, m, seed)
    factor, _ = walk(form, basic, steps, seed)
    assert_solves(factor, basic, 1e-7)
    assert not factor.arrays.scratch.mark.any()
    assert not factor.arrays.scratch.work.any()


def test_both_copies_of_u_stay_the_same():
    form = random_form(60, 120, 0.1, seed=9)
    basic = random_basis(form, 30, seed=9)
    factor, _ = walk(form, basic, 80, seed=9)
    by_columns, by_rows = (
        {
            (label, int(triangle.indices[entry])): triangle.values[entry]
            for label in range(60)
            for entry in range(triangle.begin[label], triangle.end[label])
        }
        for triangle in (factor.arrays.upper, factor.arrays.upper_rows)
    )
    assert by_columns == {(row, label): value for (label, row), value in by_rows.items()}
    lower, etas = factor.arrays.lower, factor.arrays.eta_begin[factor.num_updates]
    assert factor.factor_entries == len(by_columns) + etas + int((lower.end - lower.begin).sum())
    slot = factor.arrays.upper_slot
    assert all(slot[row] < slot[column] for column, row in by_columns)


def test_an_update_that_would_make_the_basis_singular_is_refused():
    form = random_form(10, 20, 0.4, seed=10)
    basic = random_basis(form, 10, seed=10)  # all logicals: B is -I, permuted
    factor = BasisFactor(form)
    factor.factorise(basic)
    alpha = enter(factor, 0)
    position = int(np.flatnonzero(alpha == 0.0)[0])
    assert update(factor.arrays, position, alpha[position]) == 1
    assert factor.num_updates == 0
    assert_solves(factor, basic)


def test_a_pivot_that_disagrees_is_refused():
    form = random_form(10, 20, 0.4, seed=11)
    basic = random_basis(form, 3, seed=11)
    factor = BasisFactor(form)
    factor.factorise(basic)
    entering = next(j for j in range(20) if j not in basic)
    alpha = enter(factor, entering)
    position = int(np.argmax(abs(alpha)))
    assert update(factor.arrays, position, alpha[position] * (1.0 + 1e-4)) == 1
    assert_solves(factor, basic)
    assert update(factor.arrays, position, alpha[position]) == 0
    basic[position] = entering
    assert_solves(factor, basic, 1e-10)
    assert update(factor.arrays, position, alpha[position]) == 1, "the column was used up"


def test_updates_stop_when_their_number_is_used_up():
    form = random_form(30, 60, 0.2, seed=12)
    basic = random_basis(form, 30, seed=12)
    factor = BasisFactor(form, most_updates=2)
    factor.factorise(basic)
    results = []
    for entering in range(4):
        alpha = enter(factor, entering)
        position = int(np.argmax(abs(alpha) * (basic >= 60)))
        results.append(update(factor.arrays, position, alpha[position]))
        if not results[-1]:
            basic[position] = entering
    assert results == [0, 0, 1, 1]
    assert_solves(factor, basic)


def test_a_new_factorisation_pays_when_the_average_work_turns():
    form = random_form(10, 20, 0.4, seed=13)
    factor = BasisFactor(form)
    factor.factorise(np.arange(20, 30, dtype=np.int64))
    counters = factor.arrays.counters
    counters[FACTOR_WORK] = counters[BEST_AVERAGE] = 100_000
    turned = 0
    for updates in range(1, 200):
        counters[UPDATES] = updates
        counters[SOLVE_WORK] += 1000 + 20 * updates  # solves become slower and slower
        if refactorisation_pays(factor.arrays):
            turned = updates
            break
    # the average 1000 + 10 t + 100,000 / t is least at t = 100
    assert 100 <= turned <= 150


def test_no_factorisation_pays_before_the_first_update():
    factor = BasisFactor(random_form(3, 4, 1.0, seed=1))
    factor.factorise(np.arange(4, 7, dtype=np.int64))
    factor.arrays.counters[SOLVE_WORK] = 10**9
    assert not refactorisation_pays(factor.arrays)
