"""Two scalings that alternate, for models on which the usual one gets nowhere.

No scaling is best everywhere: most models are solved in fewer iterations with Curtis and Reid's
(``docs/pdlp-constants.md``), and a few hardly at all, while Ruiz's alone solves them. So a solve
that has not ended after a good many iterations goes on with the other scaling from the point that
has the least before it (``termination.decades_left``), for twice as many, then with the first
again, and so on.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from solvers.core.device import Device
from solvers.core.lp_answer import Answer, Norms
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.feasibility_polishing import PolishingSchedule
from solvers.pdlp.loop import run
from solvers.pdlp.scaling_trial import is_worth_a_trial, try_scalings, without_curtis_reid
from solvers.pdlp.settings import Settings
from solvers.pdlp.start import prepare
from solvers.pdlp.state import Coefficients, State
from solvers.pdlp.supervision import (
    IntermediatePoints,
    Milestone,
    MilestoneWatch,
    ScalingStagnation,
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

    def add(self, outcome: Outcome, answers: tuple[Answer, ...], criteria: Criteria) -> None:
        """Record a run that did not converge, and the points from which another may go on."""
        self.statistics = outcome.statistics
        error = max(float(outcome.statistics.get(name, math.inf)) for name in ERRORS)
        if self.outcome is None or error <= self.error:
            self.outcome, self.error = outcome, error
        for answer in answers:
            left = decades_left(answer.statistics, criteria)
            if left < self.left:
                self.left, self.start = left, Start(x=answer.x, row_dual=answer.row_dual)


def run_with_alternate_scalings(
    device: Device,
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    settings: Settings,
    norms: Norms | None,
    milestone: Milestone | None,
    points: IntermediatePoints | None = None,
) -> Outcome:
    """Prepare and run a solve on a device until it ends for a reason other than its scaling.

    The arguments are those of :func:`solvers.pdlp.solve`.
    """
    other = without_curtis_reid(settings)
    if other == settings:
        settings = settings.changed(alternation={"iterations": None})
    criteria = Criteria.uniform(options.tolerance)
    supervision = Supervision(
        stagnation=Stagnation(settings.stagnation, criteria),
        polishing=PolishingSchedule(settings, options.tolerance, problem.num_nonzeros, run),
        milestone=None if milestone is None else MilestoneWatch(milestone),
        points=points,
    )
    limit = math.inf if options.iteration_limit is None else options.iteration_limit
    length = _first_length(settings, options.tolerance)
    made = 0
    best = _Best(start=start)
    coefficients: Coefficients | None = None
    trial = None
    if not math.isinf(length) and is_worth_a_trial(problem, options, device, settings):
        with device.activate():
            trial = try_scalings(device, problem, options, progress, start, settings, norms)
        if trial.settings == other:
            other = settings
        settings, made, best.statistics = trial.settings, trial.iterations, trial.statistics
    while True:
        here = dataclasses.replace(
            options, iteration_limit=None if math.isinf(limit) else int(limit) - made
        )
        scaling_stagnation = None
        if not math.isinf(length):
            left = -math.inf if best.outcome is None else best.left
            scaling_stagnation = ScalingStagnation(settings.alternation, length, criteria, left)
        with device.activate():
            if trial is None:
                state = prepare(
                    problem, here, device, progress, best.start, settings, norms, coefficients
                )
            else:
                state, trial = trial.state, None
            coefficients = state.problem.coefficients
            supervised = dataclasses.replace(
                supervision, earlier=made, scaling_stagnation=scaling_stagnation
            )
            outcome = run(state, here, progress, supervised)
            goes_on = outcome.stop_reason is StopReason.ITERATION_LIMIT
            answers = _best_and_last(state) if goes_on else ()
            del state
        totals = _added(best.statistics, outcome.statistics)
        outcome = dataclasses.replace(outcome, statistics=totals)
        if outcome.stop_reason is StopReason.CONVERGED:
            return outcome
        made = int(outcome.statistics["iterations"])
        best.add(outcome, answers, criteria)
        if not goes_on or made >= limit or _is_hopeless(settings, made, best.error):
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


def _best_and_last(state: State) -> tuple[Answer, Answer]:
    """Return the point of least error and the latest one."""
    best = on_original(state, state.x.best, state.y.best)
    return best, on_original(state, state.x.projection, state.y.projection)


def _with_totals(best: Outcome, last: Outcome) -> Outcome:
    """Return the best outcome, with the totals and the reason of the last."""
    totals = {name: last.statistics[name] for name in ("iterations", *SUMMED)}
    return dataclasses.replace(
        best, stop_reason=last.stop_reason, statistics={**best.statistics, **totals}
    )


def _added(earlier: Statistics, statistics: Statistics) -> Statistics:
    """Return statistics with those of earlier scalings added."""
    sums = {name: float(earlier.get(name, 0)) + float(statistics[name]) for name in SUMMED}
    return {**statistics, **{k: type(statistics[k])(v) for k, v in sums.items()}}
