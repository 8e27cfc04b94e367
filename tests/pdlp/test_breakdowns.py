"""Numbers that cease to be finite, and points that only seemed optimal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import loop
from solvers.pdlp.control import Control
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.state import State
from tests.pdlp.lps import random_lp
from tests.pdlp.solving import assert_kkt, solve


class Spoiling(Progress):
    """Makes the current point NaN after the check at so many iterations, and at breakdowns."""

    def __init__(self, at: int, times: int = 1) -> None:
        super().__init__(30.0)
        self.state: State | None = None
        self.at, self.left = at, times
        self.said: list[str] = []
        self.stepped: list[float] = []

    def spoil(self) -> None:
        assert self.state is not None
        self.stepped.append(float(self.state.read_control()[Control.STEP]))
        if self.left:
            self.left -= 1
            self.state.x.point[...] = np.nan

    def iteration(self, count, **figures):
        if count == self.at:
            self.spoil()

    def log(self, message):
        self.said.append(message)
        self.spoil()


def spoilt(problem: Problem, progress: Spoiling, **options):
    engine_options = EngineOptions(device="cpu", tolerance=1e-8, **options)
    progress.state = pdlp.prepare(problem, engine_options, cpu(), progress)
    return pdlp.run(progress.state, engine_options, progress)


@pytest.mark.parametrize("times", [1, DEFAULT.step.breakdowns_allowed])
def test_a_breakdown_is_recovered_from_with_a_shorter_step(times):
    problem = random_lp(20, 40, 60)
    progress = Spoiling(at=400, times=times)
    outcome = spoilt(problem, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-8)
    assert sum("broke down" in line for line in progress.said) == times
    assert progress.stepped[-1] == pytest.approx(
        progress.stepped[0] * DEFAULT.step.recovery_factor**times
    )
    assert np.all(np.isfinite(outcome.x))


def test_after_too_many_breakdowns_the_best_point_is_returned():
    problem = random_lp(20, 40, 60)
    progress = Spoiling(at=400, times=100)
    outcome = spoilt(problem, progress)
    assert outcome.stop_reason is StopReason.NUMERICAL_TROUBLE
    assert outcome.solution_status is not SolutionStatus.OPTIMAL
    untroubled = solve(problem, tolerance=1e-8, iteration_limit=400)
    best = outcome.candidate if outcome.x is None else outcome.x
    expected = untroubled.candidate if untroubled.x is None else untroubled.x
    assert np.array_equal(best, expected)
    # 400 good iterations, and a block for each breakdown
    assert outcome.statistics["iterations"] == 400 + 200 * (1 + DEFAULT.step.breakdowns_allowed)


def test_a_breakdown_in_the_very_first_block_is_no_reason_to_give_up():
    problem = random_lp(21, 40, 60)
    options, progress = EngineOptions(device="cpu"), Progress(600.0)
    state = pdlp.prepare(problem, options, cpu(), progress)
    state.y.point[...] = np.inf
    outcome = pdlp.run(state, options, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-6)


@pytest.mark.parametrize("loose", [1e-4, 1.0])
def test_a_point_that_only_seemed_optimal_is_rejected(loose):
    problem = random_lp(22, 40, 60)
    options, progress = EngineOptions(device="cpu", tolerance=1e-7), Progress(600.0)
    state = pdlp.prepare(problem, options, cpu(), progress)
    state.write_control(primal_tolerance=loose, dual_tolerance=loose, gap_tolerance=loose)
    outcome = pdlp.run(state, options, progress)
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert_kkt(problem, outcome, 1e-7)
    control = state.read_control()
    for name in ("PRIMAL_TOLERANCE", "DUAL_TOLERANCE", "GAP_TOLERANCE"):
        assert control[Control[name]] == pytest.approx(1e-7 * DEFAULT.step.recovery_factor)


def test_rejections_never_ask_for_less_than_a_tenth_of_the_tolerance(monkeypatch):
    problem = random_lp(22, 40, 60)
    options, progress = EngineOptions(device="cpu", tolerance=1e-4), Progress(600.0)
    state = pdlp.prepare(problem, options, cpu(), progress)
    real, seen = loop.judged, []

    def never_satisfied(solve, x, y):
        answer = real(solve, x, y)
        seen.append(answer is not None)
        return None

    monkeypatch.setattr(loop, "judged", never_satisfied)
    pdlp.run(state, replace(options, iteration_limit=20_000), progress)
    assert seen.count(True) > 12  # 0.8^12 is less than 0.1
    assert state.read_control()[Control.PRIMAL_TOLERANCE] == pytest.approx(1e-5)
