"""The walkers on a GPU: move by move as their twins, and whole runs."""

from __future__ import annotations

import time

import numpy as np
import pytest

from solvers.core.device import find_device
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search import run as run_module
from solvers.mip.heuristics.local_search.kernels.walk import NONE, WALKS, Field
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.heuristics.local_search.run import run_walkers
from solvers.mip.model import is_feasible
from tests.mip.heuristics.local_search.cases import (
    CASES,
    INF,
    model_of,
    restart,
    run_twin,
    start_fleet,
)
from tests.mip.heuristics.local_search.test_emulated import CARRIED
from tests.mip.heuristics.local_search.test_run import Acceptance, optimum

pytestmark = pytest.mark.gpu

SEED = 3


@pytest.fixture(scope="module")
def gpu():
    return find_device("cuda")


def assert_same(twin, device, *, tolerance=0.0):
    for name in CARRIED:
        one, other = twin.host(name), device.host(name)
        assert np.allclose(one, other, rtol=tolerance, atol=tolerance), (
            name,
            np.argwhere(one != other)[:5],
        )
    for walker, record in enumerate(twin.records):
        count = int(record[Field.VIOLATED])
        lists = [fleet.host("violated")[walker, :count] for fleet in (twin, device)]
        assert np.array_equal(*lists)


@pytest.mark.parametrize("name", CASES)
def test_device_walks_as_its_twin(gpu, name):
    layout = Layout.of(CASES[name](), wide=True)
    twin, device = start_fleet(layout, 40), start_fleet(layout, 40, device=gpu)
    for steps in (0, 200, 300):
        for fleet in (twin, device):
            arguments = fleet.arguments(steps, SEED)
            run_twin(WALKS, "walk", arguments)
        assert_same(twin, device)
    assert twin.records[:, Field.MOVES].sum() > 0


def test_short_numbers_walk_as_long_ones(gpu):
    model = CASES["covering"]()
    twin = start_fleet(Layout.of(model, wide=True), 64)
    device = start_fleet(Layout.of(model), 64, device=gpu)
    assert device.layout.real == "float32"
    for fleet in (twin, device):
        run_twin(WALKS, "walk", fleet.arguments(3000, SEED))
    assert_same(twin, device)


def test_restart_does_as_its_twin(gpu):
    layout = Layout.of(CASES["mixed"](), wide=True)
    twin, device = start_fleet(layout, 4), start_fleet(layout, 4, device=gpu)
    point = twin.host("values")[0, 0::2]
    origins, modes, shares = np.array([-1, 0, 4, 4]), np.array([0, 2, 1, 0]), np.full(4, 0.4)
    for fleet in (twin, device):
        run_twin(WALKS, "walk", fleet.arguments(80, SEED))
        restart(fleet, point[None], origins, modes, shares, SEED)
        run_twin(WALKS, "walk", fleet.arguments(80, SEED))
    assert_same(twin, device)


def test_a_row_and_a_column_of_a_hundred_thousand_entries(gpu):
    """One row over all columns, and one column in all rows: no step may take for ever."""
    import scipy.sparse as sp

    size = 100_000
    diagonal = sp.eye(size, format="csr")
    column = sp.csr_matrix((np.ones(size), (np.arange(size), np.zeros(size, int))), (size, size))
    matrix = sp.vstack([diagonal + 2.0 * column, sp.csr_matrix(np.ones((1, size)))]).tocsr()
    lower = np.r_[np.ones(size), -INF]
    model = model_of(np.ones(size), matrix, lower, np.r_[np.full(size, INF), 50_000.0])
    layout = Layout.of(model)
    fleet = start_fleet(layout, 8, device=gpu)
    began = time.perf_counter()
    run_twin(WALKS, "walk", fleet.arguments(50, SEED))
    records = fleet.records
    assert np.all(records[:, Field.STEP] > 0)
    assert time.perf_counter() - began < 30.0
    for walker in np.flatnonzero(records[:, Field.BEST] < NONE):
        assert is_feasible(model, model.rounded(layout.point_of(fleet.host("kept")[walker])))


@pytest.mark.parametrize("name", ["covering", "partition", "single", "no rows"])
def test_small_optima_are_reached(gpu, name):
    model = CASES[name]()
    acceptance, lines, best = Acceptance(model), [], optimum(model)
    budget = Budget(seconds=120.0, stop=lambda: acceptance.pool.objective <= best + 1e-6)
    counts = run_walkers(model, gpu, acceptance, budget, 1, pool=acceptance.pool, log=lines.append)
    assert acceptance.pool.objective == pytest.approx(best)
    assert acceptance.refused == 0
    assert counts.walkers >= 132
    assert len(lines) == 3


def test_untimed_runs_repeat_bit_by_bit(gpu):
    model = CASES["mixed"]()
    found = []
    for _ in range(2):
        acceptance = Acceptance(model)
        counts = run_walkers(model, gpu, acceptance, Budget(work=2e5), 1, pool=acceptance.pool)
        found.append((counts.moves, [tuple(point.x) for point in acceptance.pool.points()]))
    assert found[0] == found[1]


def test_a_run_stops_soon_after_it_is_told(gpu):
    model = CASES["long lines"]()
    acceptance = Acceptance(model)
    run_walkers(model, gpu, acceptance, Budget(seconds=0.5), 1)  # compiles
    budget = Budget(seconds=2.0)
    run_walkers(model, gpu, acceptance, budget, 1)
    assert budget.seconds < 2.5


def test_a_full_memory_means_fewer_walkers(gpu, monkeypatch):
    real, tried = run_module.Fleet, []

    def narrow(layout, device, plan, seed):
        tried.append(plan.ladder[-1])
        if plan.ladder[-1] > 600:
            raise device.xp.cuda.memory.OutOfMemoryError(1, 1, 1)
        return real(layout, device, plan, seed)

    monkeypatch.setattr(run_module, "Fleet", narrow)
    model = CASES["covering"]()
    acceptance = Acceptance(model)
    counts = run_walkers(model, gpu, acceptance, Budget(seconds=0.5), 1, pool=acceptance.pool)
    assert tried == [4224, 2112, 1056, 528]
    assert 132 <= counts.walkers <= 528
    assert len(acceptance.pool) >= 1
