"""The primal weight follows residuals that stand still far apart, and the side that moves alone."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.control import SIZE, Control, Stop
from solvers.pdlp.restarts import OneSidedMoves, ResidualBalance, change_weight
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.termination import Record
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


def test_while_neither_residual_is_small_the_rule_is_left_alone() -> None:
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
    """Where distances are not looked at, only the residuals tell that the first weight is wrong."""
    monkeypatch.setattr(
        importlib.import_module("solvers.pdlp.start"), "_first_weight", lambda _: weight
    )
    problem = random_lp(seed, rows=20, columns=30)
    alone = SETTINGS.changed(weight={"longest_distance": 0.0}, alternation={"iterations": None})
    options = EngineOptions(device="cpu", threads=1, tolerance=1e-6, iteration_limit=10_000)
    without = pdlp.solve(
        problem, options, Progress(), settings=alone.changed(correction={"decades": np.inf})
    )
    assert without.solution_status is not SolutionStatus.OPTIMAL
    outcome = pdlp.solve(problem, options, Progress(), settings=alone)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(solve_with_highs(problem)[1], rel=1e-4)


def moved(from_x: float, from_y: float) -> Record:
    """Return what a block says of the distances that x and y have travelled."""
    control = np.zeros(SIZE)
    control[Control.PRIMAL_DISTANCE], control[Control.DUAL_DISTANCE] = from_x, from_y
    return Record(control)


def one_sided_corrections(*distances: tuple[float, float]) -> list[float]:
    """Return the factors on the weight after each block."""
    watch = OneSidedMoves(DEFAULT)
    return [watch.factor(moved(*pair)) for pair in distances]


@pytest.mark.parametrize(("still", "factor"), [((0.0, 1.0), 10.0), ((1.0, 0.0), 0.1)])
def test_every_second_check_that_finds_one_side_still_lengthens_the_others_steps(still, factor):
    assert one_sided_corrections(*[still] * 5) == [1.0, factor, 1.0, factor, 1.0]


@pytest.mark.parametrize(
    "other", [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, math.inf), (math.nan, 1.0)]
)
def test_checks_in_between_that_find_otherwise_begin_anew(other) -> None:
    assert one_sided_corrections((0.0, 1.0), other, (0.0, 1.0)) == [1.0, 1.0, 1.0]


FAR = {
    "x at its upper bound until a row's dual has come far enough": Problem.from_arrays(
        [-134.82],
        [[2197.9], [-9435.6], [0.0023]],
        [111150.0, -477170.0, 0.1],
        [112880.0, -477160.0, 11843.0],
        lower=-np.inf,
        upper=78.6,
    ),
    "x at zero until y, far off, has come back": Problem.from_arrays(
        [-950000.0], [[-4.7], [0.0136], [41750.0]], [-0.1, 0.0, -16.9], [np.inf, 1320.0, 0.378]
    ),
    "x where it costs nothing until y has come far enough": Problem.from_arrays(
        [0.0, 100.0, 0.0], [[-0.01, -0.01, 1e5]], 417999.9938, 418000.0938, upper=[1e30, 1e30, 4.18]
    ),
}


@pytest.mark.parametrize("case", FAR)
def test_a_long_way_of_one_side_takes_few_iterations(case: str) -> None:
    counts = {}
    for factor in (1.0, DEFAULT.correction.one_sided_factor):
        settings = DEFAULT.changed(correction={"one_sided_factor": factor})
        options = EngineOptions(device="cpu", iteration_limit=20_000)
        outcome = pdlp.solve(FAR[case], options, Progress(), settings=settings)
        counts[factor] = int(outcome.statistics["iterations"])
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    few, many = counts[DEFAULT.correction.one_sided_factor], counts[1.0]
    assert 4 * few < many
