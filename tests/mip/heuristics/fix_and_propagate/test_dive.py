from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.mip.budget import Budget
from solvers.mip.heuristics.fix_and_propagate.dive import Diver, dive
from solvers.mip.heuristics.fix_and_propagate.strategy import (
    LP_FREE,
    LP_GUIDED,
    Mode,
    Order,
    Strategy,
    Value,
)
from solvers.mip.inference.domain import Domain
from solvers.mip.model import is_feasible
from tests.mip.inference.domain.models import INF, model_of, random_model


def diver_of(model, reference=None):
    domain = Domain.of(model)
    domain.propagate()
    return Diver(model, domain, reference)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.4, 1.0]), st.sampled_from([0.0, 0.3]))
def test_what_a_dive_says_of_its_point_is_true(seed, continuous, infinite):
    model, x = random_model(seed, continuous=continuous, infinite=infinite)
    rng = np.random.default_rng(seed)
    diver = diver_of(model, x + rng.normal(0, 0.5, x.size))
    for strategy in (*LP_FREE, *LP_GUIDED):
        found = diver.dive(strategy, seed % 5, Budget())
        whole = found.x[model.integers]
        np.testing.assert_array_equal(whole, np.round(whole))
        assert np.all((found.x >= model.lower) & (found.x <= model.upper))
        assert found.is_feasible == is_feasible(model, found.x)
        assert found.integers_feasible >= found.is_feasible
        assert found.is_complete
        if continuous == 0.0:
            assert found.integers_feasible == found.is_feasible
            assert (found.violated_rows == 0) == found.is_feasible


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(list(Order)), st.sampled_from(list(Value)))
def test_depth_first_search_misses_no_point_of_a_small_binary_model(seed, order, value):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    x = rng.integers(0, 2, n)
    matrix = rng.integers(-3, 4, (4, n))
    side = matrix @ x
    model = model_of(rng.integers(-2, 3, n), matrix, side, side, upper=1, integrality=True)
    found = diver_of(model, np.full(n, 0.5)).dive(
        Strategy(order, value, Mode.DFS), seed % 3, Budget()
    )
    assert found.is_feasible


def test_an_empty_model_and_one_without_integers():
    nothing = model_of([], np.zeros((0, 0)), [], [])
    assert diver_of(nothing).dive(LP_FREE[0], 0, Budget()).is_feasible
    found = diver_of(model_of([1, -1], [[1, 1]], [2], [3], upper=[5, 5])).dive(
        LP_FREE[0], 0, Budget()
    )
    assert found.is_feasible
    assert found.x[0] == 0.0


def test_an_infeasible_model_leaves_a_point_and_its_broken_rows():
    model = model_of([0, 0], [[2, 2]], [3], [3], upper=1, integrality=True)
    for strategy in LP_FREE:
        found = diver_of(model).dive(strategy, 0, Budget())
        assert not found.integers_feasible
        assert found.violated_rows == 1


def test_unbounded_integers_get_finite_values():
    model = model_of([1, 0], [[1, -1]], [3], [INF], lower=[-INF, 0], upper=INF, integrality=True)
    for strategy in LP_FREE:
        found = diver_of(model).dive(strategy, 1, Budget())
        assert np.isfinite(found.x).all()


def test_the_same_seed_gives_the_same_dive_whatever_came_before():
    model, x = random_model(12, continuous=0.3)
    once = diver_of(model, x)
    again = diver_of(model, x)
    for strategy in LP_FREE:
        again.dive(strategy, 9, Budget())
    for strategy in (*LP_FREE, *LP_GUIDED):
        first, second = (d.dive(strategy, 3, Budget()) for d in (once, again))
        np.testing.assert_array_equal(first.x, second.x)
        assert first.work == second.work


def test_a_spent_budget_ends_a_dive_with_a_point():
    n = 400
    rng = np.random.default_rng(0)
    matrix = (rng.random((300, n)) < 0.1).astype(float)
    model = model_of(np.ones(n), matrix, np.ones(300), INF, upper=1, integrality=True)
    budget = Budget(work=1)
    found = diver_of(model).dive(LP_FREE[1], 0, budget)
    assert not found.is_complete
    assert not found.integers_feasible
    assert found.work < 10 * model.num_nonzeros
    np.testing.assert_array_equal(found.x, np.round(found.x))


def test_work_is_charged_and_the_domain_left_alone():
    model, x = random_model(5)
    domain = Domain.of(model)
    domain.propagate()
    before = domain.box.bounds.copy()
    budget = Budget()
    found = dive(model, domain, LP_GUIDED[0], 0, budget, reference=x)
    assert found.work > 0
    assert budget.work == pytest.approx(found.work, abs=model.num_rows)
    np.testing.assert_array_equal(domain.box.bounds, before)


def test_guided_dives_follow_the_point():
    n = 30
    reference = np.tile([0.0, 1.0, 1.0], n // 3)
    model = model_of(np.zeros(n), np.ones((1, n)), -INF, [n], upper=1, integrality=True)
    for strategy in LP_GUIDED[:3]:
        found = diver_of(model, reference).dive(strategy, 0, Budget())
        np.testing.assert_array_equal(found.x, reference)
