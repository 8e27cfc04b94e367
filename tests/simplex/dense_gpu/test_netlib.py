"""Netlib models through the driver, with the dense GPU core on the CPU."""

from __future__ import annotations

import pytest

import gpu_bridge
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.simplex.solve import solve
from tests.locations import DATA

OPTIMA = {"afiro": -464.753142857, "adlittle": 225494.963162, "forplan": -664.218961272}


@pytest.mark.parametrize("name", OPTIMA)
def test_netlib_model_is_solved(name):
    problem = gpu_bridge.read(DATA / f"{name}.mps.gz")
    outcome = solve(problem, EngineOptions(device="cpu"), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    objective = problem.cost @ outcome.x + problem.offset
    assert objective == pytest.approx(OPTIMA[name], rel=1e-9)


def test_infeasible_model_is_proven():
    problem = gpu_bridge.read(DATA / "klein1.mps.gz")
    outcome = solve(problem, EngineOptions(device="cpu"), Progress())
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
