"""The order in which fractional columns are decided."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.diving.rules import RULES, Ranking, Rule, fractional_columns
from tests.mip.inference.domain.models import INF, model_of


def covering():
    """Column 0 stands in three rows that want it up, column 1 in one that wants it down."""
    matrix = [[1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 1]]
    low = [1, 1, 1, -INF]
    high = [INF, INF, INF, 1]
    return model_of(
        [4.0, 1.0, 0.0], matrix, low, high, lower=0.0, upper=[1, 1, 5], integrality=[1, 1, 0]
    )


def test_only_integer_columns_that_are_not_whole_are_fractional():
    model = covering()
    assert fractional_columns(model, np.array([0.4, 1.0 - 1e-9, 2.5])).tolist() == [0]
    assert fractional_columns(model, np.array([1.0, 1e-4, 0.5])).tolist() == [1]


@pytest.mark.parametrize(
    ("rule", "columns", "goes_up"),
    [
        (Rule.UPWARD, [1, 0], [True, True]),
        (Rule.LOCKS, [0, 1], [True, True]),  # 1 could break one row either way
        (Rule.LENGTH, [1, 0], [True, True]),  # (1 + 1) 0.3 / 3 is below (4 + 1) 0.6 / 4
        (Rule.NEAREST, [1, 0], [True, False]),
    ],
)
def test_each_rule_has_its_order_and_direction(rule, columns, goes_up):
    model = covering()
    x = np.array([0.4, 0.7, 0.0])
    found = Ranking(model).order(rule, x, np.array([0, 1], dtype=np.int32), model.cost, np.zeros(2))
    assert found.columns.tolist() == columns
    assert found.goes_up.tolist() == goes_up


def test_what_failed_most_comes_first():
    model, columns = covering(), np.array([0, 1], dtype=np.int32)
    x = np.array([0.4, 0.7, 0.0])
    found = Ranking(model).order(Rule.UPWARD, x, columns, model.cost, np.array([2.0, 1.0]))
    assert found.columns.tolist() == [0, 1]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_orders_all_columns(rule):
    rng = np.random.default_rng(3)
    matrix = rng.integers(-3, 4, (6, 9))
    model = model_of(rng.integers(-5, 6, 9), matrix, -3.0, INF, lower=0, upper=9, integrality=True)
    x = 9.0 * rng.random(9)
    columns = fractional_columns(model, x)
    found = Ranking(model).order(rule, x, columns, np.zeros(9), np.zeros(columns.size))
    assert sorted(found.columns.tolist()) == columns.tolist()
    assert found.goes_up.size == columns.size
