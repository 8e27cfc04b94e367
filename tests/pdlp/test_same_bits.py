"""What has no part in the numbers: threads, slices, other solves, the layout of a GPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start
from solvers.core.progress import Progress
from solvers.pdlp import loop_state
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.settings import DEFAULT
from tests.pdlp.lps import random_lp, solve_with_highs
from tests.pdlp.matrices import PRETENDED_GPU
from tests.pdlp.solving import assert_kkt, counts, solve


def test_same_seed_gives_the_same_bits():
    problem = random_lp(3, 50, 70)
    first, second = solve(problem, seed=5), solve(problem, seed=5)
    assert np.array_equal(first.x, second.x)
    assert counts(first) == counts(second)


def test_threads_give_the_same_bits():
    problem = random_lp(4, 600, 900, density=0.15)  # large enough for threads to be used
    alone, together = solve(problem, threads=1), solve(problem, threads=0)
    assert problem.num_nonzeros > 60_000
    assert np.array_equal(alone.x, together.x)


def test_slices_of_time_do_not_change_the_numbers():
    problem = random_lp(5, 40, 50)
    usual = solve(problem)
    sliced = pdlp.solve(
        problem,
        EngineOptions(device="cpu"),
        Progress(),
        settings=DEFAULT.changed(execution={"slice_seconds": 1e-6}),
    )
    assert np.array_equal(usual.x, sliced.x)


def test_a_run_in_parts_gives_the_bits_of_a_run_in_one():
    problem = random_lp(12, 40, 60)
    options = EngineOptions(tolerance=1e-8)
    results = []
    for stops in ([], [200, 400, 600]):
        progress = Progress()
        state = pdlp.prepare(problem, options, cpu(), progress)
        for stop in stops:
            pdlp.run(state, replace(options, iteration_limit=stop), progress)
        results.append(pdlp.run(state, options, progress))
    assert results[0].statistics["iterations"] > 600
    assert np.array_equal(results[0].x, results[1].x)


@pytest.mark.parametrize("seed", range(3))
def test_the_layout_of_a_gpu_leads_to_the_same_optimum(seed, monkeypatch):
    problem = random_lp(seed, 60, 90)
    options = EngineOptions(tolerance=1e-8)
    monkeypatch.setattr(loop_state, "iteration_blocks", BlocksOnCpu)
    progress = Progress(600.0)
    state = pdlp.prepare(problem, options, PRETENDED_GPU, progress)
    order = state.problem.coefficients.row_order
    assert not np.array_equal(order, np.arange(60)), "rows are permuted"
    outcome = pdlp.run(state, options, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-8)
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-6, abs=1e-6)


def test_the_layout_of_a_gpu_starts_from_the_same_point():
    problem = random_lp(23, 30, 40)
    generator = np.random.default_rng(1)
    start = Start(x=generator.uniform(-1, 1, 40), row_dual=generator.uniform(-1, 1, 30))
    states = [
        pdlp.prepare(problem, EngineOptions(), device, Progress(), start)
        for device in (cpu(), PRETENDED_GPU)
    ]
    for bring in ("columns_to_host", "rows_to_host"):
        here, there = (
            getattr(state.problem, bring)((state.x if "col" in bring else state.y).point)
            for state in states
        )
        assert np.array_equal(here, there)
    here, there = (state.read_control() for state in states)
    np.testing.assert_allclose(there, here, rtol=1e-10)


def test_solves_in_two_threads_do_not_see_each_other():
    problems = [random_lp(seed, 500, 800, density=0.2) for seed in (18, 19)]
    alone = [solve(problem) for problem in problems]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(solve, problems))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.x, other.x)
        assert counts(one) == counts(other)
