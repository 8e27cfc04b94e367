from __future__ import annotations

import numpy as np
import pytest

from solvers.core.progress import Progress
from solvers.mip.budget import Budget
from solvers.mip.heuristics.constructive import TRIVIAL, record_trivial, submit_trivial
from solvers.mip.model import MipModel
from solvers.mip.solutions.incumbents import IncumbentStore
from tests.mip.context_of import context_of
from tests.mip.solutions.polish.test_polisher import model_of


def switches():
    """Eight lines, of which five have to be closed for as much flow as is asked for."""
    n = 8
    matrix = np.hstack([-np.eye(n), np.eye(n)])
    total = np.concatenate([np.zeros(n), np.ones(n)])
    return model_of(
        np.concatenate([np.ones(n), np.zeros(n)]),
        np.vstack([matrix, total]),
        np.concatenate([np.full(n, -np.inf), [4.5]]),
        np.concatenate([np.zeros(n), [4.5]]),
        0.0,
        1.0,
        np.arange(2 * n) < n,
    )


def test_all_switches_closed_is_feasible_once_an_lp_has_set_the_flows():
    context = context_of(switches())
    submit_trivial(context.model, context.acceptance.submit, Budget())
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == TRIVIAL
    np.testing.assert_array_equal(best.x[:8], np.ones(8))


def test_each_point_has_every_integer_at_an_end():
    model = switches()
    got = []
    submit_trivial(model, lambda x, source: bool(got.append(x)), Budget())
    assert len(got) == 4
    for x in got:
        assert np.all((x == model.lower) | (x == model.upper))
    assert any(np.all(x == 1.0) for x in got)
    assert any(np.all(x == 0.0) for x in got)


def test_a_spent_budget_offers_nothing():
    got = []
    submit_trivial(switches(), lambda x, source: bool(got.append(x)), Budget(work=0.0))
    assert not got


def incumbents_of(model: MipModel) -> IncumbentStore:
    return IncumbentStore(model.problem, Progress(), 1e-6, 5)


@pytest.mark.parametrize(
    ("cost", "row_lower", "row_upper", "objective"),
    [
        ([1, 2, 3], 2, 99, 12),  # a covering: all of them
        ([-1, -2, -3], 0, 5, 0),  # a packing: none of them
        ([-1, 2, -3], 2, 5, -8),  # the ends that the objective wants
    ],
)
def test_whichever_end_is_feasible_is_recorded(cost, row_lower, row_upper, objective):
    model = model_of(cost, [[1, 1, 1]], [row_lower], [row_upper], 0, 2, True)
    incumbents = incumbents_of(model)
    record_trivial(incumbents, lambda: False)
    assert incumbents.pool.objective == objective
    assert incumbents.pool.best.source == TRIVIAL


def test_ends_that_violate_rows_are_noted_with_their_number():
    model = model_of(np.ones(3), [[1, 1, 1], [1, 0, 0]], [2, 0], [4, 1], 0, 2, True)
    incumbents = incumbents_of(model)
    record_trivial(incumbents, lambda: False)
    assert incumbents.pool.best is None
    found = [
        (point.x.sum(), point.violated_rows) for point in incumbents.infeasible_points.points()
    ]
    assert found == [(0, 1), (6, 2)]


def test_one_end_is_looked_at_even_when_time_is_up():
    model = model_of(np.ones(3), [[1, 1, 1]], [2], [4], 0, 2, True)
    incumbents = incumbents_of(model)
    record_trivial(incumbents, lambda: True)
    assert len(incumbents.infeasible_points) == 1


def test_infinite_bounds_give_way_to_finite_ones_or_zero():
    model = model_of(
        [-1, 1, 0], [[1, 1, 1]], [-9], [9], [0, -np.inf, -np.inf], [np.inf, 3, np.inf], True
    )
    incumbents = incumbents_of(model)
    record_trivial(incumbents, lambda: False)
    np.testing.assert_array_equal(incumbents.pool.best.x, [0, 3, 0])
