from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.heuristic import (
    LEAST_EARNED,
    AggregatedLocalSearch,
    LocalSearch,
)
from solvers.mip.inference.aggregation import eliminate
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.heuristic import HeuristicContext
from solvers.mip.solutions.incumbents import Found
from tests.mip.context_of import Taking, context_of
from tests.mip.heuristics.large_neighbourhood.situations import packing
from tests.mip.inference.aggregation.schedules import schedule


def both_walks(context: HeuristicContext) -> tuple[Taking, Taking]:
    return Taking(LocalSearch, context), Taking(AggregatedLocalSearch, context)


def test_walks_without_implied_columns_bring_points_of_the_whole_model():
    model = schedule(0, jobs=20, periods=30)
    context = context_of(model)
    _, without = both_walks(context)
    without.run(Budget(work=2e7), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert is_feasible(model, best.x)
    assert without.prepared.earned > 0.0


def test_the_next_turn_goes_on_where_the_last_one_ended():
    context = context_of(schedule(0, jobs=20, periods=30))
    whole, _ = both_walks(context)
    for _ in range(3):
        whole.run(Budget(work=1e6), 0)
    ((_, one),) = whole.states
    assert one.counts.slices >= 3


def test_a_model_that_may_not_last_is_walked_on_as_it_is():
    context = context_of(schedule(0))
    context.solve.is_reducing = True
    whole, without = both_walks(context)
    assert whole.share() > 0.0 == without.share()
    assert context.aggregated is None
    context.solve.is_reducing = False
    assert without.share() > 0.0
    assert context.aggregated is not None
    without.run(Budget(work=1e6), 0)
    assert without.prepared.is_there


def test_what_is_aggregated_is_found_once_whoever_asks(monkeypatch):
    calls, both = [], threading.Barrier(2)

    def listen(model, budget):
        calls.append(budget)
        return eliminate(model, budget)

    monkeypatch.setattr("solvers.mip.inference.aggregation.eliminate", listen)
    context = context_of(schedule(0))
    context.solve.over.set()
    found = []

    def ask():
        both.wait(60.0)
        found.append(context.aggregated)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert len(calls) == 1
    assert found[0] is found[1]
    assert calls[0].is_over()  # nobody finds out what is wanted no more


def test_where_nothing_is_defined_the_second_walks_end_at_their_first_turn():
    context = context_of(packing())
    whole, without = both_walks(context)
    assert min(whole.share(), without.share()) > 0.0
    without.run(Budget(work=1e6), 0)
    assert without.share() == 0.0
    context.acceptance.submit(np.zeros(context.model.num_columns), "test")
    assert context.has_point
    assert whole.share() == pytest.approx(whole.row.after)


def test_with_a_point_the_common_share_goes_to_those_who_earned_it():
    model = schedule(0)
    context = context_of(model)
    whole, without = both_walks(context)
    context.acceptance.incumbents.pool.add(Found(np.zeros(model.num_columns), 1.0, 0.0, "test"))
    assert whole.share() == pytest.approx(without.share())
    without.prepared.earned = 1.0
    assert without.share() + whole.share() == pytest.approx(whole.row.after)
    assert without.share() / whole.share() == pytest.approx((1.0 + LEAST_EARNED) / LEAST_EARNED)
