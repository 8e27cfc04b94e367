"""A turn goes on for as long as its errors fall, and not longer."""

from __future__ import annotations

import math

import pytest

from solvers.pdlp.scaling_stagnation import Patience
from solvers.pdlp.statistics import Statistics
from solvers.pdlp.termination import Criteria

CRITERIA = Criteria.uniform(1e-4)


def statistics(residual: float, gap: float = 0.0) -> Statistics:
    """Return figures with this primal residual and this relative gap."""
    objective = math.inf if gap >= 1.0 else gap / (1.0 - gap)
    if math.isinf(objective):
        objective = 1e300
    return Statistics(residual, 0.0, objective, 0.0, side_norm=0.0, cost_norm=0.0)


def end(patience: Patience, errors, gap: float = 0.0) -> int | None:
    """Return after how many iterations it is over, of 200 in each window."""
    for window, error in enumerate(errors, 1):
        if patience.is_over(200 * window, statistics(error, gap)):
            return 200 * window
    return None


@pytest.mark.parametrize("progress", [0.0, 0.5])
def test_a_turn_without_progress_ends_at_its_length(progress: float) -> None:
    assert end(Patience(6000, progress, CRITERIA), [1.0] * 100) == 6000


def test_a_turn_goes_on_while_the_error_falls() -> None:
    falling = [10.0 ** (-window / 5) for window in range(100)]
    assert end(Patience(6000, 0.5, CRITERIA), falling) is None
    # the look at 13500 iterations still sees a fall since that at 9000, the next one does not
    assert end(Patience(6000, 0.5, CRITERIA), falling[:50] + [falling[50]] * 200) == 20400


def test_without_progress_asked_for_it_always_ends() -> None:
    assert end(Patience(6000, 0.0, CRITERIA), [10.0**-window for window in range(100)]) == 6000


def test_errors_that_are_no_numbers_are_no_progress() -> None:
    assert end(Patience(6000, 0.5, CRITERIA), [math.nan] * 100) == 6000


def test_it_is_the_least_error_that_counts() -> None:
    waves = [10.0 ** (-window / 5) * (1.0 if window % 10 else 50.0) for window in range(100)]
    assert end(Patience(6000, 0.5, CRITERIA), waves) is None


def test_residuals_that_fall_are_progress_though_the_gap_stays_at_one() -> None:
    falling = [10.0 ** (-window / 5) for window in range(100)]
    assert statistics(0.0, gap=1.0).worst == 1.0
    assert end(Patience(6000, 0.5, CRITERIA), falling, gap=1.0) is None
    assert end(Patience(6000, 0.5, CRITERIA), [0.01] * 100, gap=1.0) == 6000


@pytest.mark.parametrize(("left", "is_over"), [(9.0, True), (11.0, False), (-math.inf, True)])
def test_a_scaling_that_has_come_much_nearer_is_kept(left: float, is_over: bool) -> None:
    # a residual of 1e-1 and a gap of 1e-3 are four and two decades above a tenth of the tolerance
    errors = [0.1] * 100
    patience = Patience(6000, 0.5, CRITERIA, left, enough=4.0)
    assert (end(patience, errors, gap=1e-3) is not None) is is_over


def test_nan_is_not_near() -> None:
    patience = Patience(6000, 0.5, CRITERIA, left=100.0, enough=4.0)
    assert end(patience, [math.nan] * 100) == 6000
