from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.fix_and_propagate.strategy import Order, guide_of, order_columns
from tests.mip.inference.domain.models import INF, model_of


def small_model():
    """Return six binaries, a wide integer and a continuous column."""
    matrix = [
        [1, 0, 1, 0, 1, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, -1, 0],
    ]
    return model_of(
        [5, 0, 0, -7, 0, 0, 1, 0],
        matrix,
        [-INF, -INF, 1, -INF],
        [1, 1, 9, 0],
        upper=[1, 1, 1, 1, 1, 1, 9, 9],
        integrality=[True] * 7 + [False],
    )


def ordered(order, seed=0, reference=None):
    model = small_model()
    bounds = np.stack([model.lower, model.upper])
    bounds[:, 5] = 1.0
    guide = guide_of(model, reference)
    return list(order_columns(model, bounds, order, guide, seed))


@pytest.mark.parametrize("order", Order)
def test_every_open_integer_comes_once_for_any_seed(order):
    for seed in range(4):
        assert sorted(ordered(order, seed)) == [0, 1, 2, 3, 4, 6]
        assert ordered(order, seed) == ordered(order, seed)
    assert len({tuple(ordered(order, seed)) for seed in range(8)}) > 1


def test_orders_by_hand():
    assert ordered(Order.LEFT_TO_RIGHT) == [0, 1, 2, 3, 4, 6]
    assert ordered(Order.LOCKS)[0] == 6
    assert ordered(Order.TYPE)[-1] == 6
    reference = np.array([0.5, 0.1, 0.0, 0.4, 0.2, 0, 3, 0])
    assert ordered(Order.REFERENCE, reference=reference) == [2, 1, 4, 3, 0, 6]


def test_locks_count_the_rows_in_the_way():
    guide = guide_of(small_model(), None)
    np.testing.assert_array_equal(guide.up_locks, [1, 1, 1, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(guide.down_locks, [0, 0, 0, 0, 0, 1, 2, 1])
