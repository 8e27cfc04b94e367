"""Device code against its twins on the same input, and whole solves on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_bridge.verify.verify import verify
from solvers.core.device import cpu, find_device
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.papers.simplex_variants.engine import solve
from solvers.papers.simplex_variants.kernels.layout import BLAND
from tests.papers.simplex_variants.models import assignment, beale, klee_minty, kuhn, random_problem
from tests.papers.simplex_variants.stepping import CASES, KINDS, copied, prepared, step_both
from tests.problems import LINEAR

pytestmark = pytest.mark.gpu

CPU = EngineOptions(device="cpu")
GPU = EngineOptions(device="cuda")
ON_GPU = ("naive", "resident", "graphs")


def launch(call):
    call.family[call.name](*call.values)


@pytest.mark.parametrize("variant", KINDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bland", [0.0, 1.0])
def test_kernels_do_what_the_twins_do(case, variant, bland):
    device = find_device("cuda")
    with device.activate():
        pivots = prepared(variant, case, cpu())
        pivots.space.control[BLAND] = bland
        step_both(pivots, copied(pivots, device), launch)


@pytest.mark.parametrize("variant", ON_GPU)
@pytest.mark.parametrize("case", LINEAR, ids=str)
def test_every_kind_of_problem_gets_its_status(case, variant):
    found = verify(case.problem, solve(case.problem, GPU, Progress(), variant=variant), GPU)
    assert found.solution_status is case.status


@pytest.mark.parametrize("variant", ON_GPU)
@pytest.mark.parametrize(
    "problem",
    [beale(), kuhn(), klee_minty(8), assignment(12, 1), random_problem(7, 300, 400)],
    ids=["beale", "kuhn", "klee-minty", "assignment", "random"],
)
def test_both_devices_find_the_same_optimum(problem, variant):
    there = solve(problem, GPU, Progress(), variant=variant)
    here = solve(problem, CPU, Progress(), variant="graphs")
    assert there.solution_status is SolutionStatus.OPTIMAL
    assert there.device == "cuda"
    assert there.objective == pytest.approx(here.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("variant", ON_GPU)
def test_two_solves_on_a_gpu_are_the_same(variant):
    problem = random_problem(9, 200, 300)
    one, other = (solve(problem, GPU, Progress(), variant=variant) for _ in range(2))
    assert np.array_equal(one.x, other.x)
    assert one.statistics["iterations"] == other.statistics["iterations"]
