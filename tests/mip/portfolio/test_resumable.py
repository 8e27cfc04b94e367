"""When the heuristics that go on from turn to turn are due."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.heuristics.large_neighbourhood import Mending
from solvers.mip.portfolio.budget import Budget
from solvers.mip.portfolio.resumable import (
    FEW_VIOLATED,
    MEND_SHARE,
    QUICK_MEND_SHARE,
    SLOW_MEND_SHARE,
    LatticeTurns,
    MendTurns,
    RootTurn,
)
from tests.mip.context_of import context_of
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of


def mending_of(violated):
    context = context_of(schedule(0))
    root = RootTurn(context)
    mends = MendTurns(context, root)
    context.acceptance.infeasible_points(np.zeros(context.model.num_columns), violated)
    return context, root, mends


def test_points_that_violate_little_are_mended_before_the_relaxation():
    _, root, mends = mending_of(FEW_VIOLATED)
    assert not root.is_over
    assert mends.share() == MEND_SHARE


def test_points_that_violate_much_are_mended_after_the_relaxation():
    context, root, mends = mending_of(FEW_VIOLATED + 1)
    assert mends.share() == 0.0
    root.work(Budget(), 0)
    assert context.root is not None
    assert mends.share() == MEND_SHARE


@pytest.mark.parametrize(
    ("is_getting_on", "share"), [(True, QUICK_MEND_SHARE), (False, SLOW_MEND_SHARE)]
)
def test_mending_is_due_more_while_less_and_less_is_violated(monkeypatch, is_getting_on, share):
    def run(self, points, budget, seed):
        self.is_getting_on = is_getting_on
        return False

    monkeypatch.setattr(Mending, "run", run)
    _, _, mends = mending_of(3)
    assert mends.share() == MEND_SHARE
    mends.work(Budget(work=1e6), 0)
    assert mends.share() == share


def test_a_relaxation_that_fails_is_over_too(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no relaxation")

    monkeypatch.setattr("solvers.mip.portfolio.resumable.root_relaxation", fail)
    context, root, mends = mending_of(FEW_VIOLATED + 1)
    with pytest.raises(RuntimeError, match="no relaxation"):
        root.work(Budget(), 0)
    assert context.root is None
    assert mends.share() == MEND_SHARE


def test_equations_that_only_define_columns_take_no_lattice():
    """Two columns that are sums of others: a lattice would suit, but there is nothing to solve."""
    defining = np.hstack([np.ones((2, 3)), -np.eye(2)])
    defining[1, 0] = 2.0
    context = context_of(
        model_of(np.ones(5), defining, np.zeros(2), np.zeros(2), 0.0, np.full(5, 9.0), True)
    )
    turns = LatticeTurns(context, lambda: 8.0)
    assert turns.share() == 8.0
    turns.work(Budget(work=1e6), 0)
    assert turns.share() == 0.0


def test_equations_that_define_nothing_are_solved_in_a_lattice():
    """3x + 5y + 7z = 23 leaves no column whole by itself."""
    row = np.array([[3.0, 5.0, 7.0]])
    context = context_of(
        model_of(np.ones(3), row, np.array([23.0]), np.array([23.0]), 0.0, np.full(3, 9.0), True)
    )
    LatticeTurns(context, lambda: 8.0).work(Budget(work=1e7), 0)
    best = context.acceptance.incumbents.pool.best
    assert best is not None
    assert row @ best.x == pytest.approx(23.0)
