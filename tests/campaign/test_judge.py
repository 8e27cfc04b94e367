"""The judge finds every sort of wrong answer, and leaves right ones alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gpu_bridge as gb
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.campaign.claims import Claim, claim_of
from tests.campaign.enumeration import enumerate_points
from tests.campaign.generators import make_model
from tests.campaign.generators.shared import INF, whole
from tests.campaign.judge import judge
from tests.campaign.oracles import ORACLES
from tests.campaign.truth import Knowledge, exact_point, know
from tests.campaign.verdicts import Verdict
from tests.properties.exact import solve_exactly

LINEAR = Problem.from_arrays([2, 3], [[1, 1]], [4], upper=[3, 5])
MIXED = Problem.from_arrays(
    [5, 4, 3], [[2, 3, 1], [1, 1, 0.5]], [3, -INF], [INF, 9], upper=4, integrality=[1, 1, 0]
)
PACKED = whole([5.0, 4.0, 3.0], [2.0, 3.0, 1.0], row_upper=5.0, maximize=True)
IMPOSSIBLE = whole([1.0, 1.0], [2.0, 2.0], 3.0, 3.0)
ENDLESS = Problem.from_arrays([-1, 0], [[1, -1]], [0], [0])
MODELS = (LINEAR, MIXED, PACKED, IMPOSSIBLE, ENDLESS)
WITH_POINT = (LINEAR, MIXED, PACKED)


def truth_of(problem: Problem) -> Claim:
    return claim_of(problem, gb.solve(problem, device="cpu"))


def found(problem: Problem, claim: Claim, **options: Any) -> list[Verdict]:
    return [ruling.verdict for ruling in judge(know(problem, [claim]), claim, options)]


@pytest.mark.parametrize("problem", MODELS, ids=repr)
def test_true_answers_pass(problem: Problem) -> None:
    assert found(problem, truth_of(problem)) == []


WRONG: dict[Verdict, Callable[[Claim], Claim]] = {
    Verdict.POINT: lambda claim: replace(claim, x=np.array(claim.x) - 1e-3),
    Verdict.OBJECTIVE: lambda claim: replace(claim, objective=claim.objective + 1e-4),
    Verdict.BOUND: lambda claim: replace(claim, bound=claim.bound + 1e-3),
}


@pytest.mark.parametrize("problem", WITH_POINT, ids=repr)
@pytest.mark.parametrize("verdict", WRONG)
def test_planted_errors_are_found(problem: Problem, verdict: Verdict) -> None:
    assert verdict in found(problem, WRONG[verdict](truth_of(problem)))


@pytest.mark.parametrize(
    ("problem", "x"), [(LINEAR, [2, 2]), (MIXED, [1, 1, 0]), (PACKED, [0, 1, 1])]
)
def test_a_worse_point_is_not_optimal(problem: Problem, x: list[float]) -> None:
    point = np.array(x, dtype=float)
    claim = Claim(SolutionStatus.OPTIMAL, problem.objective_at(point), x=point)
    assert found(problem, claim) == [Verdict.OPTIMALITY]
    assert found(problem, replace(claim, status=SolutionStatus.FEASIBLE)) == [Verdict.NO_ANSWER]
    assert found(problem, claim, rel_gap=10.0) == ([] if problem.is_mip else [Verdict.OPTIMALITY])


@pytest.mark.parametrize("problem", MODELS, ids=repr)
@pytest.mark.parametrize("told", [SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED])
def test_a_wrong_status_is_found(problem: Problem, told: SolutionStatus) -> None:
    right = truth_of(problem).status is told
    assert found(problem, Claim(told)) == ([] if right else [Verdict.STATUS])


def test_nothing_is_no_answer_but_for_limits() -> None:
    nothing = Claim(SolutionStatus.NOTHING)
    assert found(PACKED, nothing) == [Verdict.NO_ANSWER]
    assert found(PACKED, nothing, time_limit=1.0) == [Verdict.AT_LIMIT]
    assert found(PACKED, nothing, heuristics_only=True) == []


def test_what_needs_the_tolerance_is_counted_apart() -> None:
    switched = Problem.from_arrays(
        [0, 1], [[1, -1e8], [1, 0]], [-INF, 5], [0, INF], upper=[INF, 1], integrality=[0, 1]
    )
    x = np.array([5.0, 5e-8])
    claim = Claim(SolutionStatus.OPTIMAL, 5e-8, 5e-8, x)
    assert found(switched, claim) == [Verdict.TOLERANCE]


def test_a_witness_refutes_where_the_truth_is_unknown() -> None:
    known = Knowledge(PACKED, witness=exact_point(PACKED, np.array([1.0, 1.0, 0.0])))
    status = judge(known, Claim(SolutionStatus.INFEASIBLE), {})
    assert [ruling.verdict for ruling in status] == [Verdict.STATUS]
    x = np.array([1.0, 0.0, 1.0])
    beyond = Claim(SolutionStatus.FEASIBLE, -8.0, -8.5, x)
    assert [ruling.verdict for ruling in judge(known, beyond, {})] == [Verdict.BOUND]


def test_a_witness_completes_continuous_columns_exactly() -> None:
    third = Problem.from_arrays([1, 1], [[3, 1]], [1], [1], upper=[1, 0], integrality=[0, 1])
    witness = exact_point(third, np.array([0.333333, 1e-7]))
    assert witness is not None
    assert str(witness.objective) == "1/3"
    assert exact_point(PACKED, np.array([1.0, 1.0, 1.0])) is None


@pytest.mark.parametrize("kind", ["mip_general", "huge_knapsack", "hostile_fractional_bounds"])
def test_enumeration_and_branch_and_bound_agree(kind: str) -> None:
    for seed in range(4):
        problem = make_model(kind, seed)
        by_hand = enumerate_points(problem)
        assert by_hand is not None
        exact = solve_exactly(problem)
        assert (by_hand.truth, by_hand.objective) == (exact.truth, exact.objective)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("problem", MODELS, ids=repr)
def test_other_solvers_are_asked_rightly(name: str, problem: Problem) -> None:
    oracle = ORACLES[name]
    pytest.importorskip(oracle.package)
    told, truth = oracle.ask(problem), truth_of(problem)
    if told.status is not SolutionStatus.NOTHING:  # SCIP may not know infeasible from unbounded
        assert told.status is truth.status
    if told.status.has_point:
        assert told.objective == pytest.approx(truth.objective)
