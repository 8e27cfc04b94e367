"""Heuristics on several GPUs, here emulated ones: each has searches of its own, all one pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.pipeline import engines, registry
from solvers.kernels.family import Family
from solvers.mip import presolve_stage
from solvers.mip.budget import Budget
from solvers.mip.heuristic_stage import _begin_on_devices
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.inference.relaxation import root_relaxation
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.heuristic import HeuristicContext
from tests.emulator.gpu import EmulatedGpu
from tests.mip.context_of import context_of, lines_of
from tests.mip.inference.aggregation.schedules import schedule

GPUS = tuple(EmulatedGpu("cuda", f"emulated {index}", 2**33, 2**33, index) for index in range(2))


@pytest.fixture(autouse=True)
def launches_run_on_the_host(monkeypatch):
    """Let kernels that are bound for many launches run their twins, too, in the twins' types."""
    layout_of = Layout.of

    def bind(family: Family, name: str, *values: Any) -> Callable[[], None]:
        return lambda: family[name](*values)

    monkeypatch.setattr(Family, "bind", bind)
    monkeypatch.setattr(Layout, "of", lambda model, wide: layout_of(model, wide=True))


def context_on_two(seed: int) -> HeuristicContext:
    context = context_of(schedule(seed, jobs=6, periods=8))
    context.device, context.further = GPUS[0], GPUS[1:]
    return context


def test_each_gpu_has_seeds_of_its_own_and_all_else_is_shared():
    first, second = context_on_two(0).on_each_device()
    assert (first.device, second.device) == GPUS
    assert first.seed_of("dives", 1) != second.seed_of("dives", 1)
    assert first.aggregated is second.aggregated
    assert first.acceptance is second.acceptance
    second.relaxation = root_relaxation(first.model, Budget())
    assert first.relaxation is second.relaxation


def test_every_gpu_is_at_work():
    context = context_on_two(1)
    _begin_on_devices(context, Budget(seconds=3.0))
    for thread in context.solve._threads:
        thread.join()
    lines = lines_of(context)
    assert not [line for line in lines if "failed" in line], lines
    assert sum(line.startswith("Local search made") for line in lines) >= 2, lines
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert is_feasible(context.model, np.round(best.x))


def test_a_solve_takes_all_that_are_named(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(presolve_stage, "find_devices", lambda wanted: asked.append(wanted) or GPUS)
    for module in (registry, engines):
        monkeypatch.setattr(module, "look_for", lambda wanted: GPUS[0])
    monkeypatch.setattr(engines, "expect", lambda device: None)
    monkeypatch.setattr("gpu_bridge.pipeline.dispatch._expect_gpu", lambda *_: None)
    monkeypatch.setattr("solvers.mip.proof_stage.SMALL_MIP", 0)  # no proof comes first
    problem = schedule(2, jobs=6, periods=8).problem
    best = gpu_bridge.solve(problem, device="cpu").objective
    outcome = gpu_bridge.solve(problem, method="mip", device="cuda:all", time_limit=60.0)
    assert outcome.objective == pytest.approx(best, rel=1e-4)
    assert asked == ["cuda:all"]
