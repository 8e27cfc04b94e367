"""The whole GPU's walker on a GPU: round by round as its twin, and in whole runs and solves."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_bridge
from solvers.core.device import Device, find_device
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search import run as run_module
from solvers.mip.heuristics.local_search.fleet import GridWideFleet, _blocks, plan_for
from solvers.mip.heuristics.local_search.grid_wide import GRID_KERNEL
from solvers.mip.heuristics.local_search.kernels.walk import NONE, Field
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.run import run_walkers
from solvers.mip.model import is_feasible
from tests.mip.heuristics.local_search.grid_wide.cases import (
    CASES,
    covering,
    huge_row,
    start_grid_wide,
)
from tests.mip.heuristics.local_search.grid_wide.test_emulated import WIDE_TEAMS, walk_both
from tests.mip.heuristics.local_search.test_run import Acceptance

pytestmark = pytest.mark.gpu

LAUNCHES = (0, 1, 2, 40, 160)


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


@pytest.fixture(scope="module")
def large():
    """A hundred thousand columns, a million entries, and a row over all columns."""
    return covering(100_000, 100_000, 10, most=16_000.0)


@pytest.mark.parametrize("name", CASES)
def test_the_device_walks_as_its_twin(gpu, name):
    layout, teams = Layout.of(CASES[name](), wide=True), WIDE_TEAMS.get(name, 5)
    twin = start_grid_wide(layout, teams)
    walk_both(twin, start_grid_wide(layout, teams, gpu, blocks=_blocks(gpu)), LAUNCHES)


def test_a_row_of_a_hundred_thousand_entries(gpu):
    layout = Layout.of(huge_row(), wide=True)
    twin = start_grid_wide(layout, 200)
    walk_both(twin, start_grid_wide(layout, 200, gpu, blocks=_blocks(gpu)), (1, 30))


def test_a_hundred_thousand_columns(gpu, large):
    layout = Layout.of(large, wide=True)
    twin = start_grid_wide(layout, 2048, share=0.05)
    walk_both(twin, start_grid_wide(layout, 2048, gpu, blocks=_blocks(gpu), share=0.05), (1, 25))


def test_short_numbers_walk_as_long_ones(gpu):
    model = covering(5000, 4000, 8)
    long, short = Layout.of(model, wide=True), Layout.of(model)
    assert (long.real, short.real) == ("float64", "float32")
    twin = start_grid_wide(long, 100)
    walk_both(twin, start_grid_wide(short, 100, gpu, blocks=_blocks(gpu)), (60,))


@pytest.mark.parametrize("blocks", [1, 7])
def test_the_number_of_blocks_makes_no_difference(gpu, blocks):
    layout = Layout.of(CASES["mixed"](), wide=True)
    twin = start_grid_wide(layout, 20)
    walk_both(twin, start_grid_wide(layout, 20, gpu, blocks=blocks), (100,))


def test_long_slices_end_and_what_they_keep_holds(gpu, large):
    """Ten thousand rounds and more, each with its barriers, in one launch."""
    layout = Layout.of(large)
    whole = start_grid_wide(layout, 2048, gpu, blocks=_blocks(gpu), share=0.0)
    whole.walk(10_000)
    assert whole.record[Field.STEP] == 10_000
    assert whole.record[Field.BEST] < NONE
    kept = large.rounded(whole.kept())
    assert is_feasible(large, kept)
    assert float(large.cost @ kept) == whole.record[Field.BEST]


def test_runs_take_the_walker_for_long_rows(gpu, large):
    acceptance, lines = Acceptance(large), []
    counts = run_walkers(
        large, gpu, acceptance, Budget(seconds=5.0), 1, pool=acceptance.pool, log=lines.append
    )
    assert plan_for(Layout.of(large), gpu).kernel == GRID_KERNEL
    assert counts.walkers == 1
    assert counts.moves > counts.steps
    assert acceptance.refused == 0
    assert len(acceptance.pool) >= 1
    assert "whole-GPU" in lines[0]


def test_untimed_runs_repeat_bit_by_bit(gpu, large):
    found = []
    for _ in range(2):
        acceptance = Acceptance(large)
        counts = run_walkers(large, gpu, acceptance, Budget(work=4e6), 1, pool=acceptance.pool)
        found.append((counts.moves, counts.visited, [tuple(p.x) for p in acceptance.pool.points()]))
    assert found[0] == found[1]


def test_a_full_memory_ends_the_run_without_an_error(gpu, large, monkeypatch):
    def full(layout, device, plan, seed):
        raise device.xp.cuda.memory.OutOfMemoryError(1, 1, 1)

    monkeypatch.setattr(run_module, "GridWideFleet", full)
    lines: list[str] = []
    acceptance = Acceptance(large)
    counts = run_walkers(large, gpu, acceptance, Budget(seconds=2.0), 1, log=lines.append)
    assert counts.walkers == 0
    assert "goes on without it" in lines[-1]


def test_a_solve_on_the_gpu_uses_it(large, monkeypatch):
    made = []

    class Watched(GridWideFleet):
        def __init__(self, layout, device, plan, seed):
            made.append(plan.kernel)
            super().__init__(layout, device, plan, seed)

    monkeypatch.setattr(run_module, "GridWideFleet", Watched)
    outcome = gpu_bridge.solve(
        large.problem,
        device="cuda",
        method="mip",
        heuristics_only=True,
        time_limit=150.0,  # loops may be compiled first; the first point after it has begun ends it
        on_solution=lambda _: bool(made),
    )
    assert made == [GRID_KERNEL], outcome.log
    assert outcome.x is not None
    assert is_feasible(large, np.round(outcome.x))
