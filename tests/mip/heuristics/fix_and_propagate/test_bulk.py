from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.heuristics.fix_and_propagate.bulk import first_order, round_point
from solvers.mip.heuristics.fix_and_propagate.dive import seeded
from solvers.mip.inference.domain import Domain
from solvers.mip.inference.probing import build_cache
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_heuristics_fix_and_propagate_bulk import draw, slack_consumption
from tests.mip.inference.domain.models import INF, model_of, random_model


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.3]))
def test_what_is_said_of_the_point_is_true(seed, continuous, infinite):
    model, x = random_model(seed, continuous=continuous, infinite=infinite)
    rng = np.random.default_rng(seed)
    rounded = round_point(model, x + rng.normal(0, 0.3, x.size), Budget(), seed)
    whole = rounded.x[model.integers]
    np.testing.assert_array_equal(whole, np.round(whole))
    assert np.all((rounded.x >= model.lower) & (rounded.x <= model.upper))
    if continuous == 0.0:
        assert rounded.is_consistent == is_feasible(model, rounded.x)


def test_a_feasible_point_is_its_own_rounding():
    for seed in range(20):
        model, x = random_model(seed)
        rounded = round_point(model, x, Budget(), seed)
        assert rounded.is_consistent
        np.testing.assert_array_equal(rounded.x, x)


def covering(n=600, m=200):
    rng = np.random.default_rng(1)
    matrix = (rng.random((m, n)) < 0.02).astype(float)
    matrix[np.arange(m), rng.integers(0, n, m)] = 1.0
    return model_of(np.ones(n), matrix, np.ones(m), INF, upper=1, integrality=True)


def test_bulks_take_few_steps_and_seeds_decide():
    model = covering()
    x = np.full(600, 0.2)
    calls = []

    class Chooser:
        def choose(self, columns, first, second, lower, upper):
            assert np.all((first >= lower[columns]) & (first <= upper[columns]))
            calls.append(columns.size)
            return first, second, lower.copy(), upper.copy()

    one = round_point(model, x, Budget(), 0, Chooser())
    assert one.is_consistent
    assert is_feasible(model, one.x)
    assert calls[0] <= int(np.sqrt(600))
    assert len(calls) < 120
    assert set(calls[-5:]) == {1}
    again, other = (round_point(model, x, Budget(), seed) for seed in (0, 1))
    np.testing.assert_array_equal(again.x, one.x)
    assert not np.array_equal(other.x, one.x)


def test_hints_narrow_other_columns_and_wrong_ones_are_survived():
    model = covering(100, 30)

    class Wrong:
        def choose(self, columns, first, second, lower, upper):
            low = lower.copy()
            low[:] = 2.0  # contradicts every bound
            return first, second, low, upper.copy()

    class Ones:
        def choose(self, columns, first, second, lower, upper):
            return first, second, np.ones(lower.size), upper.copy()

    assert round_point(model, np.full(100, 0.3), Budget(), 0, Wrong()).is_consistent
    row = model_of(np.ones(100), np.ones((1, 100)), [1], INF, upper=1, integrality=True)
    ones = round_point(row, np.zeros(100), Budget(), 0, Ones())
    assert ones.is_consistent
    assert ones.x.sum() == 90, "a bulk of ten is rounded to zero, the rest follows the hints"


def test_the_probing_cache_is_a_chooser():
    model = covering(80, 30)
    cache = build_cache(model, None, Budget(work=100_000), 0)
    rounded = round_point(model, np.full(80, 0.4), Budget(), 0, cache)
    assert rounded.is_consistent
    assert is_feasible(model, rounded.x)


def test_a_spent_budget_leaves_the_nearest_integers():
    model = covering()
    x = np.linspace(0, 1, 600)
    rounded = round_point(model, x, Budget(work=0), 0)
    assert not rounded.is_consistent
    np.testing.assert_array_equal(rounded.x, np.round(x))


def test_slack_consumption_is_that_of_the_paper():
    for seed in range(10):
        model, _ = random_model(seed, infinite=0.3)
        domain = Domain.of(model)
        A = model.problem.matrix.toarray()
        with np.errstate(invalid="ignore"):
            smallest = np.where(A > 0, A * model.lower, np.where(A < 0, A * model.upper, 0.0))
            largest = np.where(A > 0, A * model.upper, np.where(A < 0, A * model.lower, 0.0))
        slack = np.minimum(
            model.row_upper - smallest.sum(axis=1), largest.sum(axis=1) - model.row_lower
        )
        expected = np.sqrt(((A / np.maximum(slack, 1e-6)[:, None]) ** 2).sum(axis=0))
        columns = np.arange(model.num_columns, dtype=np.int32)
        found = np.zeros(columns.size)
        slack_consumption(domain.model, domain.box, columns, found)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_first_order_goes_by_type_and_fraction():
    x = np.array([0.5, 0.01, 0.99, 1.45, 3.0, 0.15])
    bounds = np.array([[0.0] * 6, [1.0, 1.0, 1.0, 2.0, 9.0, 1.0]])
    columns = np.arange(6, dtype=np.int32)
    seen = {tuple(first_order(x, columns, bounds, seed)) for seed in range(20)}
    assert seen == {(1, 2, 5, 0, 3, 4), (2, 1, 5, 0, 3, 4)}


def test_draws_keep_near_integers_and_share_the_middle():
    x = np.array([0.05, 0.95, 0.5, 7.0])
    bounds = np.array([[0.0] * 4, [1.0, 1.0, 1.0, 5.0]])
    random = seeded(1)
    columns = np.arange(4, dtype=np.int32)
    values = np.zeros((400, 4))
    for drawn in values:
        draw(x, columns, bounds, random, drawn)
    assert values[:, 0].mean() < 0.1
    assert values[:, 1].mean() > 0.9
    assert 0.4 < values[:, 2].mean() < 0.6
    assert set(values[:, 3]) == {5.0}
