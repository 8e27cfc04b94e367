"""The orders of columns and the rules of lanes that dives go by."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.diving.batched import (
    good_directions,
    loose_directions,
    portfolio,
    reseeded,
)
from solvers.mip.heuristics.diving.orders import (
    Guide,
    orders,
    slack_consumption,
)
from solvers.mip.inference.cliques import find_cliques
from tests.mip.inference.propagation.models import AWKWARD, INF, model_of, random_model


def guide_of(model, reference=None, cliques=None):
    return Guide.of(model, model.lower, model.upper, reference, cliques)


def small():
    """Two cliques of 3 and 2 binaries, and a general integer."""
    matrix = [[1.0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 1, 0, -1, 2]]
    return model_of(
        matrix,
        [-INF, 1.0, -INF],
        [1.0, 1.0, 6.0],
        0.0,
        [1, 1, 1, 1, 1, 9],
        cost=[3.0, -1.0, 2.0, 0.0, 1.0, -5.0],
    )


@pytest.mark.parametrize("name", [name for name in AWKWARD if AWKWARD[name]().num_columns < 1000])
@pytest.mark.parametrize("with_reference", [False, True])
def test_every_order_has_each_open_integer_once(name, with_reference):
    model = AWKWARD[name]()
    reference = np.full(model.num_columns, 0.4) if with_reference else None
    guide = guide_of(model, reference, find_cliques(model))
    expected = np.flatnonzero((model.is_integer == 1) & (model.lower < model.upper))
    for _, order in orders(guide, np.random.default_rng(1)):
        assert order.dtype == np.int32
        np.testing.assert_array_equal(np.sort(order), expected)


def test_orders_sort_by_what_they_are_named_after():
    model = small()
    reference = np.array([0.0, 0.5, 1.0, 0.9, 0.0, 4.0])
    cliques = find_cliques(model)
    found = dict(orders(guide_of(model, None, cliques), np.random.default_rng(0)))
    assert list(found["type"]) == [0, 1, 2, 3, 4, 5]
    assert list(found["objective"]) == [0, 2, 1, 4, 3, 5]
    assert set(found["locks"][:3]) == {2, 3, 4}, "two locks each"
    assert list(found["cliques"][:3]) == [1, 2, 0], "the clique of three, best objective first"
    guided = dict(orders(guide_of(model, reference, cliques), np.random.default_rng(0)))
    assert list(guided["reference"][-2:]) == [1, 5], "the most fractional binary, then others"
    assert list(guided["cliques"][:3]) == [2, 1, 0]


def test_locks_are_counted_by_sign_and_side():
    up, down = small().locks
    assert list(up) == [1, 1, 2, 1, 1, 1]
    assert list(down) == [0, 0, 0, 1, 2, 0]


def test_slack_consumption_is_that_of_the_paper():
    model = model_of([[2.0, 1.0, 0.0], [0.0, 4.0, 0.0]], -INF, [4.0, 3.0], 0.0, 1.0)
    found = slack_consumption(guide_of(model))
    np.testing.assert_allclose(found, [0.5, np.hypot(1 / 4, 4 / 3), 0.0])


def test_slack_of_unbounded_rows_counts_nothing():
    model = AWKWARD["free columns"]()
    assert (slack_consumption(guide_of(model)) == 0.0).all()


def test_directions_follow_objective_and_locks():
    guide = guide_of(small())
    assert list(loose_directions(guide)) == [-1, -1, -1, -1, 1, -1]
    assert list(good_directions(guide)) == [-1, 1, -1, -1, -1, 1]


@pytest.mark.parametrize("with_reference", [False, True])
def test_portfolio_fills_all_lanes_with_different_ones(with_reference):
    model, _ = random_model(1, 3, 4)
    guide = guide_of(model, np.zeros(4) if with_reference else None)
    lanes = portfolio(guide, np.random.default_rng(3))
    assert lanes.rule.shape == lanes.seed.shape == lanes.noise.shape == (32,)
    assert np.unique(lanes.seed).size == 32
    changed = reseeded(lanes, np.array([0, 5]), np.random.default_rng(4))
    assert set(np.flatnonzero(changed.seed != lanes.seed)) == {0, 5}
    assert (changed.noise[[0, 5]] >= 0.1).all()
