"""Termination, restart and primal weight: pure functions, probed on both sides of each limit."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from solvers.pdlp.primal_weight import first_weight, next_weight, note_balance
from solvers.pdlp.restart import Epoch, Restart, restart_reason
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.statistics import Statistics
from solvers.pdlp.termination import Criteria, is_optimal, is_primal_feasible

TOLERANCE = 1e-4
INSIDE, OUTSIDE = 0.99 * TOLERANCE, 1.01 * TOLERANCE


def statistics(primal: float = 0.0, dual: float = 0.0, gap: float = 0.0) -> Statistics:
    """Return figures whose three relative errors are those given."""
    p = 50.0
    d = (p - gap * (1.0 + p)) / (1.0 + gap)  # solves |p - d| = gap (1 + |p| + |d|)
    return Statistics(
        primal_residual=primal * (1.0 + 7.0),
        dual_residual=dual * (1.0 + 3.0),
        primal_objective=p,
        dual_objective=d,
        side_norm=7.0,
        cost_norm=3.0,
        primal_distance=1.0,
        dual_distance=1.0,
        metric_squared=1.0,
    )


CRITERIA = Criteria.uniform(TOLERANCE)


def test_everything_just_inside_is_optimal():
    assert is_optimal(statistics(INSIDE, INSIDE, INSIDE), CRITERIA)


@pytest.mark.parametrize("error", ["primal", "dual", "gap"])
def test_one_error_just_outside_is_not_optimal(error):
    assert not is_optimal(statistics(**{error: OUTSIDE}), CRITERIA)


@pytest.mark.parametrize("error", ["primal", "dual", "gap"])
def test_each_error_has_its_own_tolerance(error):
    generous = replace(CRITERIA, **{error: 1.02 * TOLERANCE})
    assert is_optimal(statistics(**{error: OUTSIDE}), generous)


@pytest.mark.parametrize("field", ["primal_residual", "dual_residual", "dual_objective"])
def test_nan_is_never_optimal(field):
    broken = replace(statistics(), **{field: math.nan})
    assert not is_optimal(broken, CRITERIA)
    assert not broken.is_finite


def test_primal_feasibility_ignores_dual_and_gap():
    assert is_primal_feasible(statistics(INSIDE, 1.0, 1.0), CRITERIA)
    assert not is_primal_feasible(statistics(OUTSIDE), CRITERIA)


def test_worst_is_the_largest_of_the_three():
    assert statistics(1e-3, 2e-3, 5e-4).worst == pytest.approx(2e-3)


def test_metric_of_a_negative_square_is_zero():
    assert replace(statistics(), metric_squared=-1e-20).metric == 0.0


def epoch(**changes) -> Epoch:
    usual = Epoch(
        first=1.0, previous=0.9, now=0.8, iterations=200, total_iterations=10_000, checks_in_all=50
    )
    return replace(usual, **changes)


def test_first_check_always_restarts():
    assert restart_reason(epoch(checks_in_all=1), DEFAULT) is Restart.FIRST_CHECK


def test_no_restart_without_a_reason():
    assert restart_reason(epoch(), DEFAULT) is None


@pytest.mark.parametrize(("now", "expected"), [(0.199, Restart.SUFFICIENT), (0.201, None)])
def test_sufficient_decrease(now, expected):
    assert restart_reason(epoch(now=now, previous=0.3), DEFAULT) is expected


@pytest.mark.parametrize(
    ("now", "previous", "expected"),
    [(0.49, 0.48, Restart.NECESSARY), (0.49, 0.50, None), (0.51, 0.48, None)],
)
def test_necessary_decrease_needs_growth_too(now, previous, expected):
    assert restart_reason(epoch(now=now, previous=previous), DEFAULT) is expected


@pytest.mark.parametrize(("iterations", "expected"), [(3600, Restart.ARTIFICIAL), (3400, None)])
def test_artificial_restart_of_a_long_epoch(iterations, expected):
    assert restart_reason(epoch(iterations=iterations), DEFAULT) is expected


def test_first_weight_balances_the_norms():
    assert first_weight(3.0, 1.0).value == 2.0
    assert first_weight(0.0, 0.0).value == 1.0


def update(weight, primal, dual, relative_primal=1.0, relative_dual=1.0):
    return next_weight(weight, primal, dual, relative_primal, relative_dual, DEFAULT)


def test_weight_moves_almost_all_the_way_to_the_ratio_of_distances():
    weight = update(first_weight(0.0, 0.0), primal=1.0, dual=100.0)
    assert weight.value == pytest.approx(100.0)  # 0.99 + 0.01 of the logarithm


def test_weight_remembers_part_of_earlier_errors():
    once = update(first_weight(0.0, 0.0), primal=1.0, dual=math.e)
    twice = update(once, primal=1.0, dual=math.e)
    assert twice.error_sum == pytest.approx(0.3)
    assert twice.value == pytest.approx(math.exp(1.0 + 0.01 * 0.3))


@pytest.mark.parametrize(("primal", "dual"), [(1e-17, 1.0), (1.0, 1e13), (0.0, 0.0)])
def test_weight_falls_back_to_the_best_when_distances_say_nothing(primal, dual):
    weight = replace(first_weight(0.0, 0.0), value=5.0, best=3.0, error_sum=2.0)
    found = update(weight, primal, dual)
    assert (found.value, found.error_sum) == (3.0, 0.0)


@pytest.mark.parametrize(("imbalance", "kept"), [(1.1e8, 3.0), (0.9e8, 1.0)])
def test_weight_falls_back_when_the_residuals_are_far_apart(imbalance, kept):
    weight = replace(first_weight(0.0, 0.0), value=5.0, best=3.0)
    assert update(weight, 1.0, 1.0, 1.0, imbalance).value == pytest.approx(kept, rel=0.1)


def test_best_weight_is_the_one_of_least_imbalance():
    weight = note_balance(replace(first_weight(0.0, 0.0), value=2.0), 1e-3, 1e-4)
    assert weight.best == 2.0
    worse = note_balance(replace(weight, value=9.0), 1e-3, 1e-6)
    assert worse.best == 2.0
    better = note_balance(replace(weight, value=9.0), 1e-3, 1e-3)
    assert better.best == 9.0


def test_weight_moves_on_when_a_residual_is_exactly_zero():
    weight = replace(first_weight(0.0, 0.0), best=3.0)
    assert update(weight, 1.0, 100.0, 1e-3, 0.0).value == pytest.approx(100.0)
    assert note_balance(weight, 1e-3, 0.0) == weight
