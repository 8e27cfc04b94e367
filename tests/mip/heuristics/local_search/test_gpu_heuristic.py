"""Walkers on both search spaces, run on the CPU as on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.gpu_heuristic import (
    LATEST,
    WALKERS_SHARE,
    DeviceWalks,
    well_aggregated_space,
)
from solvers.mip.heuristics.local_search.run import WalkerCounts
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.heuristic import HeuristicContext
from solvers.mip.solutions.incumbents import Found
from tests.mip.context_of import context_of
from tests.mip.heuristics.large_neighbourhood.situations import packing
from tests.mip.inference.aggregation.schedules import schedule


def walking(context: HeuristicContext) -> DeviceWalks:
    walks = DeviceWalks(context)
    walks.on_model.is_walking = walks.on_aggregated.is_walking = True
    return walks


def give_point(context: HeuristicContext) -> None:
    context.acceptance.incumbents.pool.add(
        Found(np.zeros(context.model.num_columns), 1.0, 0.0, "test")
    )


def test_walkers_without_implied_columns_bring_points_of_the_whole_model():
    model = schedule(0, jobs=20, periods=30)
    context = context_of(model)
    walks = DeviceWalks(context)
    walks.on_aggregated.work(Budget(work=2e7))
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == "local search on the GPU"
    assert is_feasible(model, best.x)
    assert not walks.on_aggregated.is_walking


def test_walkers_are_shown_what_others_have_found_in_their_own_columns(monkeypatch):
    context = context_of(schedule(0))
    context.acceptance.infeasible_points.add(np.arange(context.model.num_columns, dtype=float), 3)
    shown = []

    def look(model, *_, infeasible_points, **__):
        infeasible_points.add(np.zeros(model.num_columns), 5)
        assert len(infeasible_points) == len(infeasible_points.points())
        shown.append((model.num_columns, infeasible_points.points()))
        return WalkerCounts()

    monkeypatch.setattr("solvers.mip.heuristics.local_search.run.run_walkers", look)
    walks = DeviceWalks(context)
    walks.on_model.work(Budget(work=1.0))
    walks.on_aggregated.work(Budget(work=1.0))
    (whole, on_model), (part, without) = shown
    sub = context.aggregated
    assert sub is not None
    assert (whole, part) == (context.model.num_columns, sub.model.num_columns)
    assert part < whole
    assert np.array_equal(on_model[0].x, np.arange(whole))
    assert without[0].violated_rows == 3
    assert np.array_equal(without[0].x, sub.kept)
    assert walks.on_aggregated.fewest_violated == 5
    assert (
        len(context.acceptance.infeasible_points) > 1
    )  # a point of the smaller model came back as a whole one


def test_where_few_columns_are_defined_walkers_are_on_the_model_only():
    context = context_of(packing())
    assert well_aggregated_space(context) is None
    walks = DeviceWalks(context)
    walks.on_aggregated.work(Budget(work=1e6))
    assert walks.on_aggregated.fewest_violated == float("inf")
    walks.on_model.is_walking = True
    assert walks.share_of(walks.on_model) == pytest.approx(WALKERS_SHARE)


def test_without_a_point_the_share_follows_what_is_violated():
    walks = walking(context_of(schedule(0)))
    shares = [walks.share_of(one) for one in (walks.on_model, walks.on_aggregated)]
    assert shares == pytest.approx([WALKERS_SHARE / 2] * 2)
    walks.on_model.fewest_violated = 1.0
    shares = [walks.share_of(one) for one in (walks.on_model, walks.on_aggregated)]
    assert shares == pytest.approx([WALKERS_SHARE / 2] * 2)  # the other has shown nothing yet
    walks.on_aggregated.fewest_violated = 7.0
    shares = [walks.share_of(one) for one in (walks.on_model, walks.on_aggregated)]
    assert shares == pytest.approx([0.8 * WALKERS_SHARE, 0.2 * WALKERS_SHARE])


def test_with_a_point_the_share_follows_the_latest_improvements():
    context = context_of(schedule(0))
    walks = walking(context)
    give_point(context)
    assert walks.share_of(walks.on_model) == pytest.approx(WALKERS_SHARE / 2)
    for _ in range(2 * LATEST):
        walks.note_improvement(walks.on_aggregated)
    part = 1.0 / (LATEST + 2)
    assert walks.share_of(walks.on_model) == pytest.approx(part * WALKERS_SHARE)
    assert walks.share_of(walks.on_aggregated) == pytest.approx((1.0 - part) * WALKERS_SHARE)
    for _ in range(LATEST):
        walks.note_improvement(walks.on_model)
    assert walks.share_of(walks.on_aggregated) == pytest.approx(part * WALKERS_SHARE)


def test_a_run_that_has_ended_leaves_its_share_to_the_other():
    walks = walking(context_of(schedule(0)))
    walks.on_aggregated.is_walking = False
    assert walks.share_of(walks.on_model) == pytest.approx(WALKERS_SHARE)


def test_a_failing_run_leaves_its_share_to_the_other(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no memory")

    monkeypatch.setattr("solvers.mip.heuristics.local_search.run.run_walkers", fail)
    walks = DeviceWalks(context_of(schedule(0)))
    with pytest.raises(RuntimeError, match="no memory"):
        walks.on_model.work(Budget(work=1.0))
    assert not walks.on_model.is_walking
