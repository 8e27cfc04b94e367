"""The gate of batches: what earns "optimal", and what a GPU says of its own answers."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import gpu_bridge
from gpu_bridge.batch import outcomes
from gpu_bridge.batch.simplex import simplex_data
from gpu_bridge.batch.verify import (
    LOOKED_AT_AGAIN,
    are_optimal,
    check_claims,
    find_figures,
    members_of,
)
from gpu_bridge.options import make_options
from gpu_bridge.report.progress import BridgeProgress
from solvers.core.progress import Progress
from solvers.simplex import batch as engine
from solvers.simplex.batch.kernels.check import FIGURES, INSIDE
from tests.batch.families import boxed_family, infeasible_and_unbounded

OPTIONS = make_options(method="simplex", device="cpu", threads=1)
COUNT = 3 * LOOKED_AT_AGAIN


@pytest.fixture(scope="module")
def solved():
    """Return a batch as arrays, and answers with the figures that a GPU would have found."""
    data = simplex_data(boxed_family(3, COUNT, 6, 9, ["cost", "coefficients", "offset"]))
    answer = engine.solve(data, OPTIONS, Progress())
    claimed = np.ones(COUNT, dtype=bool)
    figures = find_figures(data, answer.x, answer.row_dual, claimed, 1)
    return data, dataclasses.replace(answer, figures=figures), claimed


def gate(data, answer, claimed):
    with BridgeProgress(np.inf) as progress:
        return check_claims(data, answer, claimed, OPTIONS, progress), progress.text


def test_figures_of_a_gpu_are_taken_where_they_hold(solved):
    data, answer, claimed = solved
    claimed = claimed & (np.arange(COUNT) != 5)
    checked, log = gate(data, answer, claimed)
    np.testing.assert_array_equal(checked.optimal, claimed)
    np.testing.assert_array_equal(checked.figures["objective"], answer.figures[:, 0])
    assert "does not hold" not in log


def test_where_answers_of_a_gpu_do_not_hold_here_all_are_checked(solved):
    data, answer, claimed = solved
    wrong = np.arange(COUNT) >= COUNT // 2
    spoilt = dataclasses.replace(answer, x=answer.x + 0.5 * wrong[:, None])
    checked, log = gate(data, spoilt, claimed)
    np.testing.assert_array_equal(checked.optimal, ~wrong)
    assert "does not hold on the CPU" in log


def test_no_member_is_optimal_that_claims_nothing(solved):
    data, answer, claimed = solved
    checked, _ = gate(data, answer, np.zeros_like(claimed))
    assert not checked.optimal.any()


@pytest.mark.parametrize("name", ["primal_relative", "dual_relative", "gap_relative"])
def test_each_residual_has_to_be_within_the_tolerance(name):
    figures = np.zeros((4, len(FIGURES)))
    figures[:, INSIDE] = 1.0
    figures[:, FIGURES.index(name)] = [1e-6, np.nextafter(1e-6, 1.0), np.nan, np.inf]
    np.testing.assert_array_equal(are_optimal(figures, 1e-6), [True, False, False, False])


def test_a_point_outside_its_bounds_is_not_optimal():
    figures = np.zeros((3, len(FIGURES)))
    figures[:, INSIDE] = [0.0, 1.0, np.nan]
    np.testing.assert_array_equal(are_optimal(figures, 1e-6), [False, True, False])


def test_some_members_in_the_order_asked_for(solved):
    data = solved[0]
    few = members_of(data, np.array([7, 2]))
    np.testing.assert_array_equal(few.cost, data.cost[[7, 2]])
    np.testing.assert_array_equal(few.lower, data.lower)
    assert few.count == 2


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("asked", [0, 1, outcomes.FEW + 1])
def test_activities_and_reduced_costs_are_the_same_whenever_they_are_asked_for(maximize, asked):
    batch = boxed_family(4, 20, 6, 9, ["cost", "coefficients"])
    problem = dataclasses.replace(batch.problem, maximize=maximize)
    batch = dataclasses.replace(batch, problem=problem)
    found = gpu_bridge.solve_many(batch, method="simplex", device="cpu", threads=1)
    one_by_one = [found[k] for k in range(asked)]
    sign = -1.0 if maximize else 1.0
    for k in range(20):
        member = batch.member(k)
        activity = member.matrix @ found.x[k]
        reduced = sign * member.cost - member.matrix.T @ found.row_dual[k]
        np.testing.assert_allclose(found.row_activity[k], activity, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.reduced_cost[k], reduced, rtol=1e-12, atol=1e-12)
    for k, outcome in enumerate(one_by_one):
        np.testing.assert_array_equal(outcome.row_activity, found.row_activity[k])
        np.testing.assert_array_equal(outcome.reduced_cost, found.reduced_cost[k])


def test_what_members_without_an_answer_have_is_nan():
    found = gpu_bridge.solve_many(infeasible_and_unbounded(), method="simplex", device="cpu")
    assert found[0].row_activity is not None
    for name in ("row_activity", "reduced_cost"):
        array = getattr(found, name)
        assert np.isfinite(array[0]).all()
        assert np.isnan(array[[1, 3]]).all()


def test_outcomes_can_be_kept_before_anybody_has_asked_for_reduced_costs():
    batch = boxed_family(4, 3, 6, 9, ["cost"])
    found = gpu_bridge.solve_many(batch, method="simplex", device="cpu", threads=1)
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.reduced_cost, found.reduced_cost)
