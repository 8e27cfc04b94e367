"""Which models get this walker, what it needs, and whole runs of it on the CPU."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from solvers.core.device import Device, cpu
from solvers.mip.budget import LARGE_MODEL, Budget
from solvers.mip.heuristics.local_search import run as run_module
from solvers.mip.heuristics.local_search.fleet import GridWideFleet, Plan, plan_for
from solvers.mip.heuristics.local_search.grid_wide import (
    GRID_KERNEL,
    LONG_LINE,
    TEAMS,
    chunks_of,
    grid_bytes,
    make_grid_wide,
    suits_grid,
    tree_nodes,
)
from solvers.mip.heuristics.local_search.kernels.grid_walk import CHUNK
from solvers.mip.heuristics.local_search.kernels.walk import NONE, Field
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.run import run_walkers
from solvers.mip.model import is_feasible
from solvers.mip.solutions.incumbents import InfeasiblePoints
from tests.mip.heuristics.local_search.cases import model_of
from tests.mip.heuristics.local_search.grid_wide.cases import CASES
from tests.mip.heuristics.local_search.test_run import Acceptance, optimum

GPU = Device("cuda", "pretended", memory_total=8 << 30, memory_free=8 << 30)
SMALL = Layout.of(CASES["covering"](), wide=True)
MANY = 1_000_000


def layout_with(columns: int, longest: int, entries: int) -> Layout:
    """Return a layout that pretends to have such sizes."""
    starts = np.linspace(longest, entries, 50).astype(np.int32)
    rows = replace(SMALL.by_row, indptr=np.r_[0, starts], data=np.zeros(entries, np.int8))
    return replace(SMALL, by_row=rows, order=np.zeros(columns, np.int8), rows=columns)


@pytest.mark.parametrize(
    ("columns", "longest", "entries", "suits"),
    [
        (1000, 300, 2000, False),
        (MANY, 300, 2000, True),
        (100_000, LONG_LINE, LARGE_MODEL, True),
        (100_000, LONG_LINE, LARGE_MODEL // 2, False),
        (1000, 300, LARGE_MODEL, True),
    ],
)
def test_long_lines_and_large_models_ask_for_the_whole(columns, longest, entries, suits):
    layout = layout_with(columns, longest, entries)
    assert suits_grid(layout) == suits


def test_the_plan_is_one_walker_if_it_fits_and_none_if_not():
    layout = layout_with(MANY, 300, 2000)
    plan = plan_for(layout, GPU)
    assert (plan.kernel, plan.ladder, plan.first) == (GRID_KERNEL, (1,), 1)
    assert plan.walker_bytes == grid_bytes(layout, TEAMS)
    assert "1 whole-GPU walkers" in str(plan)
    full = replace(GPU, memory_free=plan.walker_bytes)
    assert plan_for(layout, full).ladder == ()
    assert plan.halved().ladder == ()
    assert plan_for(layout, cpu()).kernel == "walk"


@pytest.mark.parametrize("name", ["covering", "long line", "no rows"])
def test_memory_is_what_the_arrays_take(name):
    layout = Layout.of(CASES[name](), wide=True)
    state = make_grid_wide(layout, cpu(), 40, 0)
    arrays = [value for value in vars(state).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in arrays) == grid_bytes(layout, 40)


@pytest.mark.parametrize(
    ("rows", "nodes"), [(0, 64), (1, 64), (1024, 64), (1025, 96), (40_000, 1280 + 64 + 32)]
)
def test_the_tree_has_32_nodes_under_each(rows, nodes):
    assert tree_nodes(rows) == nodes


def test_lines_of_a_chunk_are_not_long():
    def chunks(*starts: int) -> int:
        return chunks_of(replace(SMALL.by_row, indptr=np.array(starts)))

    assert chunks(0, CHUNK, 2 * CHUNK) == 0
    assert chunks(0, 3, CHUNK + 4) == 2
    assert chunks(0) == 0


def test_the_longest_rows_are_shared():
    layout = Layout.of(CASES["long line"](), wide=True)
    state = make_grid_wide(layout, cpu(), 4, 0)
    lengths = layout.by_row.lengths
    assert state.shared_count == state.long_count == 1
    assert lengths[state.shared_rows[0]] == lengths.max()


@pytest.fixture
def grid_wide_runs(monkeypatch):
    """Let runs on the CPU take this walker, with a few teams."""

    def plan(layout: Layout, _: Device) -> Plan:
        return Plan(GRID_KERNEL, (1,), 1, grid_bytes(layout, 12))

    monkeypatch.setattr(run_module, "plan_for", plan)
    monkeypatch.setattr(run_module, "GridWideFleet", partial(GridWideFleet, teams=12))


@pytest.mark.parametrize(("name", "work"), [("covering", 1e6), ("single", 1e5), ("partition", 5e5)])
def test_runs_reach_small_optima_and_offer_what_holds(grid_wide_runs, name, work):
    model = CASES[name]()
    acceptance = Acceptance(model)
    counts = run_walkers(model, cpu(), acceptance, Budget(work=work), 1, pool=acceptance.pool)
    assert acceptance.pool.objective == pytest.approx(optimum(model))
    assert acceptance.refused == 0
    assert counts.walkers == 1
    assert all(is_feasible(model, found.x) for found in acceptance.pool.points())


def test_runs_repeat(grid_wide_runs):
    found = []
    for _ in range(2):
        acceptance = Acceptance(CASES["mixed"]())
        counts = run_walkers(
            acceptance.model, cpu(), acceptance, Budget(work=3e5), 1, pool=acceptance.pool
        )
        found.append((counts.moves, counts.visited, [tuple(p.x) for p in acceptance.pool.points()]))
    assert found[0] == found[1]


def test_a_run_without_a_feasible_point_offers_none(grid_wide_runs):
    model = model_of([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0], [1.0, 2.0])
    acceptance, shown = Acceptance(model), InfeasiblePoints()
    run_walkers(
        model,
        cpu(),
        acceptance,
        Budget(work=1e6),
        1,
        infeasible_points=shown,
    )
    assert len(acceptance.pool) == 0
    assert shown.points()[0].violated_rows >= 1


def test_a_fleet_of_one_restarts_from_points_and_keeps_what_is_better():
    layout = Layout.of(CASES["covering"](), wide=True)
    plan = Plan(GRID_KERNEL, (1,), 1, grid_bytes(layout, 8))
    fleet = GridWideFleet(layout, cpu(), plan, 1, teams=8)
    fleet.set_points(np.ones((1, layout.columns)))
    fleet.restart(np.array([1]), np.array([0]), np.array([0.0]))
    fleet.launch(0)
    assert np.array_equal(fleet.point(0), np.ones(layout.columns))
    fleet.launch(50)
    assert fleet.records()[0, Field.BEST] < NONE
    assert fleet.records()[0, Field.STEP] == 50
