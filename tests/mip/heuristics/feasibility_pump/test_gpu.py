"""Pumps whose projections run on a GPU."""

from __future__ import annotations

import pytest

from solvers.core.device import find_device
from solvers.mip.heuristics.feasibility_pump.projection import Augmented
from solvers.mip.inference import relaxation
from solvers.mip.inference.relaxation import first_order, root_relaxation
from solvers.mip.portfolio.budget import Budget
from tests.mip.heuristics.feasibility_pump.cases import Keeper, pump_batch, pumps_of, random_mip
from tests.pdlp.lps import solve_with_highs

pytestmark = pytest.mark.gpu


def test_the_relaxation_is_solved(monkeypatch):
    monkeypatch.setattr(relaxation, "FIRST_ORDER_FROM", 0)
    model = random_mip(1, 60, 90)
    root = root_relaxation(model, Budget(), device=find_device("cuda"))
    _, objective = solve_with_highs(model.problem.relaxation())
    assert root.method == "pdlp"
    assert root.relaxation.is_exact
    assert root.relaxation.objective == pytest.approx(objective, rel=1e-4, abs=1e-4)


def test_one_pump_finds_points():
    model = random_mip(3, 15, 25)
    keeper, device = Keeper(model), find_device("cuda")
    projector = first_order(Augmented.of(model).problem, device, Budget())
    counts = pumps_of(model, keeper, 0, pool=keeper.pool, projector=projector).run(Budget(work=2e7))
    assert counts.projections > 0
    assert counts.converged > 0
    assert keeper.pool.best is not None


@pytest.mark.parametrize("width", [8, 16])
def test_pumps_in_lockstep_find_points_and_repeat_them(width):
    model = random_mip(3, 15, 25)
    submitted = []
    for _ in range(2):
        keeper = Keeper(model)
        counts = pump_batch(
            model,
            keeper,
            Budget(work=3e7),
            0,
            width=width,
            pool=keeper.pool,
            device=find_device("cuda"),
        )
        assert counts.converged > 0
        assert keeper.pool.best is not None
        submitted.append([x.tobytes() for x, _ in keeper.submitted])
    assert submitted[0] == submitted[1]
