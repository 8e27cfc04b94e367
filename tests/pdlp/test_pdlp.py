"""The engine as a whole: known optima, awkward shapes, limits, starts, determinism."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.errors import DeviceError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import loop, loop_state
from solvers.pdlp.control import Control
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.state import State
from tests.locations import DATA
from tests.pdlp.lps import random_lp, read_mps, solve_with_highs
from tests.pdlp.matrices import PRETENDED_GPU

INF = np.inf
NETLIB = {"afiro": -464.753142857, "adlittle": 225494.963162}


def solve(problem: Problem, start: Start | None = None, limit: float = 600.0, **options):
    return pdlp.solve(
        problem, EngineOptions(**{"device": "cpu", **options}), Progress(limit), start
    )


def counts(outcome) -> dict:
    """Return the statistics that the clock has no part in."""
    return {name: value for name, value in outcome.statistics.items() if name != "loop_seconds"}


def assert_kkt(problem: Problem, outcome, tolerance: float) -> None:
    """Check an answer against the optimality conditions, written out once more."""
    x, y, z = outcome.x, outcome.row_dual, outcome.reduced_cost
    np.testing.assert_allclose(z, problem.cost - problem.matrix.T @ y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(outcome.row_activity, problem.matrix @ x, rtol=1e-12, atol=1e-12)
    assert np.all((x >= problem.lower) & (x <= problem.upper))
    assert np.all(y[~np.isfinite(problem.row_lower)] <= 0)
    assert np.all(y[~np.isfinite(problem.row_upper)] >= 0)
    activity = outcome.row_activity
    violation = np.maximum(problem.row_lower - activity, activity - problem.row_upper)
    sides = np.concatenate([problem.row_lower, problem.row_upper])
    size = 1.0 + np.linalg.norm(sides[np.isfinite(sides)])
    assert np.linalg.norm(np.maximum(violation, 0.0)) <= tolerance * size
    wrong = np.where(~np.isfinite(problem.lower), np.maximum(z, 0.0), 0.0)
    wrong += np.where(~np.isfinite(problem.upper), np.maximum(-z, 0.0), 0.0)
    assert np.linalg.norm(wrong) <= tolerance * (1.0 + np.linalg.norm(problem.cost))
    assert outcome.objective == pytest.approx(problem.objective_at(x), rel=1e-12)
    gap = abs(outcome.objective - outcome.bound)
    assert gap <= tolerance * (1.0 + abs(outcome.objective) + abs(outcome.bound))


@pytest.mark.parametrize("name", NETLIB)
@pytest.mark.parametrize("presolve", [False, True])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_netlib_models_reach_their_optima(name, presolve, tolerance):
    problem = read_mps(str(DATA / f"{name}.mps.gz"), presolve)
    outcome = solve(problem, tolerance=tolerance)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, tolerance)
    assert outcome.objective == pytest.approx(NETLIB[name], rel=20 * tolerance)


@pytest.mark.parametrize("seed", range(8))
def test_random_problems_agree_with_highs(seed):
    problem = random_lp(seed, rows=40, columns=60)
    outcome = solve(problem, tolerance=1e-8)
    status, objective = solve_with_highs(problem)
    assert status == "kOptimal"
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-8)
    assert outcome.objective == pytest.approx(objective, rel=1e-6, abs=1e-6)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(0, 12),
    columns=st.integers(0, 12),
    density=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_any_small_problem_is_solved_to_optimality(seed, rows, columns, density):
    problem = random_lp(seed, rows, columns, density)
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-6)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), limit=st.sampled_from([0, 1, 2, 150, 201]))
def test_a_proven_bound_is_never_above_the_optimum(seed, limit):
    problem = random_lp(seed, 8, 8)
    boxed = replace(
        problem,
        lower=np.maximum(problem.lower, -50.0),
        upper=np.minimum(problem.upper, 50.0),
    )
    status, optimum = solve_with_highs(boxed)
    assert status == "kOptimal"
    outcome = solve(boxed, tolerance=1e-10, iteration_limit=limit)
    if outcome.solution_status is not SolutionStatus.OPTIMAL:
        assert outcome.bound > -INF
        assert outcome.bound <= optimum + 1e-7 * (1.0 + abs(optimum))


SHAPES = {
    "no rows": (Problem.from_arrays([1.0, -1.0], upper=3.0), -3.0),
    "no columns": (Problem.from_arrays([], np.zeros((2, 0)), [-1.0, 0.0], [1.0, 0.0]), 0.0),
    "nothing at all": (Problem.from_arrays([]), 0.0),
    "only zeros": (Problem.from_arrays([2.0, 0.0], np.zeros((1, 2)), -INF, 1.0, lower=1.5), 3.0),
    "one of each": (Problem.from_arrays([1.0], [[2.0]], 3.0, INF), 1.5),
    "free column": (Problem.from_arrays([1.0], [[2.0]], 3.0, 5.0, lower=-INF), 1.5),
    "fixed column": (
        Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], 5.0, INF, lower=[2, 0], upper=[2, 9]),
        5.0,
    ),
    "free row": (Problem.from_arrays([1.0], [[2.0], [1.0]], [-INF, 1.0], [INF, INF]), 1.0),
    "ranged row": (Problem.from_arrays([-1.0, 0.0], [[1.0, 1.0]], 1.0, 2.0), -2.0),
    "zero row and column": (
        Problem.from_arrays(
            [1.0, 5.0, -1.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [2.0, -1.0], [INF, 1.0],
            upper=[INF, INF, 1e6],
        ),
        2.0 - 1e6,
    ),
    "no objective": (Problem.from_arrays([0.0, 0.0], [[1.0, 1.0]], 1.0, 1.0), 0.0),
    "far bounds": (Problem.from_arrays([-1.0, -1.0], [[1.0, 1.0]], -INF, 1e4, upper=1e9), -1e4),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_awkward_shapes(name):
    problem, optimum = SHAPES[name]
    outcome = solve(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.stop_reason is StopReason.CONVERGED
    assert outcome.objective == pytest.approx(optimum, rel=1e-5, abs=1e-5)
    assert outcome.x.shape == (problem.num_columns,)
    assert outcome.row_dual.shape == (problem.num_rows,)
    assert_kkt(problem, outcome, 1e-6)


def test_without_coefficients_infeasible_rows_and_endless_columns_are_told():
    infeasible = solve(Problem.from_arrays([1.0], np.zeros((2, 1)), [-1.0, -INF], [1.0, -2.0]))
    assert infeasible.solution_status is SolutionStatus.INFEASIBLE
    assert infeasible.dual_ray.tolist() == [0.0, -1.0]
    endless = solve(Problem.from_arrays([1.0, -1.0], np.zeros((0, 2))))
    assert endless.solution_status is SolutionStatus.UNBOUNDED
    assert endless.primal_ray.tolist() == [0.0, 1.0]
    assert endless.x.tolist() == [0.0, 0.0]


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


def test_warm_start_at_the_optimum_needs_no_iteration():
    problem = random_lp(6, 40, 60)
    cold = solve(problem, tolerance=1e-7)
    warm = solve(problem, Start(x=cold.x, row_dual=cold.row_dual), tolerance=1e-6)
    assert warm.solution_status is SolutionStatus.OPTIMAL
    assert warm.statistics["iterations"] == 0 < cold.statistics["iterations"]


def test_start_may_be_partly_unknown_and_out_of_bounds():
    problem = random_lp(7, 20, 30)
    x = np.full(30, np.nan)
    x[:10] = 1e3
    y = np.full(20, np.nan)
    assert solve(problem, Start(x=x, row_dual=y)).solution_status is SolutionStatus.OPTIMAL


def test_time_limit_of_zero_returns_at_once_with_a_candidate():
    outcome = solve(random_lp(8, 30, 40), limit=0.0)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.solution_status is SolutionStatus.NOTHING
    assert outcome.x is None
    assert outcome.candidate.shape == (40,)
    assert outcome.statistics["iterations"] == 0


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 200, 450])
def test_iteration_limit_is_exact(limit):
    outcome = solve(random_lp(9, 40, 60), tolerance=1e-10, iteration_limit=limit)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit


def test_interruption_returns_the_best_point_so_far():
    class Interrupting(Progress):
        def iteration(self, count, **figures):
            if count >= 400:
                self.interrupt()

    progress = Interrupting()
    outcome = pdlp.solve(random_lp(10, 40, 60), EngineOptions(tolerance=1e-10), progress)
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.statistics["iterations"] == 400
    assert (outcome.x if outcome.x is not None else outcome.candidate) is not None


def test_interruption_within_a_block_is_noticed():
    class Late(Progress):
        looks = 0

        def should_stop(self):
            self.looks += 1
            return StopReason.INTERRUPTED if self.looks > 40 else None

    outcome = pdlp.solve(
        random_lp(10, 40, 60),
        EngineOptions(tolerance=1e-10),
        Late(),
        settings=DEFAULT.changed(execution={"slice_seconds": 1e-9}, step={"power_iterations": 0}),
    )
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert 0 < outcome.statistics["iterations"] < 200


def test_feasible_point_is_kept_when_time_runs_out():
    problem = Problem.from_arrays([-1.0, -1.0], [[1.0, 2.0]], -INF, 4.0, lower=1.0)
    outcome = solve(problem, Start(x=np.array([2.0, 1.0])), iteration_limit=0)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.x.tolist() == [2.0, 1.0]
    assert outcome.objective == -3.0


def test_progress_hears_of_iterations_and_residuals():
    heard = []

    class Listening(Progress):
        def iteration(self, count, **figures):
            heard.append((count, figures))

    outcome = pdlp.solve(random_lp(11, 40, 60), EngineOptions(), Listening())
    counts = [count for count, _ in heard]
    assert counts == sorted(counts)
    assert counts[-1] == outcome.statistics["iterations"]
    assert set(heard[-1][1]) == {"primal_residual", "dual_residual", "gap", "primal_weight"}
    assert heard[-1][1]["primal_residual"] <= 1e-6


def test_running_a_prepared_state_again_goes_on():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-8), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    first = pdlp.run(state, replace(options, iteration_limit=200), progress)
    assert first.stop_reason is StopReason.ITERATION_LIMIT
    second = pdlp.run(state, options, progress)
    assert second.solution_status is SolutionStatus.OPTIMAL
    assert second.statistics["iterations"] > 200


def test_running_a_solved_state_again_returns_the_same_answer_at_once():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-6), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    first, second = (pdlp.run(state, options, progress) for _ in range(2))
    assert first.solution_status is SolutionStatus.OPTIMAL
    assert np.array_equal(first.x, second.x)
    assert counts(first) == counts(second)


def test_running_a_solved_state_again_with_a_tighter_tolerance_goes_on():
    problem = random_lp(12, 40, 60)
    options, progress = EngineOptions(tolerance=1e-4), Progress()
    state = pdlp.prepare(problem, options, cpu(), progress)
    first = pdlp.run(state, options, progress)
    second = pdlp.run(state, replace(options, tolerance=1e-9), progress)
    assert second.solution_status is SolutionStatus.OPTIMAL
    assert second.statistics["iterations"] > first.statistics["iterations"]
    assert_kkt(problem, second, 1e-9)


def test_a_run_in_parts_gives_the_bits_of_a_run_in_one():
    problem = random_lp(12, 40, 60)
    options = EngineOptions(tolerance=1e-8)
    results = []
    for stops in ([], [200, 600, 800]):
        progress = Progress()
        state = pdlp.prepare(problem, options, cpu(), progress)
        for stop in stops:
            pdlp.run(state, replace(options, iteration_limit=stop), progress)
        results.append(pdlp.run(state, options, progress))
    assert results[0].statistics["iterations"] > 800
    assert np.array_equal(results[0].x, results[1].x)


class Spoiling(Progress):
    """Makes the current point NaN after the check at so many iterations, and at breakdowns."""

    def __init__(self, at: int, times: int = 1) -> None:
        super().__init__(30.0)
        self.state: State | None = None
        self.at, self.left = at, times
        self.said: list[str] = []
        self.stepped: list[float] = []

    def spoil(self) -> None:
        assert self.state is not None
        self.stepped.append(float(self.state.read_control()[Control.STEP]))
        if self.left:
            self.left -= 1
            self.state.x.point[...] = np.nan

    def iteration(self, count, **figures):
        if count == self.at:
            self.spoil()

    def log(self, message):
        self.said.append(message)
        self.spoil()


def spoilt(problem: Problem, progress: Spoiling, **options):
    engine_options = EngineOptions(device="cpu", tolerance=1e-8, **options)
    progress.state = pdlp.prepare(problem, engine_options, cpu(), progress)
    return pdlp.run(progress.state, engine_options, progress)


@pytest.mark.parametrize("times", [1, DEFAULT.step.breakdowns_allowed])
def test_a_breakdown_is_recovered_from_with_a_shorter_step(times):
    problem = random_lp(20, 40, 60)
    progress = Spoiling(at=400, times=times)
    outcome = spoilt(problem, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-8)
    assert sum("broke down" in line for line in progress.said) == times
    assert progress.stepped[-1] == pytest.approx(
        progress.stepped[0] * DEFAULT.step.breakdown_factor**times
    )
    assert np.all(np.isfinite(outcome.x))


def test_after_too_many_breakdowns_the_best_point_is_returned():
    problem = random_lp(20, 40, 60)
    progress = Spoiling(at=400, times=100)
    outcome = spoilt(problem, progress)
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert outcome.solution_status is not SolutionStatus.OPTIMAL
    untroubled = solve(problem, tolerance=1e-8, iteration_limit=400)
    best = outcome.candidate if outcome.x is None else outcome.x
    expected = untroubled.candidate if untroubled.x is None else untroubled.x
    assert np.array_equal(best, expected)
    # 400 good iterations, and a block for each breakdown
    assert outcome.statistics["iterations"] == 400 + 200 * (1 + DEFAULT.step.breakdowns_allowed)


def test_a_breakdown_in_the_very_first_block_is_no_reason_to_give_up():
    problem = random_lp(21, 40, 60)
    options, progress = EngineOptions(device="cpu"), Progress(600.0)
    state = pdlp.prepare(problem, options, cpu(), progress)
    state.y.point[...] = np.inf
    outcome = pdlp.run(state, options, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-6)


@pytest.mark.parametrize("loose", [1e-4, 1.0])
def test_a_point_that_only_seemed_optimal_is_rejected(loose):
    problem = random_lp(22, 40, 60)
    options, progress = EngineOptions(device="cpu", tolerance=1e-7), Progress(600.0)
    state = pdlp.prepare(problem, options, cpu(), progress)
    state.write_control(primal_tolerance=loose, dual_tolerance=loose, gap_tolerance=loose)
    outcome = pdlp.run(state, options, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-7)
    control = state.read_control()
    for name in ("PRIMAL_TOLERANCE", "DUAL_TOLERANCE", "GAP_TOLERANCE"):
        assert control[Control[name]] == pytest.approx(1e-7 * DEFAULT.step.rejection_factor)


def test_rejections_never_ask_for_less_than_a_tenth_of_the_tolerance(monkeypatch):
    problem = random_lp(22, 40, 60)
    options, progress = EngineOptions(device="cpu", tolerance=1e-4), Progress(600.0)
    state = pdlp.prepare(problem, options, cpu(), progress)
    real, seen = loop.judged, []

    def never_satisfied(solve, x, y):
        answer = real(solve, x, y)
        seen.append(answer is not None)
        return None

    monkeypatch.setattr(loop, "judged", never_satisfied)
    pdlp.run(state, replace(options, iteration_limit=20_000), progress)
    assert seen.count(True) > 12  # 0.8^12 is less than 0.1
    assert state.read_control()[Control.PRIMAL_TOLERANCE] == pytest.approx(1e-5)


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


def test_integrality_is_ignored():
    problem = replace(Problem.from_arrays([-1.0], [[2.0]], -INF, 3.0), integrality=np.array([True]))
    assert solve(problem).objective == pytest.approx(-1.5, rel=1e-5)


def test_gpu_asked_for_without_one_is_refused(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(DeviceError, match="NVIDIA"):
        solve(random_lp(13, 5, 5), device="cuda")


def test_out_of_memory_on_the_cpu_is_not_hidden(monkeypatch):
    from solvers.pdlp import start

    def exhausted(*arguments):
        raise MemoryError("no memory")

    monkeypatch.setattr(start, "to_device", exhausted)
    with pytest.raises(MemoryError):
        solve(random_lp(14, 5, 5))


@pytest.mark.parametrize("spread", [1e-3, 1e6])
def test_badly_scaled_rows_and_columns(spread):
    problem = random_lp(15, 20, 30)
    generator = np.random.default_rng(15)
    rows, columns = (spread ** generator.uniform(0.0, 1.0, size) for size in (20, 30))
    scaled = Problem(
        problem.cost * columns,
        problem.matrix.multiply(rows[:, None]).multiply(columns[None, :]).tocsr(),
        problem.row_lower * rows,
        problem.row_upper * rows,
        problem.lower / columns,
        problem.upper / columns,
        problem.integrality,
    )
    outcome = solve(scaled, tolerance=1e-8)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_with_highs(scaled)[1], rel=1e-5, abs=1e-5)


def test_degenerate_assignment_problem():
    size = 8
    generator = np.random.default_rng(16)
    rows = np.zeros((2 * size, size * size))
    for i in range(size):
        rows[i, i * size : (i + 1) * size] = 1.0
        rows[size + i, i::size] = 1.0
    problem = Problem.from_arrays(generator.integers(1, 9, size * size), rows, 1.0, 1.0)
    outcome = solve(problem, tolerance=1e-8)
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-6)


def test_memory_needed_covers_the_matrix_and_its_transpose():
    problem = random_lp(17, 50, 70)
    assert pdlp.memory_needed(problem) > 2 * 12 * problem.num_nonzeros + 8 * 20 * 50


def test_solves_in_two_threads_do_not_see_each_other():
    problems = [random_lp(seed, 500, 800, density=0.2) for seed in (18, 19)]
    alone = [solve(problem) for problem in problems]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(solve, problems))
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.x, other.x)
        assert counts(one) == counts(other)


def test_a_milestone_hands_out_a_point_once_and_the_solve_goes_on():
    problem = random_lp(41, 60, 90)
    handed = []
    options = EngineOptions(device="cpu", tolerance=1e-8)
    milestone = pdlp.Milestone(1e-3, handed.append)
    outcome = pdlp.solve(problem, options, Progress(600.0), milestone=milestone)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert len(handed) == 1
    early = handed[0]
    assert early.solution_status is SolutionStatus.OPTIMAL
    assert early.statistics["iterations"] < outcome.statistics["iterations"]
    assert_kkt(problem, early, 1e-3)
    assert early.objective != outcome.objective
    without = solve(problem, tolerance=1e-8)
    assert np.array_equal(outcome.x, without.x)
