"""The orders of columns and the rules of lanes that dives go by."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.diving.batched import (
    ORDERS,
    Root,
    good_directions,
    loose_directions,
    portfolio,
    reseeded,
)
from solvers.mip.heuristics.fix_and_propagate.strategy import Order
from solvers.mip.inference.cliques import find_cliques
from tests.cases import through
from tests.mip.inference.propagation.models import AWKWARD, INF, model_of, random_model


def root_of(model, reference=None, cliques=None):
    return Root(model, np.stack([model.lower, model.upper]), reference, cliques)


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


@through("name", [name for name in AWKWARD if AWKWARD[name]().num_columns < 1000])
@through("with_reference", [False, True])
def test_every_order_has_each_open_integer_once(name, with_reference):
    model = AWKWARD[name]()
    reference = np.full(model.num_columns, 0.4) if with_reference else None
    root = root_of(model, reference, find_cliques(model))
    expected = np.flatnonzero((model.is_integer == 1) & (model.lower < model.upper))
    blame = np.arange(model.num_columns)
    random = np.random.default_rng(1)
    for order in (
        *(root.order(one, seed) for one in (*ORDERS, Order.REFERENCE) for seed in (0, 5)),
        root.by_blame(blame, random),
    ):
        assert order.dtype == np.int32
        np.testing.assert_array_equal(np.sort(order), expected)


def test_locks_are_counted_by_sign_and_side():
    up, down = small().locks
    assert list(up) == [1, 1, 2, 1, 1, 1]
    assert list(down) == [0, 0, 0, 1, 2, 0]


def test_directions_follow_objective_and_locks():
    guide = root_of(small()).guide
    assert list(loose_directions(guide)) == [-1, -1, -1, -1, 1, -1]
    assert list(good_directions(guide)) == [-1, 1, -1, -1, -1, 1]


@pytest.mark.parametrize("with_reference", [False, True])
def test_portfolio_fills_all_lanes_with_different_ones(with_reference):
    model, _ = random_model(1, 3, 4)
    root = root_of(model, np.zeros(4) if with_reference else None)
    lanes = portfolio(root, np.random.default_rng(3))
    assert lanes.rule.shape == lanes.seed.shape == lanes.noise.shape == (32,)
    assert np.unique(lanes.seed).size == 32
    changed = reseeded(lanes, np.array([0, 5]), np.random.default_rng(4))
    assert set(np.flatnonzero(changed.seed != lanes.seed)) == {0, 5}
    assert (changed.noise[[0, 5]] >= 0.1).all()
