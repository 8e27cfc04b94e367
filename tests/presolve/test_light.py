"""The light presolve: every reduction by hand, and the way back and forth on random problems."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from hypothesis import given, settings

import gpu_bridge
from solvers import presolve
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, PoolSolution, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs import solve
from solvers.presolve import light
from solvers.presolve.light import workspace as steps
from tests.cases import through
from tests.highs.kkt import assert_basis, assert_farkas, assert_optimal_lp
from tests.highs.models import covering, packing, transport
from tests.locations import DATA
from tests.pdlp.lps import random_lp
from tests.problems import INTEGER, LINEAR
from tests.properties.strategies import problems

INF = np.inf
PLAIN = EngineOptions(presolve=False)


def reduced_and_back(problem: Problem) -> Outcome:
    reduction = light.apply(problem, Progress())
    if reduction.settled is not None:
        return reduction.settled
    return reduction.undo(solve(reduction.problem, PLAIN, Progress()))


def shape(problem: Problem) -> tuple[int, int]:
    return problem.num_rows, problem.num_columns


def lp(*args: object, **more: object) -> Problem:
    return Problem.from_arrays(*args, **more)  # type: ignore[arg-type]


BY_HAND = [
    ("empty row", lp([1, 1, 1], [[0, 0, 0], [1, 2, 3]], [-1, 2], [1, 4]), {steps.REDUNDANT_ROW}),
    ("empty column", lp([-1], upper=3.0), {steps.FIXED_COLUMN}),
    ("singleton row", lp([1, 1], [[2, 0], [1, 2], [2, 1]], [2, 3, 3]), {steps.SINGLETON_ROW}),
    (
        "forcing row",
        lp([-1, -2, 1], [[1, 1, 0], [1, 1, 1]], [-INF, 3], [0, INF], upper=5.0),
        {steps.FORCING_ROW},
    ),
    ("redundant row", lp([-1, -1], [[1, 2], [2, 1]], row_upper=[9, 3], upper=2.0), {0}),
    (
        "free substitution",
        lp([1, 2, 1], [[1, 1, -1], [1, 3, 0]], [2, 3], [2, INF], lower=[0, 0, -INF]),
        {steps.ABSORBED_AT_LOWER},
    ),
    (
        "slack with a bound",
        lp([3, 2, 0], [[1, 2, 1], [2, 1, 0]], [4, 3], [4, INF], upper=[9, 9, 1]),
        {steps.ABSORBED_AT_LOWER},
    ),
    (
        "slack without a cost",
        lp([3, 2, 0], [[1, 2, 1], [2, 1, 0]], [4, 3], [6, INF], upper=[9, 9, 1]),
        {steps.ABSORBED_BETWEEN},
    ),
    (
        "slack that reaches the upper side",
        lp([1, 1, -1], [[1, 1, 1], [2, -1, 0]], [-INF, 1], [6, INF], lower=[0, 0, -INF]),
        {steps.ABSORBED_AT_UPPER},
    ),
    ("receding column", lp([1, 1, 0], [[1, 2, 1], [2, 1, 0]], [4, 3]), {steps.RECEDING_COLUMN}),
    (
        "parallel rows",
        lp([1, 2], [[1, 2], [-2, -4], [3, 1]], [1, -INF, 3], [INF, -5, INF], upper=3.0),
        {steps.PARALLEL_ROW},
    ),
    (
        "parallel columns",
        lp([1, 2, 3], [[1, 2, 3], [2, 4, 1]], [4, 3], upper=[1, 1, 9]),
        {steps.PARALLEL_COLUMN},
    ),
    (
        "dearer parallel column",
        lp([1, 3, 3], [[1, 2, 3], [2, 4, 1]], [4, 3]),
        {steps.FIXED_COLUMN},
    ),
]


@through(("name", "problem", "kinds"), BY_HAND)
def test_each_reduction_is_found_and_undone(name, problem, kinds):
    workspace = steps.begin(problem, 10**6)
    light._reduce(workspace, Progress())
    assert kinds <= set(workspace.kind[: workspace.count[steps.STEPS]].tolist()), name
    outcome = reduced_and_back(problem)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve(problem, PLAIN, Progress()).objective)
    assert_optimal_lp(problem, outcome)
    if outcome.basis is not None:
        assert_basis(problem, outcome)


@through("case", LINEAR)
def test_every_case_keeps_its_answer(case):
    outcome = reduced_and_back(case.problem)
    assert outcome.solution_status is case.status
    if case.status is SolutionStatus.OPTIMAL:
        sign = -1 if case.problem.maximize else 1
        assert sign * outcome.objective == pytest.approx(case.objective, abs=1e-7)
        assert_optimal_lp(case.problem, outcome)


@given(problems())
@settings(max_examples=400)
def test_undoing_an_optimal_solution_passes_the_original_conditions(problem):
    outcome = reduced_and_back(problem)
    expected = solve(problem, PLAIN, Progress())
    assert outcome.solution_status is expected.solution_status
    if outcome.solution_status is SolutionStatus.OPTIMAL:
        assert outcome.objective == pytest.approx(expected.objective, abs=1e-7)
        assert_optimal_lp(problem, outcome)
        assert_basis(problem, outcome)


@through("seed", range(12))
def test_sparse_problems_of_every_kind_come_back(seed):
    problem = random_lp(seed, 40, 60, density=0.06)
    reduction = light.apply(problem, Progress())
    assert sum(shape(reduction.problem)) < sum(shape(problem))
    outcome = reduced_and_back(problem)
    assert_optimal_lp(problem, outcome)
    assert_basis(problem, outcome)
    assert outcome.objective == pytest.approx(solve(problem, PLAIN, Progress()).objective)


@given(problems())
@settings(max_examples=150)
def test_what_came_back_goes_forward_to_where_it_was(problem):
    reduction = light.apply(problem, Progress())
    if reduction.settled is not None:
        return
    small = reduction.problem
    generator = np.random.default_rng(small.num_columns)
    x = np.clip(generator.uniform(-3, 3, small.num_columns), small.lower, small.upper)
    y = generator.uniform(-3, 3, small.num_rows)
    point = Outcome(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, x=x, row_dual=y)
    back = reduction.undo(point)
    again = reduction.forward(Start(back.x, back.row_dual))
    np.testing.assert_allclose(again.x, x, atol=1e-9)
    np.testing.assert_allclose(again.row_dual, y, atol=1e-9)


def test_unknown_values_stay_unknown_on_the_way_forward():
    problem = random_lp(3, 40, 60, density=0.06)
    reduction = light.apply(problem, Progress())
    start = reduction.forward(Start(np.full(60, np.nan), None))
    assert start.row_dual is None
    assert start.x.shape == (reduction.problem.num_columns,)
    assert np.isnan(start.x).all()


@given(problems())
@settings(max_examples=200)
def test_rays_come_back(problem):
    reduction = light.apply(problem, Progress())
    if reduction.settled is not None:
        if reduction.settled.solution_status is SolutionStatus.INFEASIBLE:
            assert_farkas(problem, reduction.settled.dual_ray)
        return
    outcome = solve(reduction.problem, PLAIN, Progress())
    back = reduction.undo(outcome)
    if outcome.dual_ray is not None and proves_infeasible(reduction.problem, outcome.dual_ray):
        assert back.solution_status is SolutionStatus.INFEASIBLE
        assert_farkas_or_dominated(problem, back.dual_ray)
    if outcome.primal_ray is not None and proves_unbounded(reduction.problem, outcome.primal_ray):
        assert proves_unbounded(problem, back.primal_ray)


def assert_farkas_or_dominated(problem: Problem, ray: np.ndarray) -> None:
    """A ray need not hold where a column was fixed because of its cost: infeasible it is still."""
    if not proves_infeasible(problem, ray):
        assert solve(problem, PLAIN, Progress()).solution_status is SolutionStatus.INFEASIBLE


def test_a_contradiction_is_settled_with_its_ray():
    problem = lp([1, 1, 0], [[1, 0, 0], [1, 1, 1]], [3, -INF], [INF, 2])
    reduction = light.apply(problem, Progress())
    assert reduction.settled.solution_status is SolutionStatus.INFEASIBLE
    assert_farkas(problem, reduction.settled.dual_ray)
    assert reduction.problem is problem


def test_a_long_chain_of_reductions_leaves_nothing():
    n = 200
    A = np.eye(n) - np.diag(np.ones(n - 1), -1)
    problem = lp(np.ones(n), A, np.ones(n), np.ones(n))
    settled = light.apply(problem, Progress()).settled
    assert_optimal_lp(problem, settled)
    np.testing.assert_allclose(settled.x, np.arange(1, n + 1))


@pytest.mark.parametrize(
    "problem",
    [covering(60, 40), packing(30, 60), transport(8, 9)],
    ids=["covering", "packing", "transport"],
)
@pytest.mark.parametrize("kind", ["light", "both"])
def test_duals_come_back_through_every_kind(problem, kind):
    reduction = presolve.apply(problem, Progress(), kind)
    outcome = reduction.settled
    if outcome is None:
        outcome = reduction.undo(solve(reduction.problem, PLAIN, Progress()))
    assert_optimal_lp(problem, outcome)


@pytest.mark.parametrize("seed", range(4))
def test_simplex_has_nothing_to_do_from_the_basis_that_came_back(seed):
    problem = random_lp(seed, 60, 80, density=0.05)
    basis = reduced_and_back(problem).basis
    again = solve(problem, PLAIN, Progress(), Start(basis=basis))
    assert again.statistics["simplex_iterations"] == 0


def test_both_settle_in_the_original_space():
    problem = lp([1, 1], [[1, 1], [1, 0]], [2, 1])
    settled = presolve.apply(problem, Progress(), "both").settled
    assert settled.x.shape == (2,)


def test_a_chain_goes_forward_only_where_all_of_it_does():
    problem = random_lp(1, 40, 60, density=0.06)
    assert presolve.apply(problem, Progress(), "light").forward is not None
    assert presolve.apply(problem, Progress(), "both").forward is None
    assert presolve.apply(problem, Progress(), "none").problem is problem
    with pytest.raises(ValueError, match="'fast'"):
        presolve.apply(problem, Progress(), "fast")


@pytest.mark.parametrize("case", INTEGER[:1], ids=str)
def test_integer_problems_stay_themselves(case):
    assert light.apply(case.problem, Progress()).problem is case.problem


def test_without_time_the_first_passes_are_all():
    problem = random_lp(2, 40, 60, density=0.06)
    outcome = light.apply(problem, Progress(0.0))
    assert outcome.problem.num_columns <= problem.num_columns


def test_points_short_of_optimal_and_pools_come_back():
    problem = random_lp(5, 40, 60, density=0.06)
    reduction = light.apply(problem, Progress())
    x = solve(reduction.problem, PLAIN, Progress()).x
    point = Outcome(
        SolutionStatus.NOTHING,
        StopReason.TIME_LIMIT,
        candidate=x,
        pool=(PoolSolution(x, 0.0, 0.0, "test"),),
    )
    back = reduction.undo(point)
    assert back.x is None
    np.testing.assert_array_equal(back.candidate, back.pool[0].x)
    assert back.candidate.shape == (60,)


def test_a_long_row_is_not_looked_at_for_each_of_its_columns():
    """Of columns that might be its slack the last is, once the others have left."""
    leaving, possible, entries = 2_000, 400, 2_401
    cost = np.repeat([-1.0, 1.0, -1.0], [possible, leaving, 1])
    upper = np.repeat([2.0 / possible, 1.0, 5.0], [possible, leaving, 1])
    problem = Problem.from_arrays(cost, np.ones((1, entries)), -INF, 4.0, upper=upper)
    workspace = steps.begin(problem, 10**9)
    light._reduce(workspace, Progress())
    kinds = workspace.kind[: workspace.count[steps.STEPS]].tolist()
    assert kinds.count(steps.FIXED_COLUMN) == possible + leaving
    assert kinds.count(steps.ABSORBED_AT_UPPER) == 1
    assert workspace.count[steps.WORK] < 20 * entries
    answer = reduced_and_back(problem)
    assert answer.x is not None
    assert problem.objective_at(answer.x) == pytest.approx(-4.0)


def test_work_is_limited():
    problem = random_lp(2, 40, 60, density=0.2)
    workspace = steps.begin(problem, 0)
    light._reduce(workspace, Progress())
    spent = int(workspace.count[steps.WORK])
    unlimited = steps.begin(problem, 10**9)
    light._reduce(unlimited, Progress())
    assert spent < int(unlimited.count[steps.WORK])


@pytest.mark.parametrize("seed", range(8))
def test_any_number_of_threads_removes_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_lp(seed, 60, 90, density=0.05)
    twice = np.arange(problem.num_columns).repeat(2)
    both = Problem.from_arrays(
        problem.cost[twice],
        problem.matrix[:, twice],
        problem.row_lower,
        problem.row_upper,
        lower=0.5 * problem.lower[twice],
        upper=0.5 * problem.upper[twice],
    )
    alone = light.apply(both, Progress(), threads=1).problem
    monkeypatch.setattr(light, "threads_for", lambda work, threads: threads)
    shared = light.apply(both, Progress(), threads=3).problem
    assert alone.num_columns < both.num_columns
    assert shared.matrix.toarray().tolist() == alone.matrix.toarray().tolist()
    for name in ("cost", "lower", "upper", "row_lower", "row_upper"):
        assert getattr(shared, name).tolist() == getattr(alone, name).tolist()


def test_a_large_model_stays_as_it_is_where_little_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = random_lp(4, 60, 90)
    left = light._remove(problem, Progress()).problem

    def work(one: Problem) -> int:
        return one.num_nonzeros + light.OWNER_ENTRIES * sum(shape(one))

    saved = 1.0 - work(left) / work(problem)
    assert saved > 0.0
    monkeypatch.setattr(light, "COPY_NONZEROS", problem.num_nonzeros)
    for share, stays in ((0.9, False), (1.1, True)):
        monkeypatch.setattr(light, "WORTH_A_COPY", share * saved)
        assert (light._remove(problem, Progress()).problem is problem) == stays


def test_only_substitution_changes_coefficients_and_it_adds_none():
    problem = random_lp(7, 40, 60, density=0.08)
    removed = light._remove(problem, Progress()).problem
    assert set(removed.matrix.data.tolist()) <= set(problem.matrix.data.tolist())
    assert light.apply(problem, Progress()).problem.num_nonzeros < removed.num_nonzeros


def test_numbers_that_grow_beyond_all_that_is_finite_are_not_taken_for_a_contradiction() -> None:
    # the second column goes to its bound, and what is left of the row to beyond 1e20
    problem = Problem.from_arrays(
        [6.0, 3.0],
        [[1.0, 9.0]],
        row_upper=[0.0],
        lower=[-np.inf, -np.inf],
        upper=[np.inf, 9.9e19],
    )
    reduction = light.apply(problem, Progress())
    assert reduction.problem is problem
    assert reduction.settled is None


def test_the_way_back_holds_nothing_of_what_is_left() -> None:
    problem = gpu_bridge.read(DATA / "adlittle.mps.gz")
    reduction = light.apply(problem, Progress())
    assert 0 < reduction.problem.num_columns < problem.num_columns
    left, undo = weakref.ref(reduction.problem), reduction.undo
    del reduction
    assert left() is None
    assert undo is not None
