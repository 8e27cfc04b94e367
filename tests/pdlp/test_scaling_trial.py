"""Two scalings tried before a solve goes on with one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers import pdlp
from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import scaling_trial
from solvers.pdlp.control import Control
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.scaling_trial import ScalingTrial, is_worth_a_trial, try_scalings
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.supervision import SolveRequest
from tests.pdlp.lps import random_lp
from tests.pdlp.shrinking.wide_lps import covering
from tests.pdlp.test_alternate_scalings import Listener

TRIED = DEFAULT.changed(trial={"from_nonzeros": 0, "iterations": 400})
RUIZ = TRIED.changed(scaling={"curtis_reid_passes": 0})
NO_RIDGE = TRIED.changed(scaling={"curtis_reid_ridge": 0.0})
OPTIONS = EngineOptions(device="cpu", threads=1, tolerance=1e-8)
SEEDS = (1, 8, 9, 12)


@pytest.fixture(autouse=True)
def whole_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small programs, which are nearly done after one trial, have the others."""
    monkeypatch.setattr(scaling_trial, "AGAIN", -1e9)


def badly_scaled(seed: int) -> Problem:
    """Return an LP whose columns are in units up to a thousand times apart."""
    problem = random_lp(seed, 60, 90)
    unit = 10.0 ** np.random.default_rng(seed).uniform(-1.5, 1.5, problem.num_columns)
    matrix = problem.matrix.copy()
    matrix.data = matrix.data * unit[matrix.indices]
    return replace(
        problem,
        matrix=matrix,
        cost=problem.cost * unit,
        lower=problem.lower / unit,
        upper=problem.upper / unit,
    )


def solve(problem: Problem, **options: object) -> tuple[Outcome, Listener]:
    listener = Listener()
    outcome = pdlp.solve(problem, replace(OPTIONS, **options), listener, settings=TRIED)
    return outcome, listener


def trials(listener: Listener) -> list[str]:
    return [line for line in listener.lines if "Tried another scaling" in line]


def tried(problem: Problem, start: Start | None = None) -> ScalingTrial:
    return try_scalings(SolveRequest(cpu(), problem, OPTIONS, Progress(), start), TRIED)


def error_alone(problem: Problem, settings: pdlp.Settings) -> float:
    """Return the least error of so many iterations with one scaling."""
    options = replace(OPTIONS, iteration_limit=400)
    state = pdlp.prepare(problem, options, cpu(), Progress(), settings=settings)
    pdlp.run(state, options, Progress())
    return float(state.read_control()[Control.BEST_ERROR])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimum_is_that_without_a_trial(seed: int) -> None:
    problem = badly_scaled(seed)
    outcome, listener = solve(problem)
    usual = pdlp.solve(problem, OPTIONS, Progress())
    assert len(trials(listener)) == 2
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(usual.objective, rel=1e-6)
    assert outcome.statistics["iterations"] == listener.iterations[-1]
    assert listener.iterations == sorted(listener.iterations)


def test_a_scaling_that_came_clearly_nearer_goes_on_from_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scaling_trial, "CLEARLY", 1.0)
    winners = set()
    for seed in SEEDS:
        problem = badly_scaled(seed)
        trial = tried(problem)
        alone = {one: error_alone(problem, one) for one in (TRIED, RUIZ, NO_RIDGE)}
        control = trial.state.read_control()
        assert control[Control.BEST_ERROR] == alone[trial.settings] <= alone[TRIED]
        assert control[Control.ITERATIONS] == 400
        assert 400 <= trial.iterations <= 800
        winners.add(trial.settings)
    assert len(winners) > 1  # else nothing was chosen


def test_the_usual_scaling_stays_where_none_is_clearly_nearer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scaling_trial, "CLEARLY", 1e9)
    assert all(tried(badly_scaled(seed)).settings == TRIED for seed in SEEDS)


@pytest.mark.parametrize("limit", [200, 1200, 1400, 1800])
def test_the_limit_on_iterations_counts_both(limit: int) -> None:
    outcome, listener = solve(badly_scaled(0), iteration_limit=limit, tolerance=1e-14)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit
    assert bool(trials(listener)) == (limit > 1200)


def test_a_scaling_that_is_the_same_is_not_tried() -> None:
    problem = covering(3)
    assert set(problem.matrix.data) == {1.0}  # so the scales of Curtis and Reid are ones
    trial = tried(problem)
    assert (trial.iterations, trial.settings) == (0, TRIED)
    assert trial.state.read_control()[Control.ITERATIONS] == 400


def test_a_start_that_is_the_answer_needs_no_trial() -> None:
    problem = badly_scaled(1)
    answer = pdlp.solve(problem, replace(OPTIONS, tolerance=1e-10), Progress())
    trial = tried(problem, Start(x=answer.x, row_dual=answer.row_dual))
    assert trial.iterations == 0


@pytest.mark.parametrize("again", [-1e9, 1e9])
def test_none_other_is_tried_where_the_first_is_nearly_done(
    again: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaling_trial, "AGAIN", again)
    assert [tried(badly_scaled(seed)).iterations > 0 for seed in SEEDS] == [again < 0] * len(SEEDS)


@pytest.mark.parametrize(
    ("errors", "nearly"),
    [
        ((np.inf, 1e-1, 1e-2, 1e-3, 9e-5), True),  # two decades in the second half, four to go
        ((np.inf, 1e-1, 1e-2, 1e-3, 2e-4), False),
        ((np.inf, 1e-1, 1e-2, 1e-2, 1e-2), False),
        ((np.inf, 1e-9), True),
        ((np.inf, np.inf), False),
        ((np.inf,), False),
        ((np.inf, 1.0, 1e-1, np.inf), False),  # numbers have ceased to be finite
    ],
)
def test_what_is_nearly_done_needs_as_many_iterations_again(
    errors: tuple[float, ...], nearly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaling_trial, "AGAIN", 2.0)
    assert scaling_trial._is_nearly_done(errors, 1e-8) is nearly


def test_two_sets_of_vectors_need_room() -> None:
    problem = badly_scaled(2)
    assert is_worth_a_trial(SolveRequest(cpu(), problem, OPTIONS, Progress()), TRIED)
    assert not is_worth_a_trial(
        SolveRequest(replace(cpu(), memory_free=1000), problem, OPTIONS, Progress()), TRIED
    )


@pytest.mark.parametrize("devices", [2, 3])
def test_on_several_devices_it_is_that_of_one(devices: int) -> None:
    problem = badly_scaled(3)
    group = DeviceGroup.of([cpu()] * devices)
    alone = tried(problem)
    together = try_scalings(SolveRequest(group, problem, OPTIONS, Progress()), TRIED)
    assert together.settings == alone.settings
    assert together.iterations == alone.iterations > 0
    errors = [trial.state.read_control()[Control.BEST_ERROR] for trial in (alone, together)]
    assert errors[1] == pytest.approx(errors[0], rel=1e-6)
