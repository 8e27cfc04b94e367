"""The whole engine on models with known answers, in every mode, and on those that make trouble."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_bridge
from gpu_bridge import SolutionStatus, StopReason
from solvers import mip
from solvers.core.errors import EngineError, OptionError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip import proof_stage
from tests.problems import INTEGER

ALONE = {"method": "mip", "heuristics_only": True, "deterministic": True, "work_limit": 0.05}


def knapsack(n=30, seed=1):
    """A knapsack of n items, its optimum by dynamic programming."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(5, 60, n)
    values = weights + rng.integers(-4, 5, n) + 5
    capacity = int(weights.sum() // 3)
    table = np.zeros(capacity + 1)
    for weight, value in zip(weights, values, strict=True):
        table[weight:] = np.maximum(table[weight:], table[:-weight] + value)
    problem = Problem.from_arrays(
        values, weights[None, :], row_upper=capacity, upper=1.0, integrality=True, maximize=True
    )
    return problem, table[-1]


def covering(rows=60, columns=90, seed=3):
    """A set covering model that takes branch and bound a while."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((rows, columns)) < 0.08).astype(float)
    matrix[np.arange(rows), rng.integers(0, columns, rows)] = 1.0
    return Problem.from_arrays(
        rng.integers(1, 30, columns), matrix, row_lower=1.0, upper=1.0, integrality=True
    )


def parity(n=40):
    """An equality that no even numbers meet, in tenths: feasible for the relaxation only."""
    return Problem.from_arrays(
        np.zeros(n), 0.2 * np.ones((1, n)), [3.1], [3.1], upper=1.0, integrality=True
    )


def lot_sizing(periods=12, seed=5):
    """Set-ups with big-M rows and balances of continuous columns."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(5, 40, periods).astype(float)
    n = 3 * periods
    balance = sp.lil_array((periods, n))
    setup = sp.lil_array((periods, n))
    for t in range(periods):
        balance[t, t] = 1.0
        if t:
            balance[t, periods + t - 1] = 1.0
        balance[t, periods + t] = -1.0
        setup[t, t], setup[t, 2 * periods + t] = 1.0, -60.0
    return Problem.from_arrays(
        np.concatenate([np.ones(periods), 0.7 * np.ones(periods), np.full(periods, 45.0)]),
        sp.vstack([balance, setup]),
        np.concatenate([demand, np.full(periods, -np.inf)]),
        np.concatenate([demand, np.zeros(periods)]),
        upper=np.concatenate([np.full(2 * periods, np.inf), np.ones(periods)]),
        integrality=np.arange(n) >= 2 * periods,
    )


@pytest.mark.parametrize("case", INTEGER, ids=str)
def test_known_answers(case):
    outcome = gpu_bridge.solve(case.problem, method="mip", device="cpu", time_limit=600)
    assert outcome.solution_status is case.status
    if case.status is SolutionStatus.OPTIMAL:
        assert outcome.objective == pytest.approx(case.objective)


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_model_is_proven_optimal_in_both_ways(deterministic):
    problem, optimum = knapsack()
    outcome = gpu_bridge.solve(
        problem, method="mip", device="cpu", deterministic=deterministic, work_limit=0.02
    )
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(optimum)
    assert outcome.bound == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize(
    "problem", [knapsack()[0], covering(), lot_sizing()], ids=["knapsack", "cover", "lots"]
)
def test_heuristics_alone_come_near_the_optimum_and_claim_no_bound(problem):
    best = gpu_bridge.solve(problem, method="highs", rel_gap=0.0).objective
    outcome = gpu_bridge.solve(problem, device="cpu", **ALONE)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert np.isinf(outcome.bound)
    assert outcome.objective == pytest.approx(best, rel=0.05)


def test_the_same_seed_takes_the_same_way():
    problem = covering()
    first, second = (gpu_bridge.solve(problem, device="cpu", **ALONE) for _ in range(2))
    assert [event.incumbent for event in first.history] == [
        event.incumbent for event in second.history
    ]
    assert [event.source for event in first.history] == [event.source for event in second.history]
    np.testing.assert_array_equal(first.x, second.x)


def test_the_pool_holds_distinct_verified_points_best_first():
    problem = covering()
    outcome = gpu_bridge.solve(problem, device="cpu", pool_size=4, **ALONE)
    assert 2 <= len(outcome.pool) <= 4
    objectives = [entry.objective for entry in outcome.pool]
    assert objectives == sorted(objectives)
    assert objectives[0] == outcome.objective
    assert len({entry.x.tobytes() for entry in outcome.pool}) == len(outcome.pool)
    for entry in outcome.pool:
        assert (problem.matrix @ entry.x >= 1.0).all()
        assert problem.cost @ entry.x == pytest.approx(entry.objective)


def test_infeasible_is_said_only_with_a_proof():
    heuristics = gpu_bridge.solve(parity(), device="cpu", presolve=False, **ALONE)
    assert heuristics.solution_status is SolutionStatus.NOTHING
    assert heuristics.candidate is not None
    assert heuristics.candidate.sum() in (15.0, 16.0)
    whole = gpu_bridge.solve(parity(), method="mip", device="cpu", explain=False)
    assert whole.solution_status is SolutionStatus.INFEASIBLE


def test_propagation_proves_infeasibility_without_branch_and_bound():
    chain = sp.lil_array((21, 20))
    for i in range(19):
        chain[i, i], chain[i, i + 1] = 1.0, -1.0  # x_i <= x_{i+1}
    chain[19, 0] = chain[20, 19] = 1.0
    low, high = np.full(21, -np.inf), np.zeros(21)
    low[19], high[19] = 1.0, np.inf  # the first is 1, the last is 0
    problem = Problem.from_arrays(np.zeros(20), chain, low, high, upper=1.0, integrality=True)
    answer = mip.solve(
        problem,
        EngineOptions(device="cpu", heuristics_only=True, deterministic=True, presolve=False),
        Progress(),
    )
    assert answer.solution_status is SolutionStatus.INFEASIBLE
    assert answer.engine == "mip"


def test_an_unbounded_model_is_unbounded():
    problem = Problem.from_arrays([-1.0, 1.0], [[1.0, -1.0]], row_upper=5.0, integrality=True)
    problem = dataclasses.replace(problem, cost=np.array([-2.0, 1.0]))
    outcome = gpu_bridge.solve(problem, method="mip", device="cpu")
    assert outcome.solution_status is SolutionStatus.UNBOUNDED


def test_no_objective_ends_with_the_first_point():
    problem = dataclasses.replace(covering(), cost=np.zeros(90))
    outcome = gpu_bridge.solve(problem, method="mip", device="cpu")
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == 0.0


def test_a_start_is_used_whole_or_in_part():
    problem, _ = knapsack()
    best = gpu_bridge.solve(problem, method="highs", rel_gap=0.0)
    options = {**ALONE, "work_limit": 0.0}
    whole = gpu_bridge.solve(problem, device="cpu", start=Start(x=best.x), **options)
    assert whole.objective == best.objective
    assert "The start is feasible and was taken." in whole.log
    part = best.x.copy()
    part[20:] = np.nan
    partial = gpu_bridge.solve(problem, device="cpu", start=Start(x=part), **options)
    assert "The start was completed" in partial.log
    assert any(np.array_equal(entry.x[:20], best.x[:20]) for entry in partial.pool)


def test_a_start_that_is_not_feasible_is_mended():
    problem = covering()
    outcome = gpu_bridge.solve(
        problem, device="cpu", start=Start(x=np.zeros(90)), **{**ALONE, "work_limit": 0.0}
    )
    assert "not feasible as it stands" in outcome.log
    assert outcome.solution_status in (SolutionStatus.FEASIBLE, SolutionStatus.NOTHING)


def test_a_child_that_dies_leaves_the_heuristics_at_work(monkeypatch):
    def die(*_, **__):
        raise EngineError("the child is gone")

    monkeypatch.setattr(proof_stage.highs, "solve", die)
    problem = covering(rows=150, columns=400)
    outcome = gpu_bridge.solve(problem, method="mip", device="cpu", time_limit=4)
    assert "Branch and bound ended without an answer" in outcome.log
    assert outcome.solution_status is SolutionStatus.FEASIBLE


def test_a_child_that_runs_out_of_memory_leaves_the_heuristics_at_work(monkeypatch):
    def exhausted(*_, **__):
        return Outcome(SolutionStatus.NOTHING, StopReason.OUT_OF_MEMORY, engine="highs")

    monkeypatch.setattr(proof_stage.highs, "solve", exhausted)
    outcome = gpu_bridge.solve(
        covering(rows=150, columns=400), method="mip", device="cpu", time_limit=4
    )
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.stop_reason is StopReason.TIME_LIMIT


def test_a_heuristic_that_fails_is_left_out_and_the_rest_goes_on(monkeypatch):
    from solvers.mip.heuristics.local_search import heuristic

    def fail(*_, **__):
        raise ZeroDivisionError("made to fail")

    monkeypatch.setattr(heuristic, "walkers_on_cpu", fail)
    outcome = gpu_bridge.solve(covering(), device="cpu", **ALONE)
    assert "'local search' failed and is left out" in outcome.log
    assert outcome.solution_status is SolutionStatus.FEASIBLE


@pytest.mark.parametrize("deterministic", [False, True])
def test_with_one_thread_the_device_works_beside_it_unless_the_path_is_to_be_repeated(
    monkeypatch, deterministic
):
    from solvers.mip import heuristic_stage

    given = []
    monkeypatch.setattr(heuristic_stage, "_begin_on_devices", lambda *one: given.append(one))
    outcome = gpu_bridge.solve(
        covering(), method="mip", device="cpu", threads=1, heuristics_only=True, work_limit=0.02,
        deterministic=deterministic,
    )  # fmt: skip
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert len(given) == (0 if deterministic else 1)


def test_time_limit_zero_and_interruption():
    outcome = gpu_bridge.solve(covering(), method="mip", device="cpu", time_limit=0)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    progress = Progress()
    threading.Timer(1.5, progress.interrupt).start()
    options = EngineOptions(device="cpu", heuristics_only=True, presolve=False)
    answer = mip.solve(covering(200, 600), options, progress)
    assert answer.stop_reason is StopReason.INTERRUPTED
    assert isinstance(answer, Outcome)


@pytest.mark.parametrize(
    ("row_lower", "upper", "status"),
    [
        ([0.0], [3.0, 2.0, 1.0], SolutionStatus.OPTIMAL),
        ([1.0], [3.0, 2.0, 1.0], SolutionStatus.INFEASIBLE),
        ([0.0], [3.0, np.inf, 1.0], SolutionStatus.UNBOUNDED),
    ],
)
@pytest.mark.parametrize("heuristics_only", [False, True])
def test_without_coefficients_nothing_is_searched(heuristics_only, row_lower, upper, status):
    problem = Problem.from_arrays(
        [1.0, -2.0, 3.5], sp.csr_array((1, 3)), row_lower, upper=upper, integrality=True
    )
    outcome = gpu_bridge.solve(problem, method="mip", heuristics_only=heuristics_only)
    assert outcome.solution_status is status
    if status is SolutionStatus.OPTIMAL:
        assert outcome.objective == -4.0


def test_linear_programs_are_refused():
    with pytest.raises(OptionError, match="integer variables only"):
        gpu_bridge.solve(knapsack()[0].relaxation(), method="mip")


def test_whoever_ends_a_solve_gets_the_same_answer():
    from solvers.mip.context import SolveContext
    from solvers.mip.solve import _Schedule

    progress = Progress()
    solve = SolveContext(covering(), EngineOptions(device="cpu"), progress, None)
    schedule = _Schedule(solve)
    assert solve.incumbents.record(np.ones(90), "test")
    first = schedule.end()
    better = np.ones(90)
    better[int(np.argmin((covering().matrix.toarray() > 0).sum(axis=0)))] = 0.0
    assert not solve.incumbents.record(better, "late")
    assert schedule.end() is first
    assert first.objective == progress.best_objective
    schedule.close()


def test_a_thread_that_an_interruption_kept_from_starting_is_not_waited_for(monkeypatch):
    from solvers.mip.context import SolveContext

    solve = SolveContext(covering(), EngineOptions(device="cpu"), Progress(), None)

    def interrupted(self: threading.Thread) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            solve.spawn("heuristics", lambda: None)
    solve.wait_for_threads()
    assert not solve.anybody_works()
