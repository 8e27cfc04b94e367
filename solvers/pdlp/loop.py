"""The main loop of restarted, reflected Halpern PDHG.

A block of ``check_interval`` iterations runs on the device, then its check: are the errors within
the tolerance, is it time to restart, what is the next primal weight. The device decides that alone
(``kernels/decide.py``), so that the next block can begin while the host reads about this one. The
host then takes the first step of :data:`STEPS` that is due: it judges points on the original
problem, stops what stagnates, polishes and shrinks. If none is, it corrects the weight where the
device's rule cannot see that it is wrong, and looks for certificates now and then.
"""

from __future__ import annotations

from collections.abc import Callable

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, StopReason
from solvers.core.progress import Progress
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.loop_state import (
    LoopState,
    certificate,
    give_up,
    judged,
    outcome_of,
    polished,
    report,
    stop_at_limit,
    stopped_short,
)
from solvers.pdlp.restarts import change_weight, go_back_to_best
from solvers.pdlp.shrinking.part import ANSWER
from solvers.pdlp.state import State
from solvers.pdlp.supervision import Supervision

ALONE = Supervision()


def run(
    state: State,
    options: EngineOptions,
    progress: Progress,
    supervision: Supervision = ALONE,
) -> Outcome:
    """Iterate until the tolerance, a certificate or a limit is reached.

    A state may be run again: it goes on where it stopped, also to another tolerance.
    """
    loop = LoopState.begin(state, options, progress, supervision)
    is_told = loop.record.iterations > 0 and not _was_asked_for_more(loop)  # by its last check
    outcome = None if is_told and loop.record.stop is Stop.NO else _optimal(loop)
    while outcome is None:
        outcome = stop_at_limit(loop)
        if outcome is None:
            loop.submit()
            loop.take()
            outcome = _after_check(loop)
    loop.blocks.drain()
    loop.shrinking.leave(loop.record, with_best=False)
    return outcome


def _after_check(loop: LoopState) -> Outcome | None:
    """Take the step that the last block's check calls for; return the outcome if it is the end."""
    if loop.record.stop is Stop.BROKEN:
        return _recover(loop)
    report(loop)
    for is_due, step in STEPS:
        if is_due(loop):
            return step(loop)
    is_time_to_look = loop.certificates.is_due(loop.record, loop.progress.time_left)
    _correct_weight(loop)
    return certificate(loop) if is_time_to_look else None


def _optimal(loop: LoopState) -> Outcome | None:
    """Return the projected point if it is optimal on the original data."""
    answer = judged(loop, loop.state.x.projection, loop.state.y.projection)
    return None if answer is None else outcome_of(loop, answer, StopReason.CONVERGED)


def _accept(loop: LoopState) -> Outcome | None:
    """End with the projected point if it is optimal on the original data, too, else go on."""
    loop.discard_blocks()
    loop.shrinking.write_back(ANSWER)
    outcome = _optimal(loop)
    if outcome is not None:
        return outcome
    _reject(loop)
    return give_up(loop) if loop.has_stagnated else None


def _reject(loop: LoopState) -> None:
    """Go on with what a part leaves out, or with a tighter tolerance inside."""
    if loop.shrinking.is_inside and loop.shrinking.reconsider(loop.record):
        loop.move()
        return
    loop.rejections += 1
    factor = loop.state.settings.step.recovery_factor**loop.rejections
    _ask_for(loop.shrinking.here, loop.options.tolerance * max(0.1, factor))


def _was_asked_for_more(loop: LoopState) -> bool:
    """Whether a state that is run again was asked for a tighter tolerance; now it is for this."""
    tolerance = loop.options.tolerance
    if loop.record[Control.PRIMAL_TOLERANCE] >= tolerance:
        return False
    _ask_for(loop.state, tolerance)
    return True


def _ask_for(state: State, tolerance: float) -> None:
    """Let the device go on until the three errors are within a tolerance."""
    state.write_control(
        stop=Stop.NO, primal_tolerance=tolerance, dual_tolerance=tolerance, gap_tolerance=tolerance
    )


def _recover(loop: LoopState) -> Outcome | None:
    """Go back to the best point with a shorter step after the iteration broke down."""
    loop.discard_blocks()
    loop.breakdowns += 1
    if loop.breakdowns > loop.state.settings.step.breakdowns_allowed:
        return stopped_short(loop, StopReason.NUMERICAL_TROUBLE)
    if loop.shrinking.is_inside:
        loop.shrinking.give_up(loop.record)
        loop.move()
    go_back_to_best(loop.state, loop.record)
    loop.progress.log("The iteration broke down; going on from the best point.")
    return None


def _scaling_has_stagnated(loop: LoopState) -> bool:
    watch = loop.supervision.scaling_stagnation
    return watch is not None and watch.is_over(loop.record.iterations, loop.record.statistics)


def _polishing_is_due(loop: LoopState) -> bool:
    polishing = loop.supervision.polishing
    return polishing is not None and polishing.is_due(loop.total_iterations, loop.record.statistics)


def _shrink(loop: LoopState) -> None:
    """Look whether the iteration had better go on in another part of the problem."""
    loop.wait_for_blocks()
    if loop.record.stop is Stop.NO and loop.shrinking.reconsider(loop.record):
        loop.move()


def _correct_weight(loop: LoopState) -> None:
    """Correct the primal weight if one side alone moves."""
    factor = loop.one_sided.factor(loop.record)
    if factor == 1.0:
        return
    loop.wait_for_blocks()
    if loop.record.stop is Stop.NO:
        change_weight(loop.shrinking.here, loop.record, factor)


STEPS: tuple[tuple[Callable[[LoopState], bool], Callable[[LoopState], Outcome | None]], ...] = (
    (lambda loop: loop.record.stop is Stop.OPTIMAL, _accept),
    (lambda loop: loop.has_stagnated, give_up),
    (_scaling_has_stagnated, lambda loop: stopped_short(loop, StopReason.ITERATION_LIMIT)),
    (_polishing_is_due, polished),
    (lambda loop: loop.shrinking.is_due(loop.record), _shrink),
)
"""When a step is due, and the step; it returns the outcome if it is the end of the solve."""
