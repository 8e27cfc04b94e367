"""Any point at all, by branch and bound without costs, and when it is searched for."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.mip.context import SolveContext
from solvers.mip.heuristics.zero_objective import (
    SOURCE,
    begin_lanes,
    in_turn,
    lanes,
    search_zero_objective,
    suits,
)
from solvers.mip.heuristics.zero_objective.lanes import SHARE
from solvers.mip.portfolio.budget import Budget
from solvers.mip.submip import SubMipStatus, runner
from tests.mip.context_of import context_of
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of


def continuous():
    return model_of([1.0], [[1.0]], [0.5], [2.0], 0.0, 1.0, False)


def solve_context_of(context, time_limit: float, cores: int = 2) -> SolveContext:
    options = EngineOptions(threads=cores)
    return SolveContext(context.model.problem, options, Progress(time_limit), None)


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
        return runner.SubMipResult(SubMipStatus.LIMIT)

    monkeypatch.setattr("solvers.mip.heuristics.zero_objective.first_point.solve_submip", listen)
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
    context.acceptance.infeasible_points(np.array([1.0]), 0)
    assert search_zero_objective(context, Budget()).x is not None
    nothing = context_of(model_of([0.0] * 3, [[2.0, 2.0, 2.0]], [2.9], [3.1], 0.0, 1.0, True))
    assert search_zero_objective(nothing, Budget()).status is SubMipStatus.INFEASIBLE
    assert not nothing.has_point


def test_models_without_integers_or_with_too_many_entries_are_left_alone(monkeypatch):
    assert suits(schedule(1))
    assert not suits(continuous())
    monkeypatch.setattr("solvers.mip.heuristics.zero_objective.first_point.MOST_ENTRIES", 3)
    assert not suits(schedule(1))
    assert in_turn(context_of(schedule(1))) == []


@pytest.mark.parametrize(("cores", "expected"), [(2, 1), (16, 2)])
def test_lanes_begin_by_themselves_and_find_a_point(monkeypatch, cores, expected):
    monkeypatch.setattr(lanes, "LONGEST_DELAY", 0.0)
    context = context_of(schedule(1))
    solve = solve_context_of(context, 100.0, cores)
    began, both = [], threading.Barrier(expected)
    search = lanes.search_zero_objective

    def listen(context, budget, number):
        began.append(number)
        both.wait(60.0)
        return search(context, budget, number)

    monkeypatch.setattr(lanes, "search_zero_objective", listen)
    begin_lanes(solve, context, Budget())
    for thread in solve._threads:
        thread.join(60.0)
    assert sorted(began) == list(range(expected))
    assert context.has_point


def test_lanes_wait_for_the_smaller_model(monkeypatch):
    looks: list[bool] = []
    context = context_of(schedule(1))

    class Reducing(SolveContext):
        @property
        def is_reducing(self) -> bool:
            looks.append(context.has_point)
            return len(looks) < 3

        @is_reducing.setter
        def is_reducing(self, value: bool) -> None:
            pass

    monkeypatch.setattr(lanes, "LONGEST_DELAY", 0.0)
    solve = Reducing(context.model.problem, EngineOptions(threads=2), Progress(100.0), None)
    begin_lanes(solve, context, Budget())
    for thread in solve._threads:
        thread.join(60.0)
    assert looks == [False, False, False]
    assert context.has_point


def test_lanes_do_not_begin_where_there_is_a_point_or_it_is_over(monkeypatch):
    began = []
    monkeypatch.setattr(lanes, "search_zero_objective", lambda *which: began.append(which))
    context = context_of(schedule(1))
    over = solve_context_of(context, 100.0)
    begin_lanes(over, context, Budget(stop=lambda: True))
    search_zero_objective(context, Budget())
    found = solve_context_of(context, 100.0)
    begin_lanes(found, context, Budget())
    for thread in [*over._threads, *found._threads]:
        thread.join(60.0)
        assert not thread.is_alive()
    assert not began


def test_among_turns_it_has_one_while_there_is_no_point():
    context = context_of(schedule(1))
    (by_work,), (by_time,) = in_turn(context), in_turn(context, 10.0)
    assert by_work.once
    assert by_time.longest == by_time.shortest == pytest.approx(3.0)
    assert by_work.share() == SHARE
    by_work.work(Budget(), 0)
    assert context.has_point
    assert by_work.share() == by_time.share() == 0.0


def test_where_work_is_counted_large_models_are_left_out(monkeypatch):
    monkeypatch.setattr(lanes, "MOST_ENTRIES_BY_WORK", 3)
    context = context_of(schedule(1))
    assert in_turn(context) == []
    assert len(in_turn(context, 10.0)) == 1
