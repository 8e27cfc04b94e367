"""Dives with costs once there is a point: due while the relaxation says that it is poor."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from solvers.mip.budget import Budget
from solvers.mip.heuristics.diving.heuristic import AT_ONCE, TURNS_AT_ONCE, ImprovingDive
from solvers.mip.heuristics.diving.linear import CHANGE, LinearDives, Relaxations
from solvers.mip.heuristics.diving.rules import RULES
from solvers.mip.inference.relaxation import root_relaxation
from solvers.mip.model import MipModel, is_feasible
from tests.mip.context_of import Taking, context_of
from tests.mip.inference.domain.models import INF, model_of


def covering(seed: int, rows: int = 30, columns: int = 40) -> MipModel:
    """Return a set covering with costs; all columns together are a point, and a poor one."""
    rng = np.random.default_rng(seed)
    matrix = (rng.random((rows, columns)) < 0.15).astype(float)
    matrix[np.arange(rows), rng.integers(columns, size=rows)] = 1.0
    cost = rng.integers(1, 20, columns).astype(float)
    return model_of(cost, matrix, 1.0, INF, lower=0.0, upper=1.0, integrality=True)


def with_poor_point(seed: int, has_root: bool = True):
    context = context_of(covering(seed))
    assert context.acceptance.submit(np.ones(context.model.num_columns), "all of them")
    if has_root:
        context.relaxation = root_relaxation(context.model, Budget(work=1e9))
        assert context.relaxation.basis is not None
    return context


@pytest.mark.parametrize("seed", range(3))
def test_a_poor_point_is_improved(seed):
    context = with_poor_point(seed)
    turns = Taking(ImprovingDive, context)
    assert turns.share() == AT_ONCE
    turns.run(Budget(work=3e7), 0)
    best = context.acceptance.pool.best
    assert best is not None
    assert best.source == "linear dive"
    assert context.relaxation is not None
    assert best.objective <= 1.3 * context.relaxation.objective
    assert turns.share() < AT_ONCE


def test_they_are_due_nothing_without_a_point_a_relaxation_or_a_gap():
    context = with_poor_point(0, has_root=False)
    assert Taking(ImprovingDive, context).share() == 0.0
    empty = context_of(covering(0))
    empty.relaxation = root_relaxation(empty.model, Budget(work=1e9))
    assert Taking(ImprovingDive, empty).share() == 0.0
    # a row that makes the relaxation whole
    whole = context_of(model_of([1.0, 2.0], [[1.0, 1.0]], 1.0, INF, upper=1.0, integrality=True))
    whole.relaxation = root_relaxation(whole.model, Budget(work=1e9))
    assert whole.acceptance.submit(np.array([1.0, 0.0]), "by hand")
    assert Taking(ImprovingDive, whole).share() == 0.0


def test_a_first_dive_that_takes_long_is_not_due_most_for_ever():
    context = with_poor_point(1)
    turns = Taking(ImprovingDive, context)
    for _ in range(TURNS_AT_ONCE):
        turns.run(Budget(work=1.0), 0)
    assert 0.0 < turns.share() < AT_ONCE


def test_no_point_above_the_cutoff_is_offered():
    model = covering(2)
    context = context_of(model)
    limit = 1.5 * root_relaxation(model, Budget(work=1e9)).objective
    found: list[float] = []

    def submit(x, source):
        assert is_feasible(model, model.rounded(x))
        found.append(model.objective_at(x))
        return True

    def cutoff() -> float:
        return min([limit, *found])

    dives = LinearDives(model, context.domain, submit, lambda x, rows: None, 0, cutoff=cutoff)
    dives.run(Budget(work=1e8))
    assert found
    assert found[0] < limit
    assert all(b < a for a, b in itertools.pairwise(found))


def test_later_dives_have_costs_that_are_somewhat_changed():
    model = covering(3)
    relaxations = Relaxations(model, 0, lambda: None, for_costs=True)
    for _ in RULES:
        relaxations.begin()
        np.testing.assert_array_equal(relaxations.cost, model.cost)
    relaxations.begin()
    ratio = relaxations.cost / model.cost
    assert np.all(np.abs(ratio - 1.0) <= CHANGE)
    assert np.ptp(ratio) > 0.5 * CHANGE
