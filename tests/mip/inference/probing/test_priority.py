from __future__ import annotations

import numpy as np

from solvers.mip.inference.probing import prioritised
from tests.mip.inference.probing.models import INF, model_of


def test_neighbours_puts_the_column_with_most_company_first():
    model = model_of([[1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1]], -INF, 1)
    assert prioritised(model)[0] == 1
    assert prioritised(model)[-1] == 0


def test_neighbours_counts_only_integers():
    whole = [True, True, False, False, False]
    model = model_of([[1, 1, 0, 0, 0], [0, 1, 1, 1, 1]], -INF, 1, integrality=whole)
    assert sorted(prioritised(model).tolist()) == [0, 1]


def test_fixed_columns_are_left_out_and_free_ones_come_last():
    model = model_of([[1, 1, 1]], -INF, 1, lower=[0, -INF, 1], upper=[1, INF, 1], integrality=True)
    assert prioritised(model).tolist() == [0, 1]


def test_equal_columns_are_shuffled_by_the_seed():
    model = model_of(np.ones((1, 50)), -INF, 1)
    orders = [prioritised(model, seed=seed).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == list(range(50))
