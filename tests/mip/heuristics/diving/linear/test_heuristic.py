"""Linear dives as the schedule sees them: due while there is no point, closed afterwards."""

from __future__ import annotations

import threading

import numpy as np

from solvers.mip.budget import Budget
from solvers.mip.heuristics.diving.heuristic import LinearDive
from solvers.mip.inference.relaxation import root_relaxation
from tests.mip.context_of import Taking, context_of
from tests.mip.heuristics.diving.linear.test_dive import magic_rows
from tests.mip.inference.domain.models import INF, model_of


def test_they_are_due_until_there_is_a_point():
    context = context_of(magic_rows(0))
    turns = Taking(LinearDive, context)
    assert turns.share() > 0.0
    turns.run(Budget(work=1e8), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == "linear dive"
    assert turns.share() == 0.0


def test_they_are_due_less_once_the_first_were_in_vain():
    even = 2.0 * np.arange(1, 13)  # an even sum is to be odd
    model = model_of(np.ones(12), [even], 77.0, 77.0, lower=0.0, upper=1.0, integrality=True)
    turns = Taking(LinearDive, context_of(model))
    turns.run(Budget(work=1e6), 0)
    first = turns.share()
    for _ in range(50):
        turns.run(Budget(work=2e6), 0)
    assert 0.0 < turns.share() < first


def test_models_with_continuous_columns_leave_them_more():
    mixed = model_of([1, -1], [[2, -1]], 0.5, INF, lower=0.0, upper=[3.0, 4.0], integrality=[1, 0])
    pure = Taking(LinearDive, context_of(magic_rows(0)))
    assert Taking(LinearDive, context_of(mixed)).share() > pure.share()


def test_the_relaxation_that_is_known_is_where_they_begin():
    context = context_of(magic_rows(3))
    context.relaxation = root_relaxation(context.model, Budget(work=1e9))
    assert context.relaxation.basis is not None
    Taking(LinearDive, context).run(Budget(work=1e8), 0)
    assert context.has_point


def test_the_first_point_is_recorded_before_its_best_values_are_known(monkeypatch):
    model = model_of(
        [1.0, -1.0], [[2.0, -1.0]], [0.5], [INF], lower=0.0, upper=[3.0, 4.0], integrality=[1, 0]
    )
    context = context_of(model)
    monkeypatch.setattr(context.acceptance, "submit", lambda x, source: False)
    Taking(LinearDive, context).run(Budget(work=1e7), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == "linear dive"


def test_models_without_integers_are_left_alone():
    model = model_of([1.0], [[1.0]], [0.0], [INF], lower=0.0, upper=1.0, integrality=False)
    turns = Taking(LinearDive, context_of(model))
    assert turns.share() == 0.0
    assert "no integer columns" in turns.reason


def test_a_search_that_has_nothing_to_try_is_over():
    model = model_of(
        [1, 1, 1],
        [[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]],
        [1, 1, 1, -INF],
        [INF, INF, INF, 1.25],
        lower=0,
        upper=1,
        integrality=[1, 0, 0],
    )
    turns = Taking(LinearDive, context_of(model))
    turns.run(Budget(work=1e7), 0)
    assert turns.share() == 0.0


def test_turns_side_by_side_have_a_search_each():
    context = context_of(magic_rows(5, size=24, rows=4))
    turns = Taking(LinearDive, context)
    threads = [threading.Thread(target=lambda: turns.run(Budget(work=2e8), 0)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert context.has_point
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    np.testing.assert_array_equal(best.x, np.round(best.x))
