"""What a check concludes, probed on both sides of each limit, and how it is carried out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from solvers.pdlp.control import Control, Stop
from solvers.pdlp.kernels.decide import DECISIONS
from tests.cases import through
from tests.pdlp.checks import (
    COST_NORM,
    ON_THE_WAY,
    SIDE_NORM,
    TOLERANCE,
    Figures,
    control_of,
    decide,
    spread,
    sums_of,
)

INSIDE, OUTSIDE = 0.99 * TOLERANCE, 1.01 * TOLERANCE
GOOD = Figures(primal=INSIDE, dual=INSIDE, gap=INSIDE)
FLAGS = (Control.RESTART, Control.KEEP_BEST, Control.KEEP_FEASIBLE)


def flags(control: np.ndarray) -> tuple[bool, ...]:
    return tuple(bool(control[flag]) for flag in FLAGS)


# Statistics


@pytest.mark.parametrize("slots", [1, 2, 300])
def test_statistics_come_from_the_sums_of_all_slots(slots):
    figures = Figures(0.25, 0.125, 0.5, 50.0, 3.0, 4.0, 0.64)
    after = decide(figures, control_of(), slots=slots)
    assert after[Control.PRIMAL_RESIDUAL] == pytest.approx(0.25 * (1.0 + SIDE_NORM))
    assert after[Control.DUAL_RESIDUAL] == pytest.approx(0.125 * (1.0 + COST_NORM))
    assert after[Control.PRIMAL_OBJECTIVE] == pytest.approx(50.0)
    assert after[Control.DUAL_OBJECTIVE] == pytest.approx((50.0 - 0.5 * 51.0) / 1.5)
    assert after[Control.PRIMAL_DISTANCE] == pytest.approx(3.0)
    assert after[Control.DUAL_DISTANCE] == pytest.approx(4.0)
    assert after[Control.METRIC_SQUARED] == pytest.approx(0.64)


def test_counters_go_on():
    after = decide(Figures(), control_of(), count=170)
    assert after[Control.ITERATIONS] == 10_170
    assert after[Control.ITERATIONS_SINCE_RESTART] == 770
    assert after[Control.CHECKS] == 51
    assert after[Control.RESTARTS] == 4


def test_constants_stay_what_they_are():
    after = decide(Figures(), control_of())
    for place in Control:
        if place >= Control.PRIMAL_TOLERANCE or place is Control.REFLECTION:
            assert after[place] == ON_THE_WAY[place]


def test_the_first_metric_is_taken_at_the_first_block_after_a_restart_only():
    figures = Figures(square=0.64, first_square=4.0)
    later = decide(figures, control_of())
    assert later[Control.FIRST_METRIC] == 1.0
    first = decide(figures, control_of(iterations_since_restart=0.0))
    assert first[Control.FIRST_METRIC] == pytest.approx(2.0)
    assert first[Control.PREVIOUS_METRIC] == pytest.approx(0.8)
    negative = decide(replace(figures, first_square=-1.0), control_of(iterations_since_restart=0.0))
    assert negative[Control.FIRST_METRIC] == 0.0


def test_the_first_block_after_a_restart_does_not_compare_with_the_one_before():
    # 0.45 would be a growth against 0.4, but that was before the restart
    figures = Figures(square=0.45**2, first_square=1.0)
    before = control_of(previous_metric=0.4, iterations_since_restart=0.0)
    assert not decide(figures, before)[Control.RESTART]
    assert decide(figures, control_of(previous_metric=0.4))[Control.RESTART]


# Termination


def test_everything_just_inside_is_optimal():
    after = decide(GOOD, control_of())
    assert after[Control.STOP] == Stop.OPTIMAL
    assert not after[Control.RESTART]


@pytest.mark.parametrize("error", ["primal", "dual", "gap"])
def test_one_error_just_outside_is_not_optimal(error):
    assert decide(replace(GOOD, **{error: OUTSIDE}), control_of())[Control.STOP] == Stop.NO


@pytest.mark.parametrize("error", ["primal", "dual", "gap"])
def test_each_error_has_its_own_tolerance(error):
    generous = control_of(**{f"{error}_tolerance": 1.02 * TOLERANCE})
    assert decide(replace(GOOD, **{error: OUTSIDE}), generous)[Control.STOP] == Stop.OPTIMAL


@through("side", ["rows", "columns"])
@through("place", [0, 1, 3, 4])
@through("value", [math.nan, math.inf])
def test_what_is_not_finite_breaks_the_iteration_off(side, place, value):
    control = control_of(best_error=np.inf, best_objective=np.inf)
    rows, columns = sums_of(GOOD, control)
    (rows if side == "rows" else columns)[place] = value
    DECISIONS["decide"](1, rows[None], 1, columns[None], 200, control)
    assert control[Control.STOP] == Stop.BROKEN
    assert flags(control) == (False, False, False)
    assert control[Control.BEST_ERROR] == control[Control.BEST_OBJECTIVE] == np.inf
    assert control[Control.ITERATIONS] == 10_200


@pytest.mark.parametrize("stop", [Stop.OPTIMAL, Stop.BROKEN])
def test_after_a_stop_nothing_is_concluded_and_nothing_carried_out(stop):
    before = control_of(stop=stop, restart=1.0, keep_best=1.0, keep_feasible=1.0)
    after = decide(Figures(square=0.01), before)
    expected = before.copy()
    expected[list(FLAGS)] = 0.0
    assert np.array_equal(after, expected)


# Restarts


def restarts(figures: Figures, **changes: float) -> bool:
    after = decide(figures, control_of(**changes))
    assert after[Control.RESTARTS] - 4.0 == after[Control.RESTART]
    if after[Control.RESTART]:
        assert after[Control.ITERATIONS_SINCE_RESTART] == 0.0
    return bool(after[Control.RESTART])


def metric(value: float) -> Figures:
    return Figures(square=value**2)


def test_no_restart_without_a_reason():
    assert not restarts(metric(0.8))


def test_first_check_always_restarts():
    assert restarts(metric(0.8), checks=0.0)


@pytest.mark.parametrize(("now", "expected"), [(0.199, True), (0.201, False)])
def test_sufficient_decrease(now, expected):
    assert restarts(metric(now), previous_metric=0.3) is expected


@pytest.mark.parametrize(
    ("now", "previous", "expected"), [(0.49, 0.48, True), (0.49, 0.50, False), (0.51, 0.48, False)]
)
def test_necessary_decrease_needs_growth_too(now, previous, expected):
    assert restarts(metric(now), previous_metric=previous) is expected


@pytest.mark.parametrize(("since", "expected"), [(3500.0, True), (3450.0, False)])
def test_artificial_restart_of_long_after_the_last_one(since, expected):
    # 0.36 of 10 200 iterations are 3672
    assert restarts(metric(0.8), iterations_since_restart=since) is expected


@pytest.mark.parametrize(
    ("now", "since", "expected"),
    [(0.91, 1000.0, True), (0.89, 1000.0, False), (0.91, 900.0, False)],
)
def test_a_metric_that_stands_still_while_iterations_double_is_a_restart(now, since, expected):
    # the mark is a metric of 1 after 600 iterations
    assert restarts(metric(now), iterations_since_restart=since) is expected


@pytest.mark.parametrize(("iterations", "expected"), [(23_700.0, True), (23_900.0, False)])
def test_a_standstill_has_to_last_for_a_part_of_all_iterations(iterations, expected):
    # 0.05 of 24 000 iterations are 1200
    changes = {"iterations": iterations, "iterations_since_restart": 1000.0}
    assert restarts(metric(0.95), **changes) is expected


def test_the_mark_is_set_by_the_first_check_after_a_restart_and_when_iterations_double():
    first = decide(metric(0.95), control_of(iterations_since_restart=0.0))
    assert (first[Control.MARK_ITERATIONS], first[Control.MARK_METRIC]) == (
        200.0,
        pytest.approx(0.95),
    )
    assert not first[Control.RESTART]
    between = decide(metric(0.8), control_of(iterations_since_restart=800.0))
    assert (between[Control.MARK_ITERATIONS], between[Control.MARK_METRIC]) == (600.0, 1.0)
    doubled = decide(metric(0.8), control_of(iterations_since_restart=1000.0))
    assert (doubled[Control.MARK_ITERATIONS], doubled[Control.MARK_METRIC]) == (
        1200.0,
        pytest.approx(0.8),
    )


def test_the_metric_is_remembered_for_the_next_check():
    assert decide(metric(0.8), control_of())[Control.PREVIOUS_METRIC] == pytest.approx(0.8)


# Step size


def test_a_negative_metric_proves_the_step_too_long():
    after = decide(Figures(square=-0.1), control_of())
    assert after[Control.STEP] == pytest.approx(0.9 / 1.05)
    assert after[Control.METRIC_SQUARED] == pytest.approx(-0.1)
    assert after[Control.PREVIOUS_METRIC] == 0.0
    assert after[Control.RESTART], "no metric is below zero"


def test_step_sizes_follow_step_and_weight():
    for figures, changes in (
        (Figures(), {}),
        (Figures(square=-1.0), {}),
        (Figures(), {"checks": 0}),
    ):
        after = decide(figures, control_of(**changes))
        assert after[Control.TAU] == pytest.approx(after[Control.STEP] / after[Control.WEIGHT])
        assert after[Control.SIGMA] == pytest.approx(after[Control.STEP] * after[Control.WEIGHT])


# Primal weight


def restarted(primal_distance: float, dual_distance: float, **changes: float) -> np.ndarray:
    """Return the control array after a restart with these distances."""
    errors = {name: changes.pop(name) for name in ("primal", "dual") if name in changes}
    figures = Figures(
        primal_distance=primal_distance, dual_distance=dual_distance, square=0.01, **errors
    )
    after = decide(figures, control_of(**changes))
    assert after[Control.RESTART]
    return after


def test_weight_stays_between_restarts():
    assert decide(Figures(dual_distance=100.0), control_of())[Control.WEIGHT] == 2.0


@pytest.mark.parametrize("before", [1.0, 5.0])
def test_weight_becomes_the_ratio_of_distances_where_the_residuals_are_equal(before):
    after = restarted(1.0, 100.0, primal=0.3, dual=0.3, weight=before)
    assert after[Control.WEIGHT] == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("primal", "dual", "expected"), [(16.0, 1.0, 100.0), (1.0, 16.0, 25.0), (1.0, 1e4, 5.0)]
)
def test_weight_leans_towards_the_larger_residual(primal, dual, expected):
    after = restarted(1.0, 50.0, primal=primal, dual=dual)
    assert after[Control.WEIGHT] == pytest.approx(expected)


def test_weight_may_leave_the_residuals_aside():
    after = restarted(1.0, 50.0, primal=16.0, dual=1.0, residual_exponent=0.0)
    assert after[Control.WEIGHT] == pytest.approx(50.0)


@pytest.mark.parametrize(("change", "expected"), [(1.0, 8.0), (0.0, 8.0), (-1.0, 4.0)])
def test_weight_goes_back_on_the_last_change_by_a_part(change, expected):
    after = restarted(1.0, 8.0, primal=0.3, dual=0.3, last_change=change, reversal=0.5)
    assert after[Control.WEIGHT] == pytest.approx(expected)
    assert after[Control.LAST_CHANGE] == pytest.approx(np.log(expected / 2.0))


@pytest.mark.parametrize(
    ("primal", "dual"), [(1e-17, 1.0), (1.0, 1e13), (0.0, 0.0), (1e13, 1.0), (1.0, 1e-17)]
)
def test_weight_falls_back_to_the_best_when_distances_say_nothing(primal, dual):
    assert restarted(primal, dual)[Control.WEIGHT] == 3.0


@pytest.mark.parametrize(("imbalance", "expected"), [(1.1e8, 3.0), (0.9e8, 7.0)])
@pytest.mark.parametrize("turned", [False, True])
def test_weight_falls_back_when_the_residuals_are_far_apart(imbalance, expected, turned):
    errors = {"primal": 1.0, "dual": imbalance}
    if turned:
        errors = {"primal": imbalance, "dual": 1.0}
    after = restarted(1.0, 7.0, **errors, residual_exponent=0.0)
    assert after[Control.WEIGHT] == pytest.approx(expected)


@pytest.mark.parametrize("zero", ["primal", "dual"])
def test_weight_moves_on_when_a_residual_is_exactly_zero(zero):
    after = restarted(1.0, 100.0, **{"primal": 1.0, "dual": 1.0, zero: 0.0})
    assert after[Control.WEIGHT] == pytest.approx(100.0)
    assert after[Control.BEST_WEIGHT] == 3.0


@pytest.mark.parametrize(
    ("imbalance", "dual", "expected"),
    [(np.inf, 1e-2, 2.0), (2.1, 1e-2, 2.0), (1.9, 1e-2, 3.0), (np.inf, 0.0, 3.0)],
)
def test_best_weight_is_the_one_of_least_imbalance(imbalance, dual, expected):
    after = decide(Figures(primal=1.0, dual=dual), control_of(best_imbalance=imbalance))
    assert after[Control.BEST_WEIGHT] == expected
    if expected == 2.0:
        assert after[Control.BEST_IMBALANCE] == pytest.approx(2.0)


# Best points


@pytest.mark.parametrize(("best", "kept"), [(0.99, False), (1.01, True), (np.inf, True)])
def test_the_point_of_least_error_is_kept(best, kept):
    after = decide(Figures(primal=0.3, dual=1.0, gap=0.5), control_of(best_error=best))
    assert bool(after[Control.KEEP_BEST]) is kept
    assert after[Control.BEST_ERROR] == (pytest.approx(1.0) if kept else best)


@pytest.mark.parametrize(
    ("primal", "best", "kept"),
    [(INSIDE, 51.0, True), (INSIDE, 49.0, False), (OUTSIDE, 51.0, False), (INSIDE, np.inf, True)],
)
def test_the_feasible_point_of_least_objective_is_kept(primal, best, kept):
    after = decide(Figures(primal=primal), control_of(best_objective=best))
    assert bool(after[Control.KEEP_FEASIBLE]) is kept
    assert after[Control.BEST_OBJECTIVE] == (pytest.approx(50.0) if kept else best)


def test_an_optimal_point_is_kept():
    after = decide(GOOD, control_of(best_error=np.inf, best_objective=np.inf))
    assert flags(after) == (False, True, True)


# Carrying it out


@through("restart", [0.0, 1.0])
@through("best", [0.0, 1.0])
@through("feasible", [0.0, 1.0])
@through("threads", [1, 2])
def test_settle_moves_and_keeps_what_was_decided(restart, best, feasible, threads):
    generator = np.random.default_rng(1)
    n, m = 37, 23
    x, x_anchor, x_projection, best_x, feasible_x = generator.standard_normal((5, n))
    y, y_anchor, y_projection, best_y = generator.standard_normal((4, m))
    control = control_of(restart=restart, keep_best=best, keep_feasible=feasible)
    before = [a.copy() for a in (x, x_anchor, best_x, feasible_x, y, y_anchor, best_y)]
    DECISIONS.twin.settle(
        n, x, x_anchor, x_projection, best_x, feasible_x,
        m, y, y_anchor, y_projection, best_y, control, threads,
    )  # fmt: skip
    moved = [restart, restart, best, feasible, restart, restart, best]
    news = [x_projection] * 4 + [y_projection] * 3
    found = (x, x_anchor, best_x, feasible_x, y, y_anchor, best_y)
    for now, then, new, changed in zip(found, before, news, moved, strict=True):
        assert np.array_equal(now, new if changed else then)


def test_slots_may_hold_anything_that_adds_up():
    control = control_of()
    rows, columns = sums_of(Figures(), control)
    results = []
    for seed in range(2):
        after = control.copy()
        DECISIONS["decide"](9, spread(rows, 9, seed), 4, spread(columns, 4, seed), 200, after)
        results.append(after)
    np.testing.assert_allclose(*results, rtol=1e-12)
