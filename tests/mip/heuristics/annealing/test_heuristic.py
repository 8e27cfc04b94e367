"""Swap moves as the schedule sees them."""

from __future__ import annotations

import numpy as np

from solvers.mip.heuristics.annealing.heuristic import GroupAnnealing
from solvers.mip.portfolio.budget import Budget
from tests.mip.context_of import Taking, context_of
from tests.mip.heuristics.annealing.squares import placing
from tests.mip.inference.domain.models import model_of


def test_they_are_due_until_there_is_a_point():
    context = context_of(placing(16, 3, seed=0))
    turns = Taking(GroupAnnealing, context)
    assert turns.share() > 0.0
    turns.run(Budget(work=1e8), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.source == "swap moves"
    assert turns.share() == 0.0


def test_a_search_goes_on_from_turn_to_turn():
    context = context_of(placing(25, 6, seed=1))
    turns = Taking(GroupAnnealing, context)
    for _ in range(1000):
        turns.run(Budget(work=2e5), 0)
        if context.has_point:
            break
    assert context.has_point


def test_models_without_groups_are_over_at_the_first_turn():
    rng = np.random.default_rng(0)
    model = model_of(
        np.ones(6), rng.integers(0, 3, (4, 6)), 0.0, 5.0, lower=0.0, upper=1.0, integrality=True
    )
    turns = Taking(GroupAnnealing, context_of(model))
    turns.run(Budget(work=1e6), 0)
    assert turns.share() == 0.0


def test_columns_that_equations_define_are_left_out_where_that_leaves_groups():
    inner = placing(10, 0, seed=3)
    n = inner.num_columns
    number = np.tile(np.arange(1.0, 11.0), 10)
    define = np.zeros((10, n + 10))  # what stands in each place
    for place in range(10):
        own = slice(10 * place, 10 * (place + 1))
        define[place, own] = number[own]
        define[place, n + place] = -1.0
    total = np.zeros((1, n + 10))
    total[0, n : n + 4] = 1.0
    matrix = np.vstack(
        [np.hstack([inner.problem.matrix.toarray(), np.zeros((20, 10))]), define, total]
    )
    side = np.r_[np.ones(20), np.zeros(10), 22.0]
    model = model_of(
        np.zeros(n + 10),
        matrix,
        side,
        side,
        lower=0.0,
        upper=np.r_[np.ones(n), np.full(10, 10.0)],
        integrality=True,
    )
    context = context_of(model)
    Taking(GroupAnnealing, context).run(Budget(work=1e8), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert best.x[n : n + 4].sum() == 22.0
