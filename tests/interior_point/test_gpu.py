"""Interior point on a GPU with cuDSS, beside the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_bridge
from solvers import interior_point
from solvers.core.device import Device, find_device
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.interior_point import cudss_library
from solvers.interior_point.analysis import Analysis
from solvers.interior_point.cudss import CuDSS
from solvers.interior_point.on_device import form_on, matrix_on
from solvers.interior_point.standard_form import standard_form
from tests.energy import energy_system
from tests.interior_point.lps import of_every_kind
from tests.locations import DATA

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu() -> Device:
    return find_device("cuda")


@pytest.fixture(autouse=True)
def _library(gpu: Device) -> None:
    cudss_library.library()  # an error where it is missing: nothing here is to be skipped


def solved(problem: Problem, device: str = "cuda") -> Outcome:
    options = EngineOptions(tolerance=1e-8, device=device)
    return interior_point.solve(problem, options, Progress())


@pytest.mark.parametrize("which", ["none", "some", "all"])
def test_the_system_is_solved_to_its_residual(which: str, gpu: Device) -> None:
    rng = np.random.default_rng(1)
    form = standard_form(of_every_kind(rng, rows=60, columns=100))
    kept = {"none": form.free, "some": form.free | (np.arange(form.c.size) % 3 == 0)}.get(
        which, np.ones(form.c.size, dtype=bool)
    )
    with gpu.activate():
        factors = CuDSS(gpu, Progress())
        analysis = Analysis.of(form, kept, factors)
        system = analysis.system(form_on(form, gpu), gpu)
        assert 0 < factors.bytes_needed < factors.bytes_free
        assert factors.entries >= analysis.pattern.size
        for decades in (1.0, 3.0):
            d = np.where(form.free, 0.0, 10.0 ** rng.uniform(-decades, decades, form.c.size))
            system.factorise(gpu.to_device(d))
            f, g = rng.normal(size=form.c.size), rng.normal(size=form.b.size)
            dx, dy = (gpu.to_host(p) for p in system.solve(gpu.to_device(f), gpu.to_device(g)))
            assert np.linalg.norm(form.transposed @ dy - d * dx - f) <= 1e-8 * np.linalg.norm(f)
            assert np.linalg.norm(form.matrix @ dx - g) <= 1e-8 * np.linalg.norm(g)


def test_sparse_products_are_those_of_the_host(gpu: Device) -> None:
    form = standard_form(of_every_kind(np.random.default_rng(2), rows=30, columns=50))
    x = np.random.default_rng(3).normal(size=form.c.size)
    with gpu.activate():
        there = matrix_on(form.matrix, gpu)
        product = gpu.to_host(there @ gpu.to_device(x))
        back = gpu.to_host(there.T @ gpu.to_device(product))
    assert product == pytest.approx(form.matrix @ x)
    assert back == pytest.approx(form.transposed @ product)


@pytest.mark.parametrize("seed", range(10))
def test_optima_are_those_of_the_cpu(seed: int) -> None:
    problem = of_every_kind(np.random.default_rng(seed), rows=40, columns=70)
    there, here = solved(problem), solved(problem, "cpu")
    assert there.device == "cuda"
    assert there.solution_status is SolutionStatus.OPTIMAL
    assert there.objective == pytest.approx(here.objective, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("adlittle", 225494.963162), ("afiro", -464.753142857), ("forplan", -664.218961272)],
)
def test_netlib(name: str, optimum: float) -> None:
    outcome = solved(gpu_bridge.read(DATA / f"{name}.mps.gz"))
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(optimum, rel=1e-7)


def test_an_energy_system_through_the_front_door() -> None:
    problem = energy_system(48)
    there = gpu_bridge.solve(problem, method="ipm", device="cuda", tolerance=1e-8)
    here = gpu_bridge.solve(problem, method="ipm", device="cpu", tolerance=1e-8)
    assert "on cuda" in there.log
    assert there.objective == pytest.approx(here.objective, rel=1e-7)


def test_a_start_shortens_the_way() -> None:
    problem = energy_system(48)
    options = EngineOptions(tolerance=1e-8, device="cuda")
    cold = interior_point.solve(problem, options, Progress())
    start = Start(cold.x, cold.row_dual)
    warm = interior_point.solve(problem, options, Progress(), start)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
    assert int(warm.statistics["iterations"]) < int(cold.statistics["iterations"])


def test_proofs() -> None:
    problem = gpu_bridge.read(DATA / "klein1.mps.gz")
    outcome = solved(problem)
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None
    assert proves_infeasible(problem, outcome.dual_ray)
    endless = Problem.from_arrays([-1.0, 0.0], [[1.0, -1.0]], [-np.inf], [1.0])
    found = solved(endless)
    assert found.solution_status is SolutionStatus.UNBOUNDED
    assert found.primal_ray is not None
    assert proves_unbounded(endless, found.primal_ray)


def test_a_limit_in_the_middle_keeps_what_there_is() -> None:
    progress = Progress(time_limit=5.0)
    options = EngineOptions(tolerance=1e-14, device="cuda")
    outcome = interior_point.solve(energy_system(365), options, progress)
    assert outcome.solution_status is not SolutionStatus.OPTIMAL
    assert outcome.candidate is not None or outcome.x is not None
