"""A scaling stays for as long as its errors fall, and not longer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.stagnation import ScalingStagnation
from solvers.pdlp.statistics import Statistics
from solvers.pdlp.termination import Criteria

CRITERIA = Criteria.uniform(1e-4)


def statistics(residual: float, gap: float = 0.0) -> Statistics:
    """Return figures with this primal residual and this relative gap."""
    objective = math.inf if gap >= 1.0 else gap / (1.0 - gap)
    if math.isinf(objective):
        objective = 1e300
    return Statistics(residual, 0.0, objective, 0.0, side_norm=0.0, cost_norm=0.0)


def watch(progress: float, left_before: float = -math.inf) -> ScalingStagnation:
    """Return the watch of a scaling with 6000 iterations, which stays once four decades nearer."""
    settings = replace(DEFAULT.alternation, progress=progress, decades_to_keep=4.0)
    return ScalingStagnation(settings, 6000, CRITERIA, left_before)


def end(stagnation: ScalingStagnation, errors, gap: float = 0.0) -> int | None:
    """Return after how many iterations it is over, of 200 in each block."""
    for block, error in enumerate(errors, 1):
        if stagnation.is_over(200 * block, statistics(error, gap)):
            return 200 * block
    return None


@pytest.mark.parametrize("progress", [0.0, 0.5])
def test_a_scaling_without_progress_ends_at_its_length(progress: float) -> None:
    assert end(watch(progress), [1.0] * 100) == 6000


def test_a_scaling_stays_while_the_error_falls() -> None:
    falling = [10.0 ** (-block / 5) for block in range(100)]
    assert end(watch(0.5), falling) is None
    # the look at 13500 iterations still sees a fall since that at 9000, the next one does not
    assert end(watch(0.5), falling[:50] + [falling[50]] * 200) == 20400


def test_without_progress_asked_for_it_always_ends() -> None:
    assert end(watch(0.0), [10.0**-block for block in range(100)]) == 6000


def test_errors_that_are_no_numbers_are_no_progress() -> None:
    assert end(watch(0.5), [math.nan] * 100) == 6000


def test_it_is_the_least_error_that_counts() -> None:
    waves = [10.0 ** (-block / 5) * (1.0 if block % 10 else 50.0) for block in range(100)]
    assert end(watch(0.5), waves) is None


def test_residuals_that_fall_are_progress_though_the_gap_stays_at_one() -> None:
    falling = [10.0 ** (-block / 5) for block in range(100)]
    assert statistics(0.0, gap=1.0).worst == 1.0
    assert end(watch(0.5), falling, gap=1.0) is None
    assert end(watch(0.5), [0.01] * 100, gap=1.0) == 6000


@pytest.mark.parametrize(("left", "is_over"), [(9.0, True), (11.0, False), (-math.inf, True)])
def test_a_scaling_that_has_come_much_nearer_is_kept(left: float, is_over: bool) -> None:
    # a residual of 1e-1 and a gap of 1e-3 are four and two decades above a tenth of the tolerance
    errors = [0.1] * 100
    stagnation = watch(0.5, left)
    assert (end(stagnation, errors, gap=1e-3) is not None) is is_over


def test_nan_is_not_near() -> None:
    stagnation = watch(0.5, 100.0)
    assert end(stagnation, [math.nan] * 100) == 6000
