"""Whole solves on a GPU, beside the CPU, and the same bits in whatever execution mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import Device
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.settings import Settings
from tests.pdlp.lps import random_lp, solve_with_highs
from tests.pdlp.on_gpu import (
    MODES,
    solve,
)
from tests.pdlp.solving import assert_kkt, counts
from tests.pdlp.test_certificates import INFEASIBLE, UNBOUNDED
from tests.pdlp.test_pdlp import SHAPES

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(4))
def test_gpu_and_cpu_find_the_same_optimum(seed, mode, gpu):
    problem = random_lp(seed, rows=60, columns=90)
    here = solve(problem, mode, device="cpu", tolerance=1e-8)
    there = solve(problem, mode, tolerance=1e-8)
    assert there.device == "cuda"
    for outcome in (here, there):
        assert outcome.solution_status is SolutionStatus.OPTIMAL
        assert_kkt(problem, outcome, 1e-8)
    assert there.objective == pytest.approx(here.objective, rel=1e-6, abs=1e-6)
    needed = [outcome.statistics["iterations"] for outcome in (here, there)]
    assert max(needed) <= 1.5 * min(needed) + 200


def after_iterations(
    problem: Problem, settings: Settings, gpu: Device, count: int, progress: Progress | None = None
) -> Any:
    """Return the points of both sides and the control array after so many iterations."""
    options, progress = (
        EngineOptions(tolerance=1e-10, iteration_limit=count),
        progress or Progress(),
    )
    with gpu.activate():
        state = pdlp.prepare(problem, options, gpu, progress, settings=settings)
        pdlp.run(state, options, progress)
        x = state.problem.columns_to_host(state.x.point)
        return x, state.problem.rows_to_host(state.y.point), state.read_control()


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"large model", "launches"}))
def test_execution_modes_give_the_same_bits(mode, gpu):
    """The faster mode is chosen by the clock, which must have no part in the answer."""
    problem = random_lp(5, rows=300, columns=500, density=0.05)
    one = after_iterations(problem, MODES["launches"], gpu, 1000)
    other = after_iterations(problem, MODES[mode], gpu, 1000)
    for here, there in zip(one, other, strict=True):
        assert np.array_equal(here, there)


class Sharing(Progress):
    """Says at every other look that another engine is at work on the GPU."""

    looks = 0

    @property
    def shares_gpu(self) -> bool:
        self.looks += 1
        return self.looks % 2 == 0


@pytest.mark.parametrize("mode", sorted(set(MODES) - {"large model"}))
def test_another_engine_on_the_gpu_does_not_change_the_bits(mode, gpu):
    problem = random_lp(5, rows=300, columns=500, density=0.05)
    sharing = Sharing()
    one = after_iterations(problem, MODES[mode], gpu, 1100)
    other = after_iterations(problem, MODES[mode], gpu, 1100, sharing)
    assert sharing.looks > 4
    for here, there in zip(one, other, strict=True):
        assert np.array_equal(here, there)


def test_the_layout_of_large_models_agrees_to_rounding(gpu):
    problem = random_lp(5, rows=300, columns=500, density=0.05)
    one = after_iterations(problem, MODES["launches"], gpu, 400)
    other = after_iterations(problem, MODES["large model"], gpu, 400)
    for here, there in zip(one, other, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_gpu_solve_repeated_gives_the_same_bits(mode, gpu):
    problem = random_lp(7, rows=80, columns=100)
    first, second = (solve(problem, mode, tolerance=1e-8) for _ in range(2))
    assert np.array_equal(first.x, second.x)
    assert counts(first) == counts(second)


@pytest.mark.parametrize("mode", MODES)
def test_a_dense_row_and_column_of_several_units(mode, gpu):
    generator = np.random.default_rng(8)
    size = 40_000
    rows = np.zeros((3, size))
    rows[0] = generator.uniform(0.5, 1.5, size)
    rows[1, ::7] = 1.0
    rows[2, :50] = 1.0
    cost = generator.uniform(-1.0, 1.0, size)
    problem = Problem.from_arrays(cost, rows, -np.inf, [100.0, 50.0, 5.0], upper=1.0)
    outcome = solve(problem, mode, tolerance=1e-5)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-5)
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SHAPES)
def test_awkward_shapes_on_the_gpu(name, mode, gpu):
    problem, optimum = SHAPES[name]
    outcome = solve(problem, mode)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert_kkt(problem, outcome, 1e-6)


@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible_problems_get_a_proof_on_the_gpu(name, gpu):
    outcome = solve(INFEASIBLE[name])
    assert outcome.solution_status is SolutionStatus.INFEASIBLE
    assert outcome.dual_ray is not None


@pytest.mark.parametrize("name", UNBOUNDED)
def test_unbounded_problems_get_a_ray_on_the_gpu(name, gpu):
    outcome = solve(UNBOUNDED[name])
    assert outcome.solution_status is SolutionStatus.UNBOUNDED
    assert outcome.primal_ray is not None


def test_gpu_warm_start_needs_fewer_iterations(gpu):
    problem = random_lp(9, rows=60, columns=90)
    options = EngineOptions(device="cuda")
    cold = pdlp.solve(problem, options, Progress())
    start = Start(x=cold.x, row_dual=cold.row_dual)
    warm = pdlp.solve(problem, options, Progress(), start)
    assert warm.statistics["iterations"] < cold.statistics["iterations"]
