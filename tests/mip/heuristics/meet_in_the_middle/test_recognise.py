from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.mip.heuristics.meet_in_the_middle.sums import (
    cheapest_deviations,
    find_sums,
    slack_values,
)
from solvers.mip.model import MipModel
from tests.mip.heuristics.meet_in_the_middle.models import market_split


def test_a_market_split_is_taken_apart():
    model = market_split(0, 3, 8)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    np.testing.assert_array_equal(sums.columns, np.arange(8))
    np.testing.assert_array_equal(sums.matrix, model.problem.matrix.toarray()[:, :8])
    np.testing.assert_array_equal(sums.side, model.row_lower)
    assert [(one.column, one.row, one.step, one.price) for one in sums.slacks] == [
        (8, 0, 1, 1.0),
        (9, 1, 1, 2.0),
        (10, 2, 1, 1.0),
    ]


def test_bounds_that_are_not_zero_move_the_sides():
    model = market_split(0, 3, 8)
    lower = model.lower.copy()
    lower[2] = lower[9] = 1.0
    sums = find_sums(model, lower, model.upper)
    assert sums is not None
    assert 2 not in sums.columns
    moved = model.problem.matrix.toarray() @ lower
    np.testing.assert_array_equal(sums.side, model.row_lower - moved)
    assert sums.offset == 2.0


def _with(model: MipModel, **changes: np.ndarray) -> MipModel:
    return replace(model, **changes)


@pytest.mark.parametrize("kind", ["inequality", "fraction", "cost", "continuous", "unbounded"])
def test_other_models_are_left_alone(kind):
    model = market_split(0, 3, 8)
    row_upper, value, cost = model.row_upper.copy(), model.rows.data.copy(), model.cost.copy()
    whole, upper = model.is_integer.copy(), model.upper.copy()
    if kind == "inequality":
        row_upper[0] += 1.0
    elif kind == "fraction":
        value[0] += 0.5
    elif kind == "cost":
        cost[0] = 1.0
    elif kind == "continuous":
        whole[0] = 0
    else:
        upper[0] = np.inf
    rows = replace(model.rows, data=value)
    other = _with(model, row_upper=row_upper, rows=rows, cost=cost, is_integer=whole, upper=upper)
    assert find_sums(other, other.lower, other.upper) is None


def test_deviations_come_cheapest_first_and_each_once():
    model = market_split(0, 3, 8, both_ways=True)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    found = cheapest_deviations(sums, 4.0, 10_000)
    assert found.is_complete
    assert np.all(np.diff(found.cost) >= 0.0)
    # one way costs 1, 2, 1 and the other 2, 1, 2 for a unit of the three sums
    reach = range(-4, 5)
    price = {1: (1.0, 2.0, 1.0), -1: (2.0, 1.0, 2.0)}
    expected = set()
    for a in reach:
        for b in reach:
            for c in reach:
                parts = zip((a, b, c), price[1], price[-1], strict=True)
                if sum(u * one if u > 0 else -u * other for u, one, other in parts) < 4.0:
                    expected.add((a, b, c))
    assert {tuple(one) for one in found.amounts.tolist()} == expected
    assert len(found.amounts) == len(expected)


def test_deviations_are_cut_off_at_a_number():
    model = market_split(0, 3, 8)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    found = cheapest_deviations(sums, np.inf, 10)
    assert found.cost.size == 10
    assert not found.is_complete
    assert found.count_below(2.0) == int(np.count_nonzero(found.cost < 2.0))


def test_slacks_make_up_for_a_deviation():
    model = market_split(0, 3, 8, both_ways=True)
    sums = find_sums(model, model.lower, model.upper)
    assert sums is not None
    values = slack_values(sums, np.array([2, -3, 0]))
    assert {column: units for column, units in values.items() if units} == {8: 2.0, 12: 3.0}
