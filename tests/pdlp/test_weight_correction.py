"""The primal weight follows the residuals where one of them stands still far above the other."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.progress import Progress
from solvers.pdlp.control import SIZE, Control, Stop
from solvers.pdlp.restarts import change_weight
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.statistics import Record
from solvers.pdlp.weight_correction import ResidualBalance
from tests.pdlp.lps import random_lp, solve_with_highs

TOLERANCE = 1e-6
SETTINGS = DEFAULT.changed(correction={"period": 1000})


def record(iterations: int, primal: float, dual: float) -> Record:
    """Return what a block leaves behind that measured these residuals."""
    control = np.zeros(SIZE)
    control[Control.ITERATIONS] = iterations
    control[Control.PRIMAL_RESIDUAL], control[Control.DUAL_RESIDUAL] = primal, dual
    return Record(control)


def corrections(primal, dual, blocks: int = 20, tolerance: float = TOLERANCE) -> dict[int, float]:
    """Return the factors other than one, by iterations, of residuals by block."""
    correction = SETTINGS.correction
    balance = ResidualBalance(correction, tolerance, correction.period)
    found = {
        200 * block: balance.factor(record(200 * block, primal(block), dual(block)))
        for block in range(1, blocks + 1)
    }
    return {iterations: factor for iterations, factor in found.items() if factor != 1.0}


def test_a_residual_that_stands_still_decades_above_the_other_is_answered() -> None:
    # the first period has nothing to be compared with
    assert corrections(lambda _: 1e-3, lambda _: 5e-7) == pytest.approx({2000: 2000**0.5})
    assert corrections(lambda _: 5e-7, lambda _: 1e-3) == pytest.approx({2000: 2000**-0.5})


def test_a_correction_has_its_limit() -> None:
    assert corrections(lambda _: 1e6, lambda _: 1e-9)[2000] == pytest.approx(100.0)
    assert corrections(lambda _: 1e-9, lambda _: 1e6)[2000] == pytest.approx(0.01)


def test_residuals_that_are_balanced_or_fall_are_left_alone() -> None:
    assert not corrections(lambda _: 9e-4, lambda _: 9.5e-7)
    assert not corrections(lambda block: 10.0 ** (-block / 10), lambda _: 5e-7)


def test_while_neither_residual_is_small_the_controller_is_left_alone() -> None:
    assert not corrections(lambda _: 1e2, lambda _: 2e-6)
    assert corrections(lambda _: 1e2, lambda _: 9e-7)


def test_tight_tolerances_count_a_small_residual_as_done() -> None:
    assert corrections(lambda _: 2e-5, lambda _: 2e-7, tolerance=1e-8)
    assert not corrections(lambda _: 2e-3, lambda _: 4e-7, tolerance=1e-8)
    assert not corrections(lambda _: 1e-5, lambda _: 2e-7, tolerance=1e-8)
    assert not corrections(lambda _: 2e-5, lambda _: 2e-7, tolerance=1e-6)


def test_residuals_within_the_tolerance_are_not_compared() -> None:
    """One is 1e-16 and the other just short of optimal: nothing to be gained by a new weight."""
    assert not corrections(lambda _: 1e-5, lambda _: 1e-16)


def test_a_residual_of_exactly_zero_tells_nothing() -> None:
    assert not corrections(lambda _: 1.0, lambda _: 0.0)
    assert not corrections(lambda _: 0.0, lambda _: 1.0)


def test_looks_become_rarer_as_iterations_grow() -> None:
    # looks after 1.5 times the iterations, and none compares with what was before a correction
    found = corrections(lambda _: 1e-1, lambda _: 5e-7, blocks=100)
    assert list(found) == [2000, 4600, 10600]


def test_residuals_that_are_no_numbers_change_nothing() -> None:
    assert not corrections(lambda _: np.nan, lambda _: 1e-8)


def test_the_weight_changes_and_the_iteration_restarts_at_the_projected_point() -> None:
    problem = random_lp(1, rows=6, columns=8)
    state = pdlp.prepare(problem, EngineOptions(device="cpu", threads=1), cpu(), Progress())
    for side in (state.x, state.y):
        side.projection[...] = 1.0 + np.arange(side.projection.size)
    before = Record(state.read_control())
    change_weight(state, before, 10.0)
    after = Record(state.read_control())
    weight, step = 10.0 * before[Control.WEIGHT], before[Control.STEP]
    assert after[Control.WEIGHT] == pytest.approx(weight)
    assert after[Control.TAU] == pytest.approx(step / weight)
    assert after[Control.SIGMA] == pytest.approx(step * weight)
    assert after[Control.ITERATIONS_SINCE_RESTART] == 0.0
    assert after.stop is Stop.NO
    for side in (state.x, state.y):
        np.testing.assert_array_equal(side.point, side.projection)
        np.testing.assert_array_equal(side.anchor, side.projection)


@pytest.mark.parametrize("weight", [1e-6, 1e6])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_a_weight_that_is_far_off_is_found_out(seed: int, weight: float, monkeypatch) -> None:
    """Without the controller nothing but the residuals can tell that the first weight is wrong."""
    monkeypatch.setattr(
        importlib.import_module("solvers.pdlp.start"), "_first_weight", lambda _: weight
    )
    problem = random_lp(seed, rows=20, columns=30)
    alone = SETTINGS.changed(
        weight={"proportional": 0.0, "integral": 0.0}, alternation={"iterations": None}
    )
    alone = alone.changed(weight={"largest_imbalance": 1e300})
    options = EngineOptions(device="cpu", threads=1, tolerance=1e-6, iteration_limit=10_000)
    without = pdlp.solve(
        problem, options, Progress(), settings=alone.changed(correction={"decades": np.inf})
    )
    assert without.solution_status is not SolutionStatus.OPTIMAL
    outcome = pdlp.solve(problem, options, Progress(), settings=alone)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-4)
