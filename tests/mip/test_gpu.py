"""Both search spaces of the walkers at once on a GPU, on several, and in whole solves."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gpu_bridge
from solvers.core.device import find_device
from solvers.mip.budget import Budget
from solvers.mip.heuristic_stage import _begin_on_devices
from solvers.mip.heuristics.local_search.gpu_heuristic import DeviceWalks
from solvers.mip.model import is_feasible
from tests.mip.context_of import context_of, lines_of
from tests.mip.inference.aggregation.schedules import schedule

pytestmark = pytest.mark.gpu

SECONDS = 12.0
"""Enough for compiling what has not been compiled yet, with others at work."""

COLD_SECONDS = 40.0
"""Enough where one thread has to compile everything by itself: 12 s were not, on an H200."""


def on_gpu(model):
    context = context_of(model)
    context.device = find_device("cuda")
    return context, lines_of(context)


def test_walkers_of_both_spaces_walk_side_by_side():
    model = schedule(0, jobs=40, periods=60)
    context, lines = on_gpu(model)
    walks = DeviceWalks(context)
    budget = Budget(seconds=SECONDS)
    runs = (walks.on_model, walks.on_aggregated)
    threads = [threading.Thread(target=run.work, args=(budget,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(line.startswith("Local search made") for line in lines) == 2, lines
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert is_feasible(model, best.x)


def test_everything_on_the_device_runs_to_the_end_of_its_time():
    model = schedule(1, jobs=40, periods=60)
    context, lines = on_gpu(model)
    _begin_on_devices(context, Budget(seconds=SECONDS))
    threads = context.solve._threads
    assert len(threads) == 2
    for thread in threads:
        thread.join()
    assert not [line for line in lines if "failed" in line]
    points = context.acceptance.pool.points()
    assert points
    assert all(np.isfinite(point.x).all() for point in points)


def test_what_several_devices_do_runs_twice_on_one():
    model = schedule(3, jobs=40, periods=60)
    context, lines = on_gpu(model)
    context.further = [context.device]
    _begin_on_devices(context, Budget(seconds=SECONDS))
    threads = context.solve._threads
    assert len(threads) == 4
    for thread in threads:
        thread.join()
    assert not [line for line in lines if "failed" in line]
    assert sum(line.startswith("Local search made") for line in lines) == 4, lines
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert is_feasible(model, best.x)


def test_a_solve_with_one_thread_uses_the_device():
    model = schedule(2, jobs=40, periods=60)
    outcome = gpu_bridge.solve(
        model.problem, device="cuda", method="mip", threads=1, heuristics_only=True,
        time_limit=COLD_SECONDS,
    )  # fmt: skip
    assert "Local search made" in outcome.log, outcome.log
    assert outcome.x is not None
    assert is_feasible(model, np.round(outcome.x))
