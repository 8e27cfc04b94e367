"""Two scalings that alternate where one gets nowhere.

No scaling is best everywhere: most models are solved in fewer iterations with Curtis and Reid's
(``docs/pdlp-constants.md``), and a few hardly at all, while Ruiz's alone solves them. So a solve
that has not ended after a good many iterations goes on with the other scaling from the point that
has the least before it (``termination.decades_left``), for twice as many, then with the first
again, and so on. On large models a trial says which comes first (``scaling_trial``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from solvers.core.outcome import Outcome, Start, StopReason
from solvers.pdlp.feasibility_polishing import PolishingSchedule
from solvers.pdlp.loop import run
from solvers.pdlp.scaling import without_curtis_reid
from solvers.pdlp.scaling_trial import is_worth_a_trial, try_scalings
from solvers.pdlp.settings import Settings
from solvers.pdlp.start import prepare
from solvers.pdlp.state import Coefficients, State
from solvers.pdlp.supervision import (
    MilestoneWatch,
    ScalingStagnation,
    SolveRequest,
    Stagnation,
    Supervision,
)
from solvers.pdlp.termination import Criteria, decades_left, on_original

LONGER = 2
"""Factor from one scaling's iterations to the next one's."""

SUMMED = ("restarts", "parts", "entries_visited", "loop_seconds")
"""Statistics of which an outcome tells the sum over all scalings."""

ERRORS = ("relative_primal_residual", "relative_dual_residual", "relative_gap")
"""Statistics of an outcome of which the largest is its error."""

Statistics = Mapping[str, float | int | str]


@dataclass(eq=False)
class _Best:
    """What the runs so far have come to.

    ``outcome`` is that of the run whose point has the least error, ``error``; ``left`` are the
    decades that the point nearest to the end has before it, and ``start`` is that point. Totals of
    all runs stand in ``statistics``.
    """

    outcome: Outcome | None = None
    error: float = math.inf
    left: float = math.inf
    start: Start | None = None
    statistics: Statistics = dataclasses.field(default_factory=dict)

    def add(self, outcome: Outcome, points: tuple[tuple[float, Start], ...]) -> None:
        """Record a run that did not converge, and points from which another may go on.

        Each comes with the decades that it has before it.
        """
        self.statistics = outcome.statistics
        error = max(float(outcome.statistics.get(name, math.inf)) for name in ERRORS)
        if self.outcome is None or error <= self.error:
            self.outcome, self.error = outcome, error
        for left, start in points:
            if left < self.left:
                self.left, self.start = left, start


def run_with_alternate_scalings(request: SolveRequest, settings: Settings) -> Outcome:
    """Prepare and run a solve on a device until it ends for a reason other than its scaling."""
    device, problem = request.device, request.problem
    options, progress, limit = request.options, request.progress, request.iteration_limit
    other = without_curtis_reid(settings)
    if other == settings:
        settings = settings.changed(alternation={"iterations": None})
    criteria = Criteria.uniform(options.tolerance)
    supervision = Supervision(
        stagnation=Stagnation(settings.stagnation, criteria),
        polishing=PolishingSchedule(settings, options.tolerance, problem.num_nonzeros, run),
        milestone=None if request.milestone is None else MilestoneWatch(request.milestone),
        points=request.points,
    )
    length = _first_length(settings, options.tolerance)
    made = 0
    best = _Best(start=request.start)
    coefficients: Coefficients | None = None
    trial = None
    is_large = problem.num_nonzeros >= settings.trial.from_nonzeros
    if is_large and not math.isinf(length) and is_worth_a_trial(request, settings):
        with device.activate():
            trial = try_scalings(request, settings)
        if trial.settings == other:
            other = settings
        settings, made, best.statistics = trial.settings, trial.iterations, trial.statistics
    while True:
        here = replace(options, iteration_limit=None if math.isinf(limit) else int(limit) - made)
        scaling_stagnation = None
        if not math.isinf(length):
            left = -math.inf if best.outcome is None else best.left
            scaling_stagnation = ScalingStagnation(settings.alternation, length, criteria, left)
        with device.activate():
            if trial is None:
                state = prepare(
                    problem,
                    here,
                    device,
                    progress,
                    best.start,
                    settings,
                    request.norms,
                    coefficients,
                )
            else:
                state, trial = trial.state, None
            coefficients = state.problem.coefficients
            supervised = replace(supervision, earlier=made, scaling_stagnation=scaling_stagnation)
            outcome = run(state, here, progress, supervised)
            made = int(outcome.statistics["iterations"])
            goes_on = outcome.stop_reason is StopReason.ITERATION_LIMIT and made < limit
            points = _best_and_last(state, criteria) if goes_on else ()
            del state
        totals = _added(best.statistics, outcome.statistics)
        outcome = replace(outcome, statistics=totals)
        if outcome.stop_reason is StopReason.CONVERGED:
            return outcome
        best.add(outcome, points)
        if not goes_on or _is_hopeless(settings, made, best.error):
            return _with_totals(best.outcome or outcome, outcome)
        settings, other, length = other, settings, LONGER * length
        progress.log(f"Not solved after {made:,} iterations; going on with another scaling.")


def _first_length(settings: Settings, tolerance: float) -> float:
    """Return the iterations of the first scaling."""
    alternation = settings.alternation
    if alternation.iterations is None:
        return math.inf
    return alternation.iterations * max(1.0, -math.log10(tolerance) / alternation.tolerance_decades)


def _is_hopeless(settings: Settings, made: int, error: float) -> bool:
    """Whether so many iterations have led nowhere, so that no other scaling is tried."""
    alternation = settings.alternation
    return made >= alternation.hopeless_from and not error <= alternation.hopeless_error


def _best_and_last(
    state: State, criteria: Criteria
) -> tuple[tuple[float, Start], tuple[float, Start]]:
    """Return the point of least error and the latest one, with the decades that each has left."""

    def point(x: Any, y: Any) -> tuple[float, Start]:
        answer = on_original(state, x, y, brief=True)
        left = decades_left(answer.statistics, criteria)
        return left, Start(x=answer.x, row_dual=answer.row_dual)

    return point(state.x.best, state.y.best), point(state.x.projection, state.y.projection)


def _with_totals(best: Outcome, last: Outcome) -> Outcome:
    """Return the best outcome, with the totals and the reason of the last."""
    totals = {name: last.statistics[name] for name in ("iterations", *SUMMED)}
    return replace(best, stop_reason=last.stop_reason, statistics={**best.statistics, **totals})


def _added(earlier: Statistics, statistics: Statistics) -> Statistics:
    """Return statistics with those of earlier scalings added."""
    sums = {name: float(earlier.get(name, 0)) + float(statistics[name]) for name in SUMMED}
    return {**statistics, **{k: type(statistics[k])(v) for k, v in sums.items()}}
