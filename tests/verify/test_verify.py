"""The gate grants only what the original data supports."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from gpu_bridge.options import make_options
from gpu_bridge.verify import residuals
from gpu_bridge.verify.residuals import largest_relative_violation, lp_residuals
from gpu_bridge.verify.snapping import snap
from gpu_bridge.verify.verify import APPROXIMATE_WITHIN, gap_closed, verify
from solvers.core.lp_answer import proves_infeasible, proves_unbounded
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.problem import FloatArray, Problem

OPTIONS = make_options()


def diet() -> Problem:
    """Return min 2x + 3y with x + y >= 4, x <= 3: optimum (3, 1), value 9, dual 3."""
    return Problem.from_arrays([2.0, 3.0], [[1.0, 1.0]], [4.0], upper=[3.0, np.inf])


def claim(x: list[float] | None, y: list[float] | None, **more: object) -> Outcome:
    values: dict[str, object] = {
        "x": None if x is None else np.array(x),
        "row_dual": None if y is None else np.array(y),
        "engine": "pdlp",
    }
    values.update(more)
    return Outcome(SolutionStatus.OPTIMAL, StopReason.CONVERGED, **values)  # type: ignore[arg-type]


def test_an_optimal_pair_is_granted() -> None:
    answer = verify(diet(), claim([3.0, 1.0], [3.0]), OPTIONS)
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert answer.stop_reason is StopReason.CONVERGED
    assert answer.objective == answer.bound == 9.0
    assert answer.reduced_cost is not None
    assert answer.reduced_cost.tolist() == [-1.0, 0.0]


def test_a_feasible_point_with_poor_duals_is_not_optimal() -> None:
    answer = verify(diet(), claim([3.0, 2.0], [2.0]), OPTIONS)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert answer.objective == 12.0
    assert answer.bound == 8.0


def test_no_duals_no_optimality() -> None:
    answer = verify(diet(), claim([3.0, 1.0], None), OPTIONS)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.bound == -np.inf


def test_dual_infeasible_multipliers_prove_no_bound() -> None:
    answer = verify(diet(), claim([3.0, 1.0], [5.0]), OPTIONS)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.bound == -np.inf
    assert answer.residuals.dual == pytest.approx(2.0)


@pytest.mark.parametrize("x", [[3.0, 0.5], [3.5, 0.5], [np.nan, 1.0], [3.0]])
def test_an_infeasible_or_broken_point_is_nothing(x: list[float]) -> None:
    answer = verify(diet(), claim(x, [3.0]), OPTIONS)
    assert answer.solution_status is SolutionStatus.NOTHING
    assert answer.x is None
    assert answer.row_dual is None
    assert np.isnan(answer.objective)


def test_the_least_violated_point_is_kept_aside() -> None:
    answer = verify(diet(), claim([3.0, 0.5], [3.0]), OPTIONS)
    assert answer.candidate is not None
    assert answer.candidate.tolist() == [3.0, 0.5]
    assert answer.residuals.primal == pytest.approx(0.5)


@pytest.mark.parametrize(("slip", "granted"), [(0.9e-6, True), (1.1e-6, False)])
def test_primal_tolerance_boundary(slip: float, granted: bool) -> None:
    # ||sides|| is 4, so the allowance is 5e-6 at the default tolerance of 1e-6.
    answer = verify(diet(), claim([3.0, 1.0 - 5 * slip], [3.0]), OPTIONS)
    assert (answer.solution_status is SolutionStatus.OPTIMAL) is granted


@pytest.mark.parametrize("reason", [StopReason.TIME_LIMIT, StopReason.CONVERGED])
def test_a_point_a_little_beyond_the_tolerance_is_approximate(reason: StopReason) -> None:
    answer = verify(diet(), replace(claim([3.0, 0.999], [3.0]), stop_reason=reason), OPTIONS)
    assert answer.solution_status is SolutionStatus.APPROXIMATE
    assert not answer.solution_status.has_point
    assert answer.solution_status.has_values
    assert answer.stop_reason is not StopReason.CONVERGED
    assert answer.x is not None
    assert answer.x.tolist() == [3.0, 0.999]
    assert answer.candidate is None
    assert answer.row_activity == pytest.approx([3.999])
    assert answer.objective == pytest.approx(8.997)
    assert answer.bound == 9.0  # the duals are feasible
    assert answer.gap == np.inf
    assert answer.residuals.largest_relative == pytest.approx(2e-4)
    assert answer.answer == "approximate: residuals 2.0e-04, asked for 1.0e-06"


def test_approximate_duals_prove_no_bound() -> None:
    answer = verify(diet(), claim([3.0, 0.999], [3.001]), OPTIONS)
    assert answer.solution_status is SolutionStatus.APPROXIMATE
    assert answer.bound == -np.inf


@pytest.mark.parametrize(
    ("slip", "status"),
    [(0.99, SolutionStatus.APPROXIMATE), (1.01, SolutionStatus.NOTHING)],
)
def test_how_far_from_the_tolerance_a_point_is_approximate(
    slip: float, status: SolutionStatus
) -> None:
    far = slip * APPROXIMATE_WITHIN * 5.0  # 1 + ||sides||
    assert verify(diet(), claim([3.0, 1.0 - far], [3.0]), OPTIONS).solution_status is status


@pytest.mark.parametrize("y", [None, [0.0], [np.nan]])
def test_without_duals_near_it_an_infeasible_point_is_nothing(y: list[float] | None) -> None:
    answer = verify(diet(), claim([3.0, 0.9999], y), OPTIONS)
    assert answer.solution_status is SolutionStatus.NOTHING
    assert answer.candidate is not None


def test_of_a_point_and_a_candidate_the_nearer_one_counts() -> None:
    far, near = [3.0, 0.5], np.array([3.0, 0.9999])
    answer = verify(diet(), claim(far, [3.0], candidate=near), OPTIONS)
    assert answer.solution_status is SolutionStatus.APPROXIMATE
    assert answer.x is not None
    assert answer.x.tolist() == near.tolist()


def test_a_verified_point_with_a_wide_gap_does_not_hide_an_approximate_one() -> None:
    near = np.array([3.0, 0.9999])
    answer = verify(diet(), claim([3.0, 2.0], [3.0], candidate=near), OPTIONS)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.x is not None
    assert answer.candidate is not None
    assert answer.x.tolist() == [3.0, 2.0]
    assert answer.candidate.tolist() == near.tolist()
    assert answer.gap == pytest.approx(3.0 / 12.0)
    assert "The candidate has smaller residuals" in answer.message
    again = verify(diet(), replace(answer, seconds=1.0), OPTIONS)
    assert again.message == answer.message
    better = verify(diet(), claim([3.0, 2.0], [3.0], candidate=np.array([3.0, 1.5])), OPTIONS)
    assert better.objective == 10.5
    assert better.candidate is None


def test_an_approximate_answer_is_graded_alike_again() -> None:
    once = verify(diet(), claim([3.0, 0.999], [3.0]), OPTIONS)
    again = verify(diet(), replace(once, seconds=1.0), OPTIONS)
    assert again.solution_status is SolutionStatus.APPROXIMATE
    assert again.answer == once.answer


def knapsack(integer: bool = True) -> Problem:
    return Problem.from_arrays(
        [-5.0, -4.0], [[3.0, 2.0]], row_upper=[5.0], upper=2.0, integrality=integer
    )


def test_a_mip_point_is_rounded_exactly() -> None:
    answer = verify(knapsack(), claim([1.0 - 3e-7, 1.0 + 2e-7], None, bound=-9.0), OPTIONS)
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert answer.x is not None
    assert answer.x.tolist() == [1.0, 1.0]
    assert answer.objective == -9.0


def test_a_mip_without_a_bound_is_feasible_at_most() -> None:
    answer = verify(knapsack(), claim([1.0, 1.0], [0.0]), OPTIONS)
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.row_dual is None


def test_a_mip_point_just_beyond_the_tolerance_is_a_candidate_only() -> None:
    answer = verify(knapsack(), claim([1.0, 1.0 + 4e-6], [0.0], bound=-9.0), OPTIONS)
    assert answer.solution_status is SolutionStatus.NOTHING
    assert answer.candidate is not None


def test_a_fractional_mip_point_is_nothing() -> None:
    answer = verify(knapsack(), claim([0.5, 1.0], None, bound=-9.0), OPTIONS)
    assert answer.solution_status is SolutionStatus.NOTHING
    assert answer.residuals.integrality == 0.5


def test_a_bound_beyond_the_point_by_rounding_is_cut_back() -> None:
    answer = verify(knapsack(), claim([1.0, 1.0], None, bound=-9.0 + 1e-8), OPTIONS)
    assert answer.bound == answer.objective == -9.0


def test_a_bound_that_a_point_refutes_is_dropped() -> None:
    answer = verify(knapsack(), claim([1.0, 1.0], None, bound=-8.0), OPTIONS)
    assert answer.bound == -np.inf
    assert answer.solution_status is SolutionStatus.FEASIBLE
    assert answer.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert "refuted" in answer.message


@pytest.mark.parametrize(
    ("bound", "closed"),
    [(-10.0 - 0.99e-3, True), (-10.0 - 1.01e-3, False), (-np.inf, False), (-9.0, True)],
)
def test_gap_boundary(bound: float, closed: bool) -> None:
    assert gap_closed(-10.0, bound, OPTIONS) is closed


def test_snap_keeps_a_point_whose_rows_would_break() -> None:
    # Rounding x from 1 - 1e-7 to 1 would break the big-M row by 0.1.
    problem = Problem.from_arrays(
        [1.0], [[1e6]], row_upper=[1e6 - 0.1], upper=[1.0], integrality=[True]
    )
    x = np.array([1.0 - 1e-7])
    tight = replace(OPTIONS, tolerance=1e-9)
    assert snap(problem, x, tight)[0] == x[0]


def test_an_lp_point_is_left_alone_where_snapping_would_open_a_gap() -> None:
    # The basic solution x = -5e-7 misses its bound by less than the tolerance, at a cost of 1000.
    problem = Problem.from_arrays([1e3], [[1.0]], [-5e-7], [-5e-7])
    answer = verify(problem, claim([-5e-7], [1e3]), OPTIONS)
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert answer.x is not None
    assert answer.x.tolist() == [-5e-7]


def test_relative_violation_is_measured_against_the_side() -> None:
    problem = Problem.from_arrays([0.0], [[1.0]], row_upper=[1000.0])
    assert largest_relative_violation(problem, np.array([1001.0])) == pytest.approx(1e-3)


def test_wrong_signs_are_clipped_before_pricing() -> None:
    problem = diet()
    _, priced = lp_residuals(problem, np.zeros(problem.num_columns), np.array([-1.0]))
    assert priced.row_dual.tolist() == [0.0]
    assert priced.objective == 0.0


@pytest.mark.parametrize("seed", range(12))
def test_small_and_large_problems_are_measured_alike(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    m, n = 6, 9

    def limits(size: int) -> tuple[FloatArray, FloatArray]:
        low = rng.integers(-5, 1, size)
        high = low + rng.integers(0, 5, size)
        return tuple(
            np.where(rng.random(size) < 0.3, *pair) for pair in ((-np.inf, low), (np.inf, high))
        )

    (row_lower, row_upper), (lower, upper) = limits(m), limits(n)
    A = np.where(rng.random((m, n)) < 0.5, rng.normal(size=(m, n)), 0.0)
    cost = rng.normal(size=n)
    problem = Problem.from_arrays(
        cost, A, row_lower, row_upper, lower=lower, upper=upper, offset=1.5
    )
    for y in (rng.normal(size=m), np.zeros(m), None):
        x = rng.normal(size=n)
        small = lp_residuals(problem, x, y)
        with monkeypatch.context() as patched:
            patched.setattr(residuals, "SMALL", 0)
            large = lp_residuals(problem, x, y)
        for one, other in zip(small, large, strict=True):
            for field in dataclasses.fields(one):
                if y is not None or field.name not in ("row_dual", "reduced_cost", "objective"):
                    expected = getattr(other, field.name)
                    assert getattr(one, field.name) == pytest.approx(expected, nan_ok=True)


INFEASIBLE = Problem.from_arrays(
    [0.0, 0.0], [[1.0, 1.0], [1.0, 1.0]], [3.0, -np.inf], [np.inf, 2.0]
)


@pytest.mark.parametrize(
    ("ray", "proof"),
    [([1.0, -1.0], True), ([1e-6, -1e-6], True), ([1.0, -0.5], False), ([0.0, 0.0], False)],
)
def test_farkas(ray: list[float], proof: bool) -> None:
    assert proves_infeasible(INFEASIBLE, np.array(ray)) is proof
    outcome = Outcome(
        SolutionStatus.INFEASIBLE, StopReason.CONVERGED, dual_ray=np.array(ray), engine="pdlp"
    )
    wanted = SolutionStatus.INFEASIBLE if proof else SolutionStatus.NOTHING
    assert verify(INFEASIBLE, outcome, OPTIONS).solution_status is wanted


def test_farkas_with_a_margin_of_rounding_is_no_proof() -> None:
    problem = Problem.from_arrays([0.0], [[1.0], [1.0]], [1.0, -np.inf], [np.inf, 1.0 - 1e-12])
    assert not proves_infeasible(problem, np.array([1.0, -1.0]))


def test_farkas_uses_column_bounds() -> None:
    problem = Problem.from_arrays([0.0], [[1.0]], [3.0], upper=[2.0])
    assert proves_infeasible(problem, np.array([1.0]))
    assert not proves_infeasible(replace(problem, upper=np.array([np.inf])), np.array([1.0]))


@pytest.mark.parametrize(
    ("ray", "proof"),
    [([1.0, 1.0], True), ([1.0, 0.0], False), ([-1.0, -1.0], False), ([0.0, 0.0], False)],
)
def test_unbounded_ray(ray: list[float], proof: bool) -> None:
    problem = Problem.from_arrays([-1.0, 0.0], [[1.0, -1.0]], [0.0], [0.0])
    assert proves_unbounded(problem, np.array(ray)) is proof


def test_unbounded_needs_a_feasible_point_too() -> None:
    problem = Problem.from_arrays([-1.0, 0.0], [[1.0, -1.0]], [0.0], [0.0])
    base = Outcome(
        SolutionStatus.UNBOUNDED,
        StopReason.CONVERGED,
        primal_ray=np.array([1.0, 1.0]),
        engine="pdlp",
    )
    assert verify(problem, base, OPTIONS).solution_status is SolutionStatus.NOTHING
    with_point = replace(base, x=np.array([1.0, 1.0]))
    assert verify(problem, with_point, OPTIONS).solution_status is SolutionStatus.UNBOUNDED


def test_no_engine_is_believed_that_a_model_is_unbounded() -> None:
    # The direction crosses a row of small coefficients, which ends it at x = 1e7.
    problem = Problem.from_arrays([-1.0], [[1e-7]], row_upper=[1.0])
    claimed = Outcome(
        SolutionStatus.UNBOUNDED,
        StopReason.CONVERGED,
        x=np.zeros(1),
        primal_ray=np.ones(1),
        engine="highs",
    )
    assert verify(problem, claimed, OPTIONS).solution_status is SolutionStatus.NOTHING


def test_an_unknown_engine_cannot_claim_infeasibility() -> None:
    outcome = Outcome(SolutionStatus.INFEASIBLE, StopReason.CONVERGED, engine="pdlp")
    answer = verify(diet(), outcome, OPTIONS)
    assert answer.solution_status is SolutionStatus.NOTHING
    assert "did not hold" in answer.message


def test_an_answer_is_graded_anew_for_another_problem_or_tolerance() -> None:
    problem, answer = diet(), claim([3.0, 0.999], [3.0])
    strict, loose = make_options(tolerance=1e-6), make_options(tolerance=1e-2)
    assert verify(problem, answer, loose).solution_status is SolutionStatus.OPTIMAL
    assert verify(problem, answer, strict).solution_status is SolutionStatus.APPROXIMATE
    assert verify(problem, answer, loose).solution_status is SolutionStatus.OPTIMAL
    dearer = replace(problem, cost=problem.cost + 100.0)
    assert verify(dearer, answer, loose).solution_status is SolutionStatus.FEASIBLE


@pytest.mark.parametrize(
    ("below", "status"),
    [(2e-14, SolutionStatus.OPTIMAL), (1e-9, SolutionStatus.FEASIBLE)],
)
def test_where_no_gap_is_allowed_rounding_is_none(below, status):
    problem = Problem.from_arrays([0.5], lower=2.0, upper=3.0, integrality=True)
    claim = Outcome(
        SolutionStatus.OPTIMAL, StopReason.CONVERGED, objective=1.0, bound=1.0 - below,
        x=np.full(1, 2.0), engine="highs",
    )  # fmt: skip
    strict = replace(OPTIONS, rel_gap=0.0, abs_gap=0.0)
    assert verify(problem, claim, strict).solution_status is status


def test_a_point_that_is_not_feasible_has_no_gap():
    problem = Problem.from_arrays([1.0], [[1.0]], row_lower=2.0, upper=3.0, integrality=True)
    nothing = Outcome(
        SolutionStatus.NOTHING, StopReason.TIME_LIMIT, bound=0.5, candidate=np.ones(1), engine="mip"
    )
    residuals = verify(problem, nothing, OPTIONS).residuals
    assert residuals.primal == 1.0
    assert np.isnan(residuals.gap)
    assert np.isnan(residuals.gap_relative)


@pytest.mark.parametrize("opposite", [1e3, 1e9, 1e18])
def test_violations_are_measured_by_the_side_that_is_missed(opposite: float) -> None:
    problem = Problem.from_arrays(
        [1.0], [[1.0]], [1.0], [opposite], lower=[-opposite], upper=[9.0], integrality=True
    )
    assert largest_relative_violation(problem, np.array([0.5])) == pytest.approx(0.5)
    assert largest_relative_violation(problem, np.array([9.5])) == pytest.approx(0.5 / 9.0)


@pytest.mark.parametrize("integrality", [False, True])
def test_points_have_no_negative_zeros(integrality: bool) -> None:
    problem = Problem.from_arrays([1.0], [[1.0]], -1.0, lower=-1.0, integrality=integrality)
    for zero in (-0.0, -1e-9):
        claim = Outcome(
            SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, x=np.array([zero]), objective=0.0
        )
        x = verify(problem, claim, make_options()).x
        assert x is not None
        assert x[0] < 0 or not np.signbit(x[0])


@pytest.mark.parametrize("integrality", [[False, False], [True, False]])
def test_what_double_precision_leaves_of_a_bound_is_the_bound(integrality: list[bool]) -> None:
    problem = Problem.from_arrays([1.0, 1.0], [[1.0, 1.0]], 1.0, upper=2.0, integrality=integrality)
    claim = Outcome(
        SolutionStatus.OPTIMAL,
        StopReason.CONVERGED,
        x=np.array([1.0, 3e-13]),
        bound=1.0,
        row_dual=np.array([1.0]),
    )
    answer = verify(problem, claim, make_options())
    assert answer.solution_status is SolutionStatus.OPTIMAL
    assert answer.x is not None
    assert answer.x.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("integrality", [[False, False], [True, False]])
def test_a_tiny_value_that_counts_is_kept(integrality: list[bool]) -> None:
    for cost, entry in ((1e11, 1.0), (1.0, 1e12)):
        problem = Problem.from_arrays(
            [1.0, cost], [[0.0, entry]], entry * 1e-12, integrality=integrality
        )
        claim = Outcome(
            SolutionStatus.OPTIMAL,
            StopReason.CONVERGED,
            x=np.array([0.0, 1e-12]),
            bound=cost * 1e-12,
            row_dual=np.array([cost / entry]),
        )
        answer = verify(problem, claim, make_options())
        assert answer.x is not None
        assert answer.x[1] == 1e-12
