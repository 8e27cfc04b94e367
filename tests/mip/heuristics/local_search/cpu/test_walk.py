"""What a thread runs: submits, the pool, restarts, and the budget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.problem import FloatArray
from solvers.mip.budget import Budget
from solvers.mip.heuristics.local_search.cpu.walk import Counts, walk
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.solutions.incumbents import Found, Pool
from tests.mip.heuristics.local_search.cpu.models import (
    best_by_enumeration,
    knapsack,
    lot_sizing,
    model,
    random_model,
    set_cover,
)


def gathered(found: MipModel, **more: object) -> tuple[Pool, Counts, list[FloatArray]]:
    """Walk, keep what is feasible in a pool, and list all that was submitted."""
    pool, submitted = Pool(8, found.integers), []
    budget = Budget(work=float(more.pop("work", 3e6)))  # type: ignore[arg-type]

    def submit(x: FloatArray, source: str) -> bool:
        submitted.append(x.copy())
        if not is_feasible(found, x):
            return False
        return pool.add(Found(x.copy(), found.objective_at(x), 0.0, source))

    counts = walk(found, submit, budget, int(more.pop("seed", 0)), pool=pool, **more)  # type: ignore
    return pool, counts, submitted


@pytest.mark.parametrize("seed", range(6))
def test_small_optima_are_reached_whatever_the_first_style(seed):
    for found in (knapsack(seed), set_cover(seed)):
        pool, _, _ = gathered(found, seed=seed)
        assert pool.objective == best_by_enumeration(found)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_pure_integer_models_are_offered_feasible_points_only(seed):
    found = random_model(seed)
    if found.integers.size < found.num_columns:
        return
    _, counts, submitted = gathered(found, work=1e5)
    assert counts.infeasible_points == 0
    assert all(is_feasible(found, x) for x in submitted)


def test_the_same_seed_offers_the_same_points():
    found = lot_sizing()
    runs = [gathered(found, seed=5) for _ in range(2)]
    assert runs[0][1] == runs[1][1]
    assert len(runs[0][2]) == len(runs[1][2]) > 0
    for one, two in zip(runs[0][2], runs[1][2], strict=True):
        assert np.array_equal(one, two)


def test_an_infeasible_model_ends_when_the_budget_is_spent():
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    pool, counts, submitted = gathered(found, work=2e6)
    assert len(pool) == 0
    assert submitted == []
    assert counts.fewest_violated == 1
    assert 1e6 < counts.work <= 2.1e6


def test_without_an_objective_the_first_point_ends_the_walk():
    found = random_model(1)
    free = model(
        np.zeros(found.num_columns), found.problem.matrix, found.row_lower, found.row_upper,
        lower=found.lower, upper=found.upper, integrality=found.is_integer == 1,
    )  # fmt: skip
    pool, counts, _ = gathered(free, work=1e9)
    assert len(pool) == 1
    assert counts.work < 1e9


def test_nearly_feasible_points_are_handed_out():
    found = model([1, 1], [[2, 2]], [3], [3], upper=5.0, integrality=True)
    handed: list[tuple[FloatArray, int]] = []
    gathered(found, work=2e7, show_infeasible=lambda x, violated: handed.append((x, violated)))
    assert handed
    assert all(violated == 1 for _, violated in handed)


def test_a_point_that_only_an_lp_completes_is_offered():
    # two equations hold a chain of 40 continuous columns that no walk of few steps closes
    size = 40
    A = np.zeros((size, size + 1))
    A[np.arange(size), np.arange(size)] = 1.0
    A[np.arange(1, size), np.arange(size - 1)] = -0.9
    A[0, size] = 1e-5
    found = model(np.ones(size + 1), A, 1.0, 1.0, upper=100.0, integrality=[False] * size + [True])
    _, counts, submitted = gathered(found, work=3e7)
    assert submitted
    assert counts.infeasible_points > 0 or counts.found > 0


def test_a_walk_goes_on_from_what_others_have_found():
    found = knapsack(4)
    optimum = best_by_enumeration(found)
    pool = Pool(4, found.integers)
    pool.add(Found(np.zeros(found.num_columns), 0.0, 0.0, "other"))
    seen: list[float] = []

    def submit(x: FloatArray, source: str) -> bool:
        seen.append(found.objective_at(x))
        return pool.add(Found(x.copy(), seen[-1], 0.0, source))

    walk(found, submit, Budget(work=2e6), 0, pool=pool)
    assert pool.objective == optimum
    assert max(seen) < 0.0
