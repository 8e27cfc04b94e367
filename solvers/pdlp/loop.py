"""The main loop: submit windows, read what came of them, and stop for the right reason."""

from __future__ import annotations

import math
import time

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, StopReason
from solvers.core.progress import Progress
from solvers.pdlp.answer import on_original, to_outcome
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.execution.iteration_blocks import Windows
from solvers.pdlp.execution.on_cpu import WindowsOnCpu
from solvers.pdlp.execution.on_gpu import WindowsOnGpu
from solvers.pdlp.intermediate_points import Keeping
from solvers.pdlp.loop_state import Course, flush, settle, submit, take
from solvers.pdlp.milestone import Milestone
from solvers.pdlp.one_sided_weight import OneSided
from solvers.pdlp.polishing_schedule import Finishing
from solvers.pdlp.restarts import change_weight, go_back_to_best
from solvers.pdlp.scaling_stagnation import Patience
from solvers.pdlp.shrinking import Compaction
from solvers.pdlp.stagnation import Stalling
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record, Statistics
from solvers.pdlp.stopping import counts, end_near_by, find_proof, judged, outcome_of, stopped_short
from solvers.pdlp.termination import Criteria, is_optimal
from solvers.pdlp.weight_correction import Balance

MILESTONE_RETRY = 0.7
"""Where a point of a part misses the milestone on the whole problem, the part's error has to fall
to this of what it was before the next trial."""


def run(
    state: State,
    options: EngineOptions,
    progress: Progress,
    milestone: Milestone | None = None,
    *,
    earlier: int = 0,
    patience: Patience | None = None,
    finishing: Finishing | None = None,
    stalling: Stalling | None = None,
    keeping: Keeping | None = None,
) -> Outcome:
    """Iterate until the tolerance, a proof or a limit is reached.

    A state may be run again: it goes on where it stopped. ``earlier`` iterations in another state
    are added to those that are told, and are none of the limit's. When ``patience`` ends, so does
    the run, as at a limit on iterations. ``finishing`` may end it by a feasible point near by,
    and ``stalling`` by numerical trouble. ``keeping`` is given points on the way.
    """
    record = Record(state.read_control())
    windows = _windows_of(state, progress)
    course = Course(
        state=state,
        options=options,
        progress=progress,
        whole_windows=windows,
        windows=windows,
        compaction=Compaction(state, options, progress, record.iterations),
        balance=Balance.after(record.iterations, state.settings, options.tolerance),
        one_sided=OneSided(state.settings),
        criteria=Criteria.uniform(options.tolerance),
        began=time.perf_counter(),
        record=record,
        submitted=record.iterations,
        next_certificate=state.settings.certificate_from,
        milestone=milestone,
        earlier=earlier,
        patience=patience,
        finishing=finishing,
        stalling=stalling,
        keeping=keeping,
    )
    answer = judged(course, state.x.projection, state.y.projection)
    if answer is not None:
        return outcome_of(course, answer, StopReason.CONVERGED)
    outcome = None
    while outcome is None:
        stopped = progress.should_stop() or _spent(course)
        if stopped is not None:
            outcome = stopped_short(course, stopped)
            break
        submit(course)
        take(course)
        outcome = _consider(course)
    course.windows.drain()
    course.compaction.leave(course.record, with_best=False)
    return outcome


def _windows_of(state: State, progress: Progress) -> Windows:
    if state.problem.device.kind == "cpu":
        return WindowsOnCpu(state, progress)
    return WindowsOnGpu(state)


def _consider(course: Course) -> Outcome | None:
    """Look at the record of a window; return the outcome if it is the last."""
    record = course.record
    if record.stop is Stop.BROKEN:
        return _recover(course)
    statistics = record.statistics
    course.progress.iteration(
        course.earlier + record.iterations,
        primal_residual=statistics.relative_primal,
        dual_residual=statistics.relative_dual,
        gap=statistics.relative_gap,
        primal_weight=record[Control.WEIGHT],
    )
    _share(course, statistics)
    made = course.earlier + record.iterations
    is_hopeless = course.stalling is not None and course.stalling.is_over(made, statistics)
    if record.stop is Stop.OPTIMAL:
        found = _accept(course)
        if found is not None or not is_hopeless:
            return found
    if is_hopeless:
        course.progress.log(f"Giving up after {made:,} iterations: no nearer since long.")
        return stopped_short(course, StopReason.NUMERICAL_TROUBLE)
    patience = course.patience
    if patience is not None and patience.is_over(record.iterations, statistics):
        return stopped_short(course, StopReason.ITERATION_LIMIT)
    finishing = course.finishing
    if finishing is not None and finishing.is_due(made, statistics):
        return end_near_by(course, finishing)
    if course.compaction.is_due(record):
        _reconsider(course)
        return None
    _rebalance(course)
    settings = course.state.settings
    if math.isinf(course.error_then):
        course.error_then = statistics.worst
    if record.iterations < course.next_certificate:
        return None
    course.next_certificate = record.iterations * settings.certificate_growth
    hopeful = max(settings.certificate_error, settings.certificate_progress * course.error_then)
    going_well = statistics.worst < hopeful
    course.error_then = statistics.worst
    if going_well and record.iterations < settings.certificate_patience:
        return None
    course.windows.drain()
    course.compaction.bring_home()
    return find_proof(course)


def _reconsider(course: Course) -> None:
    """Look whether the iteration had better go on in another part of the problem."""
    settle(course)
    if course.record.stop is Stop.NO and course.compaction.reconsider(course.record):
        _move(course)


def _rebalance(course: Course) -> None:
    """Correct the primal weight if the residuals or the distances ask for it."""
    factor = course.balance.correction(course.record) * course.one_sided.correction(course.record)
    if factor == 1.0:
        return
    settle(course)
    if course.record.stop is Stop.NO:
        change_weight(course.compaction.here, course.record, factor)


def _move(course: Course) -> None:
    """Go on wherever the compaction has gone to."""
    state = course.compaction.here
    if state is course.state:
        course.windows = course.whole_windows
    else:
        course.windows = _windows_of(state, course.progress)
        course.tried = 0
    course.record = Record(state.read_control())
    course.submitted = course.record.iterations
    course.balance = Balance.after(course.submitted, state.settings, course.options.tolerance)
    course.one_sided = OneSided(state.settings)


def _share(course: Course, statistics: Statistics) -> None:
    """Give the present point to those who wait for one, if it is what they wait for."""
    milestone, keeping = course.milestone, course.keeping
    wanted = 0.0 if milestone is None else min(milestone.tolerance, course.next_milestone)
    if milestone is not None and statistics.worst <= wanted:
        _hand_out(course, milestone)
    if keeping is not None and keeping.is_due(statistics):
        keeping.keep(lambda: _present(course))


def _hand_out(course: Course, milestone: Milestone) -> None:
    """Give the present point to whoever waits for one as good as the milestone asks."""
    course.windows.drain()
    course.compaction.bring_home()
    state = course.state
    answer = on_original(state, state.x.projection, state.y.projection)
    criteria = Criteria.uniform(milestone.tolerance)
    if not is_optimal(answer.statistics, criteria):
        # it is a window further on, and the next one may do; or something left out is missing
        if course.compaction.is_inside:
            course.next_milestone = MILESTONE_RETRY * course.record.statistics.worst
        return
    course.milestone = None
    device = state.problem.device.kind
    milestone.reached(to_outcome(answer, criteria, StopReason.CONVERGED, counts(course), device))


def _present(course: Course) -> tuple[Outcome, float]:
    """Return the present point as an outcome, and its largest error."""
    course.windows.drain()
    course.compaction.bring_home()
    state = course.state
    answer = on_original(state, state.x.projection, state.y.projection)
    return outcome_of(course, answer, StopReason.TIME_LIMIT), answer.statistics.worst


def _accept(course: Course) -> Outcome | None:
    """Return the projected point if it is optimal on the original data, too, else go on."""
    state = course.state
    flush(course)
    course.compaction.bring_home()
    answer = judged(course, state.x.projection, state.y.projection)
    if answer is not None:
        return outcome_of(course, answer, StopReason.CONVERGED)
    if course.compaction.is_inside and course.compaction.reconsider(course.record):
        _move(course)
        return None
    course.rejections += 1
    inner = course.options.tolerance * max(0.1, state.settings.rejection_factor**course.rejections)
    course.compaction.here.write_control(
        stop=Stop.NO, primal_tolerance=inner, dual_tolerance=inner, gap_tolerance=inner
    )
    return None


def _recover(course: Course) -> Outcome | None:
    """Go back to the best point with a shorter step after the iteration broke down."""
    state = course.state
    flush(course)
    course.breakdowns += 1
    if course.breakdowns > state.settings.breakdowns_allowed:
        return stopped_short(course, StopReason.NUMERICAL_TROUBLE)
    if course.compaction.is_inside:
        course.compaction.give_up(course.record)
        _move(course)
    go_back_to_best(state, course.record)
    course.progress.log("The iteration broke down; going on from the best point.")
    return None


def _spent(course: Course) -> StopReason | None:
    limit = course.options.iteration_limit
    is_spent = limit is not None and course.record.iterations >= limit
    return StopReason.ITERATION_LIMIT if is_spent else None
