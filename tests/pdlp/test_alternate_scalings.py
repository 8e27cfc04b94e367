"""Going on with another scaling when the first gets nowhere."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from solvers import pdlp
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.pdlp.settings import DEFAULT
from tests.pdlp.shrinking.wide_lps import covering

SHORT = DEFAULT.changed(
    alternation={
        "iterations": 400,
        "tolerance_decades": math.inf,
        "progress": 0.0,
        "decades_to_keep": math.inf,
    },
    shrinking={"enabled": False},
)
OPTIONS = EngineOptions(device="cpu", threads=1, tolerance=1e-8)


class Listener(Progress):
    """Keeps what is logged and the iterations that are told."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.iterations: list[int] = []

    def log(self, line: str) -> None:
        self.lines.append(line)

    def iteration(self, iterations: int, **figures: float) -> None:
        self.iterations.append(iterations)


def solve(settings: pdlp.Settings, **options: object) -> tuple[Outcome, Listener]:
    listener = Listener()
    outcome = pdlp.solve(covering(3), replace(OPTIONS, **options), listener, settings=settings)
    return outcome, listener


def test_alternate_scalings_end_with_the_same_optimum() -> None:
    usual, _ = solve(DEFAULT.changed(shrinking={"enabled": False}))
    outcome, listener = solve(SHORT)
    changes = [line for line in listener.lines if "another scaling" in line]
    assert changes
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(usual.objective, rel=1e-6)
    assert listener.iterations == sorted(listener.iterations)
    assert outcome.statistics["iterations"] == listener.iterations[-1] > 400
    restarts = outcome.statistics["restarts"]
    assert isinstance(restarts, int)
    assert restarts >= len(changes)


@pytest.mark.parametrize("limit", [200, 400, 600, 1000])
def test_the_limit_on_iterations_is_that_of_all_scalings(limit: int) -> None:
    outcome, _ = solve(SHORT, iteration_limit=limit, tolerance=1e-14)
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == limit


def test_a_longer_solve_is_never_worse() -> None:
    errors = []
    for limit in (400, 600, 800, 1200, 1600):
        outcome, _ = solve(SHORT, iteration_limit=limit, tolerance=1e-14)
        names = ("relative_primal_residual", "relative_dual_residual", "relative_gap")
        errors.append(max(float(outcome.statistics[name]) for name in names))
    assert errors == sorted(errors, reverse=True)


def test_a_milestone_is_reached_once() -> None:
    handed: list[Outcome] = []
    milestone = pdlp.Milestone(1e-3, handed.append)
    pdlp.solve(covering(3), OPTIONS, Progress(), settings=SHORT, milestone=milestone)
    assert len(handed) == 1


def test_without_another_scaling_there_is_one_run() -> None:
    _, listener = solve(SHORT.changed(scaling={"curtis_reid_passes": 0}), iteration_limit=1000)
    assert not [line for line in listener.lines if "another scaling" in line]


@pytest.mark.parametrize(("error", "is_last"), [(1e-12, True), (math.inf, False)])
def test_a_scaling_without_a_digit_is_the_last_where_that_is_wanted(
    error: float, is_last: bool
) -> None:
    wanted = SHORT.changed(alternation={"hopeless_from": 500, "hopeless_error": error})
    outcome, listener = solve(wanted, tolerance=1e-14, iteration_limit=1500)
    changes = [line for line in listener.lines if "another scaling" in line]
    assert outcome.stop_reason is StopReason.ITERATION_LIMIT
    assert outcome.statistics["iterations"] == (1200 if is_last else 1500)
    assert len(changes) == (1 if is_last else 2)


@pytest.mark.parametrize(("tolerance", "first"), [(1e-2, 400), (1e-4, 400), (1e-6, 600)])
def test_tighter_tolerances_have_longer_runs(tolerance: float, first: int) -> None:
    in_proportion = SHORT.changed(alternation={"tolerance_decades": 4.0})
    # no point is that good: where the first scaling ends is all that the tolerance decides here
    problem = covering(3)
    listener = Listener()
    options = replace(OPTIONS, tolerance=tolerance, iteration_limit=1000)
    norms = pdlp.Norms(sides=-1.0 + 1e-12, cost=-1.0 + 1e-12)
    pdlp.solve(problem, options, listener, settings=in_proportion, norms=norms)
    changes = [line for line in listener.lines if "another scaling" in line]
    assert changes[0].startswith(f"Not solved after {first:,} iterations")
