"""Points whose integers are right get continuous columns that fit, without regard to costs."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.completion import SOURCE, Completion
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.polish import Polished, Polisher, PolishStatus
from tests.mip.context_of import Taking, context_of
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of

ARCS = 6


def design():
    """Arcs to be built, of which just two are, and a flow of 3 over those that are built."""
    build, flow = np.eye(ARCS), np.eye(ARCS)
    rows = np.vstack(
        [
            np.hstack([-4.0 * build, flow]),  # flow only where an arc is built
            np.hstack([np.ones(ARCS), np.zeros(ARCS)]),
            np.hstack([np.zeros(ARCS), np.ones(ARCS)]),
        ]
    )
    low = np.concatenate([np.full(ARCS, -np.inf), [2.0, 3.0]])
    high = np.concatenate([np.zeros(ARCS), [2.0, 3.0]])
    cost = np.concatenate([np.arange(ARCS), np.ones(ARCS)])
    upper = np.concatenate([np.ones(ARCS), np.full(ARCS, 9.0)])
    return model_of(cost, rows, low, high, 0.0, upper, np.arange(2 * ARCS) < ARCS)


def point_with(*built):
    x = np.zeros(2 * ARCS)
    x[list(built)] = 1.0
    return x


def test_a_point_without_any_flow_is_completed_recorded_and_improved():
    context = context_of(design())
    turns = Taking(Completion, context)
    assert turns.share() > 0.0
    context.acceptance.infeasible_points(point_with(1, 4), 1)
    turns.run(Budget(), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == SOURCE
    np.testing.assert_array_equal(best.x[:ARCS], point_with(1, 4)[:ARCS])
    assert best.objective == pytest.approx(1.0 + 4.0 + 3.0)
    assert len(context.acceptance.pool) == 1
    assert turns.share() == 0.0


def test_the_first_point_is_recorded_before_its_best_values_are_known(monkeypatch):
    context = context_of(design())
    monkeypatch.setattr(context.acceptance, "submit", lambda x, source: False)
    context.acceptance.infeasible_points(point_with(0, 1), 1)
    Taking(Completion, context).run(Budget(), 0)
    assert len(context.acceptance.incumbents.pool) == len(context.acceptance.pool) == 1


def test_what_no_flow_can_mend_is_tried_once(monkeypatch):
    tried = []
    polish = Polisher.polish

    def watched(self, x, seconds=np.inf, *, explain=True):
        tried.append(x.copy())
        return polish(self, x, seconds, explain=explain)

    monkeypatch.setattr(Polisher, "polish", watched)
    context = context_of(design())
    turns = Taking(Completion, context)
    context.acceptance.infeasible_points(point_with(0, 1, 2), 2)
    turns.run(Budget(), 0)
    assert not len(context.acceptance.incumbents.pool)
    assert turns.share() == 0.0
    integers = [tuple(x[:ARCS]) for x in tried]
    assert len(set(integers)) == len(integers) == 3  # all built, nothing built, and that point
    again = point_with(0, 1, 2)
    again[-1] = 5.0  # the same integers
    context.acceptance.infeasible_points(again, 1)
    assert turns.share() == 0.0
    context.acceptance.infeasible_points(point_with(2, 3), 1)
    assert turns.share() > 0.0
    turns.run(Budget(), 0)
    assert {tuple(x[:ARCS]) for x in tried[3:]} == {tuple(point_with(2, 3)[:ARCS])}
    assert len(context.acceptance.incumbents.pool) == 1


def test_an_lp_out_of_time_is_tried_again_with_more(monkeypatch):
    given = []

    def out_of_time(self, x, seconds=np.inf, *, explain=True):
        given.append(seconds)
        return Polished(PolishStatus.LIMIT)

    monkeypatch.setattr(Polisher, "polish", out_of_time)
    context = context_of(design())
    turns = Taking(Completion, context)
    for _ in range(3):
        turns.run(Budget(seconds=0.5), 0)
        assert turns.share() > 0.0
    assert given == [2.0, 4.0, 8.0]


def test_pure_integer_models_have_nothing_to_complete():
    context = context_of(schedule(0))
    context.acceptance.infeasible_points(np.ones(context.model.num_columns), 1)
    assert Taking(Completion, context).share() == 0.0


def test_where_there_is_a_point_nothing_is_due():
    context = context_of(design())
    turns = Taking(Completion, context)
    context.acceptance.submit(point_with(2, 3), "test")
    assert context.has_point
    assert turns.share() == 0.0
