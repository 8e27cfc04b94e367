"""Device code against its twins on the same input, and whole solves on a GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_bridge
from solvers.core.device import cpu, find_device
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.kernels.family import Family
from solvers.simplex.dense_gpu import arrays
from solvers.simplex.solve import solve
from solvers.simplex.state import PivotStatus
from tests.simplex.dense_gpu.cases import (
    check_state,
    infeasible_problem,
    primal_problem,
    random_problem,
    reference,
    run,
)
from tests.simplex.dense_gpu.side_by_side import SideBySide
from tests.simplex.dense_gpu.test_netlib import DATA, OPTIMA

pytestmark = pytest.mark.gpu

BOTH = ("dual", "primal")


def long_row(columns: int) -> Problem:
    """Return one row with very many columns."""
    random = np.random.default_rng(1)
    row = sp.csr_array(random.uniform(0.5, 1.0, (1, columns)))
    upper = np.where(random.random(columns) < 0.5, 1e-4, np.inf)
    return Problem.from_arrays(random.uniform(1.0, 2.0, columns), row, 3.0, np.inf, upper=upper)


def long_column(rows: int) -> Problem:
    """Return very many rows with one column, and some empty ones."""
    random = np.random.default_rng(2)
    column = random.uniform(0.5, 1.0, (rows, 1)) * (random.random((rows, 1)) < 0.9)
    low = np.where(column[:, 0] > 0.0, random.random(rows), -np.inf)
    return Problem.from_arrays([1.0], sp.csr_array(column), low, np.inf)


PROBLEMS = {
    "dense": (lambda: random_problem(90, 150, 1), BOTH),
    "sparse": (lambda: random_problem(300, 500, 2, density=0.02), BOTH),
    "boxed": (lambda: random_problem(150, 400, 3, density=0.2, boxed=1.0), BOTH),
    "warp sized": (lambda: random_problem(32, 256, 4), BOTH),
    "one block and one": (lambda: random_problem(257, 31, 5, density=0.3), BOTH),
    "one row": (lambda: random_problem(1, 33, 6), BOTH),
    "one column": (lambda: random_problem(33, 1, 7), BOTH),
    "long row": (lambda: long_row(100_000), BOTH),
    "long column": (lambda: long_column(20_000), BOTH),
    "infeasible": (lambda: infeasible_problem(40, 60, 8), ("dual",)),
    "primal": (lambda: primal_problem(80, 130, 9), ("primal",)),
    "unbounded": (lambda: primal_problem(20, 40, 10, bounded=False), ("primal",)),
}


@pytest.fixture(scope="module")
def gpu():
    return find_device("cuda")


@pytest.fixture(params=["steepest", "devex"])
def pricing(request, monkeypatch):
    if request.param == "devex":
        monkeypatch.setattr(arrays, "prices_by_steepest_edge", lambda *sizes: False)
    return request.param


def on_gpu(family, name, values):
    """Run a kernel on the GPU on copies, and return host copies."""
    import cupy

    copies = [cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in values]
    family.bind(name, *copies)()
    return [cupy.asnumpy(v) if isinstance(v, cupy.ndarray) else v for v in copies]


@pytest.mark.parametrize("name", PROBLEMS)
def test_kernels_do_what_their_twins_do(name, gpu, pricing, monkeypatch):
    make, order = PROBLEMS[name]
    both = SideBySide(on_gpu, Family.__getitem__)
    monkeypatch.setattr(Family, "__getitem__", lambda family, kernel: both.kernel(family, kernel))
    run(make(), cpu(), order)
    assert {"row_residual", "reduced_costs", "pivot_row"} <= set(both.calls) or order == ("primal",)


@pytest.mark.parametrize("name", PROBLEMS)
def test_solves_end_as_on_the_cpu(name, gpu, pricing):
    make, order = PROBLEMS[name]
    problem = make()
    host, device = run(problem, cpu(), order), run(problem, gpu, order)
    assert device.statuses == host.statuses
    if all(status is PivotStatus.DONE for status in host.statuses):
        assert device.objective == pytest.approx(host.objective, rel=1e-9, abs=1e-9)
        check_state(device)


@pytest.mark.parametrize("rows", [50, 100, 200, 350, 500])
def test_dense_problems_are_solved(rows, gpu):
    problem = random_problem(rows, 2 * rows, rows)
    solved = run(problem, gpu)
    assert solved.statuses == (PivotStatus.DONE, PivotStatus.DONE)
    assert solved.objective == pytest.approx(reference(problem), rel=1e-9)
    check_state(solved)


def test_equal_inputs_give_equal_bits(gpu):
    first, second = (run(random_problem(200, 300, 7), gpu) for _ in range(2))
    assert first.state.iterations == second.state.iterations
    np.testing.assert_array_equal(first.state.basic, second.state.basic)
    np.testing.assert_array_equal(first.state.x, second.state.x)
    np.testing.assert_array_equal(first.state.reduced_cost, second.state.reduced_cost)


@pytest.mark.parametrize("name", OPTIMA)
def test_netlib_models_are_solved(name, gpu):
    problem = gpu_bridge.read(Path(DATA) / f"{name}.mps.gz")
    outcome = solve(problem, EngineOptions(device="cuda"), Progress())
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    objective = problem.cost @ outcome.x + problem.offset
    assert objective == pytest.approx(OPTIMA[name], rel=1e-9)
