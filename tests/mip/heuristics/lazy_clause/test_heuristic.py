"""Turns of the clause search within a solve: what they find and prove, and when they are over."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.outcome import SolutionStatus
from solvers.mip.budget import Budget
from solvers.mip.heuristics.lazy_clause.clause_search import LazyClause
from solvers.mip.portfolio.heuristic import HeuristicContext
from tests.mip.context_of import Taking, bounds_of, context_of
from tests.mip.heuristics.lazy_clause.enumerated import feasible_points, small_model
from tests.mip.inference.domain.models import model_of


def through(context: HeuristicContext) -> list[float]:
    """Give turns until nothing is left; return what was said to be proven."""
    search = Taking(LazyClause, context)
    for number in range(200):
        if search.share() == 0.0:
            return [bound for bound, _ in bounds_of(context)]
        search.run(Budget(work=1e5), number)
    raise AssertionError("the search did not come to its end")


@pytest.mark.parametrize("kind", ["binary", "general", "decimal"])
def test_the_optimum_is_found_and_proven_and_no_bound_is_above_it(kind):
    tried = 0
    for seed in range(20):
        model = small_model(seed, kind)
        points = feasible_points(model)
        if not len(points) or not np.any(model.cost):
            continue
        context = context_of(model)
        told = through(context)
        optimum = min(model.objective_at(x) for x in points)
        assert context.acceptance.pool.objective == pytest.approx(optimum)
        assert told[-1] == pytest.approx(optimum, abs=1e-6)
        assert all(bound <= optimum + 1e-9 for bound in told)
        context.acceptance.close()
        tried += 1
    assert tried >= 5


def test_points_of_others_are_to_be_beaten():
    # at least two of three columns are due, and their sum is the objective
    model = model_of([1, 1, 1], [[1, 1, 0], [0, 1, 1], [1, 0, 1]], 1, 2, upper=1, integrality=True)
    context = context_of(model)
    assert context.acceptance.submit(np.array([1.0, 1.0, 0.0]), "another")
    told = through(context)
    assert len(context.acceptance.pool) == 1
    assert told[-1] == pytest.approx(2.0)
    context.acceptance.close()


def test_what_no_point_keeps_is_said_to_be_infeasible():
    somewhere, alone = np.kron(np.eye(4), np.ones(3)), np.kron(np.ones(4), np.eye(3))
    model = model_of(
        np.ones(12),
        np.vstack([somewhere, alone]),
        np.append(np.ones(4), np.zeros(3)),
        np.append(np.full(4, 3.0), np.ones(3)),
        upper=1,
        integrality=True,
    )
    context = context_of(model)
    told = through(context)
    settled = context.solve.settled
    assert settled is not None
    assert settled.solution_status is SolutionStatus.INFEASIBLE
    assert not told
    context.acceptance.close()


def test_with_rounding_errors_nothing_is_said():
    model = model_of([1, 2], [[1, np.pi]], 1, 9, upper=3, integrality=True)
    context = context_of(model)
    told = through(context)
    assert context.acceptance.pool.objective == 1.0
    assert not told
    context.acceptance.close()
