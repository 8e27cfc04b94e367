"""Two scalings in turn, for models on which the usual one gets nowhere.

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

from solvers.core.device import Device
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.answer import Answer, on_original
from solvers.pdlp.intermediate_points import Keeping
from solvers.pdlp.loop import run
from solvers.pdlp.matrix import Coefficients
from solvers.pdlp.milestone import Milestone
from solvers.pdlp.norms import Norms
from solvers.pdlp.polishing_schedule import Finishing
from solvers.pdlp.scaling_stagnation import Patience
from solvers.pdlp.settings import Settings
from solvers.pdlp.stagnation import Stalling
from solvers.pdlp.start import prepare
from solvers.pdlp.state import State
from solvers.pdlp.termination import Criteria, decades_left

LONGER = 2
"""Factor from one turn's iterations to the next one's."""

SUMMED = ("restarts", "parts", "entries_visited", "loop_seconds")
"""Statistics of which an outcome tells the sum over all turns."""

Statistics = Mapping[str, float | int | str]


def run_in_turns(
    device: Device,
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    settings: Settings,
    norms: Norms | None,
    milestone: Milestone | None,
    keeping: Keeping | None = None,
) -> Outcome:
    """Prepare and run a solve on a device until it ends for a reason other than its turn's length.

    The arguments are those of :func:`solvers.pdlp.solve`.
    """
    other = dataclasses.replace(settings, curtis_reid_passes=0)
    if other == settings:
        settings = dataclasses.replace(settings, first_turn=None)
    limit = math.inf if options.iteration_limit is None else options.iteration_limit
    turn = _first_turn(settings, options.tolerance)
    once = None if milestone is None else _Once(milestone)
    made = 0
    best: Outcome | None = None
    least = nearest = math.inf
    earlier: Statistics = {}
    coefficients: Coefficients | None = None
    criteria = Criteria.uniform(options.tolerance)
    finishing = Finishing(settings, options.tolerance, problem.num_nonzeros, run)
    stalling = Stalling(settings, criteria)
    while True:
        here = dataclasses.replace(
            options, iteration_limit=None if math.isinf(limit) else int(limit) - made
        )
        patience = None
        if not math.isinf(turn):
            left = nearest if made else -math.inf
            patience = Patience(turn, settings.turn_progress, criteria, left, settings.turn_decades)
        with device.activate():
            state = prepare(problem, here, device, progress, start, settings, norms, coefficients)
            coefficients = state.problem.coefficients
            outcome = run(
                state,
                here,
                progress,
                None if once is None else once.milestone,
                earlier=made,
                patience=patience,
                finishing=finishing,
                stalling=stalling,
                keeping=keeping,
            )
            if outcome.stop_reason is not StopReason.CONVERGED:
                answers = _best_and_last(state)
            del state
        outcome = dataclasses.replace(outcome, statistics=_total(earlier, outcome.statistics))
        if outcome.stop_reason is StopReason.CONVERGED:
            return outcome
        earlier, made = outcome.statistics, int(outcome.statistics["iterations"])
        if best is None or answers[0].statistics.worst <= least:
            best, least = outcome, answers[0].statistics.worst
        for answer in answers:
            left = decades_left(answer.statistics, criteria)
            if left < nearest:
                nearest, start = left, Start(x=answer.x, row_dual=answer.row_dual)
        hopeless = made >= settings.hopeless_after and not least <= settings.hopeless_error
        if outcome.stop_reason is not StopReason.ITERATION_LIMIT or made >= limit or hopeless:
            return _with_counts(best, outcome)
        settings, other, turn = other, settings, LONGER * turn
        progress.log(f"Not solved after {made:,} iterations; going on with another scaling.")


def _first_turn(settings: Settings, tolerance: float) -> float:
    """Return the iterations of the first turn."""
    if settings.first_turn is None:
        return math.inf
    return settings.first_turn * max(1.0, -math.log10(tolerance) / settings.first_turn_decades)


def _best_and_last(state: State) -> tuple[Answer, Answer]:
    """Return the point of least error and the latest one."""
    best = on_original(state, state.x.best, state.y.best)
    return best, on_original(state, state.x.projection, state.y.projection)


class _Once:
    """A milestone that is handed to every turn until one of them reaches it."""

    def __init__(self, milestone: Milestone) -> None:
        self._given = milestone
        self.milestone: Milestone | None = Milestone(milestone.tolerance, self._reached)

    def _reached(self, outcome: Outcome) -> None:
        self.milestone = None
        self._given.reached(outcome)


def _with_counts(best: Outcome, last: Outcome) -> Outcome:
    """Return the best turn's outcome, with the counts and the reason of the last."""
    counts = {name: last.statistics[name] for name in ("iterations", *SUMMED)}
    return dataclasses.replace(
        best, stop_reason=last.stop_reason, statistics={**best.statistics, **counts}
    )


def _total(earlier: Statistics, statistics: Statistics) -> Statistics:
    """Return statistics with those of earlier turns added."""
    sums = {name: float(earlier.get(name, 0)) + float(statistics[name]) for name in SUMMED}
    return {**statistics, **{k: type(statistics[k])(v) for k, v in sums.items()}}
