"""Both search spaces of the walkers at once on a GPU, with what else runs there."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gpu_bridge
from solvers.core.device import find_device
from solvers.mip.heuristics.local_search.on_gpu import DeviceWalks
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.device_table import device_works
from tests.mip.context_of import context_of
from tests.mip.inference.aggregation.schedules import schedule

pytestmark = pytest.mark.gpu

SECONDS = 12.0
"""Enough for compiling what has not been compiled yet, with others at work."""

COLD_SECONDS = 40.0
"""Enough where one thread has to compile everything by itself: 12 s were not, on an H200."""


def on_gpu(context, lines):
    context.device = find_device("cuda")
    context.log = lines.append
    return context


def test_walkers_of_both_spaces_walk_side_by_side():
    model = schedule(0, jobs=40, periods=60)
    lines: list[str] = []
    context = on_gpu(context_of(model), lines)
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
    lines: list[str] = []
    context = on_gpu(context_of(model), lines)
    failures: list[BaseException] = []
    budget = Budget(seconds=SECONDS)

    def run(work):
        try:
            work(budget.part())
        except Exception as failure:
            failures.append(failure)

    works = device_works(context)
    assert len(works) == 3
    threads = [threading.Thread(target=run, args=(work,)) for work in works.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert not [line for line in lines if "failed" in line]
    points = context.acceptance.pool.points()
    assert points
    assert all(np.isfinite(point.x).all() for point in points)


def test_a_solve_with_one_thread_uses_the_device():
    model = schedule(2, jobs=40, periods=60)
    outcome = gpu_bridge.solve(
        model.problem, device="cuda", method="mip", threads=1, heuristics_only=True,
        time_limit=COLD_SECONDS,
    )  # fmt: skip
    assert "Local search made" in outcome.log, outcome.log
    assert outcome.x is not None
    assert is_feasible(model, np.round(outcome.x))
