"""Any point at all, by branch and bound with a zero objective, and when it is searched for."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.mip import heuristic_stage
from solvers.mip.budget import Budget
from solvers.mip.heuristics import zero_objective
from solvers.mip.heuristics.zero_objective import SOURCE, ZeroObjective, search_zero_objective
from solvers.mip.portfolio.heuristic import Declined, HeuristicContext, Needs
from solvers.mip.portfolio.participant import Participant, line_up
from solvers.mip.submip import SubMipResult, SubMipStatus
from solvers.mip.table import TABLE, Place
from tests.mip.context_of import context_of
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of


def continuous():
    return model_of([1.0], [[1.0]], [0.5], [2.0], 0.0, 1.0, False)


@pytest.mark.parametrize("number", [0, 1])
def test_a_point_is_found_recorded_and_charged(number):
    context, budget = context_of(schedule(1)), Budget()
    result = search_zero_objective(context, budget, number)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == SOURCE
    assert result.status is not SubMipStatus.FAILED
    assert budget.work >= result.work > 0.0


def test_what_is_minimised_is_not_what_the_model_asks_for(monkeypatch):
    asked = []

    def listen(model, sub, *rest, **more):
        asked.append(sub.cost)
        return SubMipResult(SubMipStatus.LIMIT)

    monkeypatch.setattr("solvers.mip.heuristics.zero_objective.solve_submip", listen)
    with_costs, without = context_of(schedule(1)), context_of(schedule(1, cost=False))
    for number in (0, 1, 2):
        search_zero_objective(with_costs, Budget(), number)
    search_zero_objective(without, Budget())
    first, second, third, of_feasibility = asked
    assert not first.any()
    assert second.any()
    assert not np.array_equal(second, third)
    assert of_feasibility.any()  # with nothing to minimise, the prover does the same already


def test_nobody_searches_once_there_is_a_point():
    context = context_of(schedule(1))
    search_zero_objective(context, Budget())
    found = context.acceptance.incumbents.pool.version
    result = search_zero_objective(context, Budget())
    assert result.x is None
    assert context.acceptance.incumbents.pool.version == found


def test_a_model_without_points_yields_none():
    context = context_of(model_of([1.0], [[2.0]], [1.0], [3.0], 0.0, 1.0, True))
    context.acceptance.infeasible_points.add(np.array([1.0]), 0)
    assert search_zero_objective(context, Budget()).x is not None
    nothing = context_of(model_of([0.0] * 3, [[2.0, 2.0, 2.0]], [2.9], [3.1], 0.0, 1.0, True))
    assert search_zero_objective(nothing, Budget()).status is SubMipStatus.INFEASIBLE
    assert not nothing.has_point


def zero_objectives(context: HeuristicContext, place: Place, seconds: float = 10.0):
    return line_up([row for row in TABLE if row.place is place], context, [place], seconds)


@pytest.mark.parametrize("place", [Place.TURN_BY_CLOCK, Place.THREAD])
def test_models_without_integers_or_with_too_many_entries_are_left_alone(place):
    assert zero_objectives(context_of(schedule(1)), place)
    assert not zero_objectives(context_of(continuous()), place)
    few = Needs(integers=True, most_entries=3)
    with pytest.raises(Declined, match="more than 3 entries"):
        Participant(ZeroObjective(needs=few), context_of(schedule(1)))


@pytest.mark.parametrize(("cores", "expected"), [(2, 1), (16, 2)])
def test_threads_begin_by_themselves_and_find_a_point(monkeypatch, cores, expected):
    monkeypatch.setattr(zero_objective, "BEFORE_OTHERS", 0.0)
    context = context_of(schedule(1), threads=cores, time_limit=100.0)
    began, both = [], threading.Barrier(expected)
    search = zero_objective.search_zero_objective

    def listen(context, budget, number):
        began.append(number)
        both.wait(60.0)
        return search(context, budget, number)

    monkeypatch.setattr(zero_objective, "search_zero_objective", listen)
    begin_threads(context)
    assert sorted(began) == list(range(expected))
    assert context.has_point


def begin_threads(context: HeuristicContext, budget: Budget | None = None) -> None:
    """Let the threads run to their ends."""
    heuristic_stage._begin_threads(context, Place.THREAD, budget or Budget())
    for thread in context.solve._threads:
        thread.join(60.0)
        assert not thread.is_alive()


def test_threads_wait_for_the_smaller_model(monkeypatch):
    looks: list[bool] = []
    context = context_of(schedule(1), threads=2, time_limit=100.0)

    def is_temporary(self):
        looks.append(context.has_point)
        return len(looks) < 3

    monkeypatch.setattr(zero_objective, "BEFORE_OTHERS", 0.0)
    monkeypatch.setattr(HeuristicContext, "is_temporary", property(is_temporary))
    begin_threads(context)
    assert looks == [False, False, False]
    assert context.has_point


def test_threads_do_not_begin_where_there_is_a_point_or_it_is_over(monkeypatch):
    began = []
    monkeypatch.setattr(zero_objective, "search_zero_objective", lambda *which: began.append(which))
    context = context_of(schedule(1), threads=2, time_limit=100.0)
    begin_threads(context, Budget(stop=lambda: True))
    search_zero_objective(context, Budget())
    begin_threads(context)
    assert not began


def test_among_turns_it_has_one_while_there_is_no_point():
    context = context_of(schedule(1))
    (turn,) = zero_objectives(context, Place.TURN_BY_CLOCK)
    assert turn.once
    assert turn.longest == pytest.approx(3.0)
    assert turn.share() > 0.0
    turn.work(Budget(), 0)
    assert context.has_point
    assert turn.share() == 0.0
