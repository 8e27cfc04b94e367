"""Walkers on the CPU: what they submit, restarts, awkward shapes, and the budget."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.run import MOST_SCORED, WalkerCounts, walkers_on_cpu
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.incumbents import Found, InfeasiblePoints, Pool
from tests.mip.heuristics.local_search.cases import model_of
from tests.mip.heuristics.local_search.models import (
    INF,
    assignment,
    best_by_enumeration,
    knapsack,
    lot_sizing,
    model,
    random_model,
    set_cover,
)


def gathered(
    found: MipModel, work: float = 3e6, seed: int = 0, turns: int = 1, **more: object
) -> tuple[Pool, WalkerCounts, list[FloatArray]]:
    """Walk, keep what is feasible in a pool, and list all that was submitted."""
    pool, submitted = Pool(8, found.integers), []

    def submit(x: FloatArray, source: str) -> bool:
        assert source == "local search"
        submitted.append(x.copy())
        if not is_feasible(found, x):
            return False
        return pool.add(Found(x.copy(), found.objective_at(x), 0.0, source))

    walkers = walkers_on_cpu(found, submit, seed, pool=pool, **more)  # type: ignore[arg-type]
    for _ in range(turns):
        walkers.run(Budget(work=work / turns))
    return pool, walkers.counts, submitted


@pytest.mark.parametrize("seed", range(4))
def test_small_optima_are_reached(seed):
    for found in (knapsack(seed), set_cover(seed)):
        pool, _, _ = gathered(found, seed=seed)
        assert pool.objective == best_by_enumeration(found)


@pytest.mark.parametrize("seed", range(3))
def test_assignments_are_improved_by_exchanges(seed):
    found, cost = assignment(seed)
    rows, columns = linear_sum_assignment(cost)
    pool, _, _ = gathered(found, work=5e6)
    assert pool.objective == pytest.approx(cost[rows, columns].sum())


def test_pairs_walk_on_balance_equations():
    pool, _, _ = gathered(lot_sizing(), work=5e6)
    assert pool.objective < INF


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_pure_integer_models_are_offered_feasible_points_only(seed, feasible):
    found = random_model(seed, feasible=feasible)
    if found.integers.size < found.num_columns:
        return
    _, counts, submitted = gathered(found, work=1e5)
    assert counts.infeasible_points == 0
    assert all(is_feasible(found, x) for x in submitted)


def test_the_same_seed_and_turns_offer_the_same_points():
    found = lot_sizing()
    runs = [gathered(found, seed=5, turns=3) for _ in range(2)]
    assert runs[0][1].moves == runs[1][1].moves
    assert len(runs[0][2]) == len(runs[1][2]) > 0
    for one, two in zip(runs[0][2], runs[1][2], strict=True):
        assert np.array_equal(one, two)


def test_an_infeasible_model_ends_when_the_budget_is_spent():
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    shown = InfeasiblePoints()
    pool, counts, submitted = gathered(found, work=2e6, infeasible_points=shown)
    assert len(pool) == 0
    assert submitted == []
    assert counts.rounds >= 1
    assert {one.violated_rows for one in shown.points()} == {1}


def test_a_point_that_only_an_lp_completes_is_offered():
    # equations hold a chain of 40 continuous columns that no walk of few steps closes
    size = 40
    A = np.zeros((size, size + 1))
    A[np.arange(size), np.arange(size)] = 1.0
    A[np.arange(1, size), np.arange(size - 1)] = -0.9
    A[0, size] = 1e-5
    found = model(np.ones(size + 1), A, 1.0, 1.0, upper=100.0, integrality=[False] * size + [True])
    _, counts, submitted = gathered(found, work=3e7)
    assert submitted
    assert counts.infeasible_points > 0 or counts.found > 0


def test_walkers_go_on_from_what_others_have_found():
    found = knapsack(4)
    optimum = best_by_enumeration(found)
    pool = Pool(4, found.integers)
    pool.add(Found(np.zeros(found.num_columns), 0.0, 0.0, "other"))
    seen: list[float] = []

    def submit(x: FloatArray, source: str) -> bool:
        seen.append(found.objective_at(x))
        return pool.add(Found(x.copy(), seen[-1], 0.0, source))

    walkers_on_cpu(found, submit, 0, pool=pool).run(Budget(work=2e6))
    assert pool.objective == optimum
    assert max(seen) < 0.0


def test_a_row_of_a_hundred_thousand_columns():
    columns = 100_000
    found = model(
        np.arange(1.0, columns + 1), np.ones((1, columns)), 50, 50, upper=1.0, integrality=True
    )
    pool, _, _ = gathered(found, work=2e7)
    assert pool.objective < 50 * columns / 2


@pytest.mark.parametrize("whole", [False, True])
def test_a_long_equation_is_kept_by_the_column_that_depends_on_the_others(whole):
    rng = np.random.default_rng(0)
    size = 5000
    A = np.zeros((51, size + 1))
    A[0, :size], A[0, size] = rng.integers(1, 9, size), -1.0
    A[1 + np.arange(size) % 50, np.arange(size)] = 1.0
    found = model(
        np.append(np.zeros(size), 1.0), A, [0] + [3] * 50, [0] + [4] * 50,
        upper=np.append(np.ones(size), 1e5), integrality=[True] * size + [whole],
    )  # fmt: skip
    pool, _, _ = gathered(found, work=4e6)
    assert pool.objective < 51 * 4 * 9


def test_integers_without_bounds_walk_far():
    found = model(
        [0, 0], [[1, 0], [1, 1]], [5e7, 0], [INF, 0], lower=-INF, upper=INF, integrality=True
    )
    pool, counts, _ = gathered(found, work=1e9)
    assert pool.best is not None
    assert pool.best.x[0] >= 5e7
    assert counts.visited < 1e7  # nothing is left to improve


@pytest.mark.parametrize(
    ("found", "best"),
    [
        (model([-1.0], [[0.0], [2.0]], [-INF, 1], [INF, 7], upper=9.0, integrality=True), -3.0),
        (model([1.0], [[1.0]], [2], lower=2.0, upper=2.0, integrality=True), 2.0),
        (model([0.0, 0.0], None, upper=3.0, integrality=True), 0.0),
    ],
)
def test_odd_shapes(found, best):
    pool, _, _ = gathered(found, work=5e5)
    assert pool.objective == best


@pytest.mark.parametrize("budget", [Budget(work=1.0), Budget(seconds=60.0)], ids=["work", "clock"])
def test_a_slice_scores_only_so_much_where_a_step_scores_every_entry(budget, monkeypatch):
    monkeypatch.setattr(Budget, "spent", lambda self: walkers.counts.slices > 0)
    rng = np.random.default_rng(0)
    matrix = sp.csr_matrix(rng.integers(1, 10, size=(50_000, 20)).astype(float))
    long_columns = model_of(-np.ones(20), matrix, -INF, np.full(50_000, 50.0))
    walkers = walkers_on_cpu(long_columns, lambda x, source: False, 0)
    visited = walkers.run(budget).visited
    assert 0.0 < visited <= 4.0 * MOST_SCORED  # a step scores some entries several times
