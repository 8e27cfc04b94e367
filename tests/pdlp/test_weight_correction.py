"""The primal weight follows the side that moves alone."""

from __future__ import annotations

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
from solvers.pdlp.restarts import OneSidedMoves, change_weight
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.termination import Record
from tests.pdlp.lps import random_lp


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


def moved(from_x: float, from_y: float) -> Record:
    """Return what a block says of the distances that x and y have travelled."""
    control = np.zeros(SIZE)
    control[Control.PRIMAL_DISTANCE], control[Control.DUAL_DISTANCE] = from_x, from_y
    return Record(control)


def one_sided_corrections(*distances: tuple[float, float]) -> list[float]:
    """Return the factors on the weight after each block."""
    watch = OneSidedMoves(DEFAULT.weight)
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
    for factor in (1.0, DEFAULT.weight.one_sided_factor):
        settings = DEFAULT.changed(weight={"one_sided_factor": factor})
        options = EngineOptions(device="cpu", iteration_limit=20_000)
        outcome = pdlp.solve(FAR[case], options, Progress(), settings=settings)
        counts[factor] = int(outcome.statistics["iterations"])
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    few, many = counts[DEFAULT.weight.one_sided_factor], counts[1.0]
    assert 4 * few < many
