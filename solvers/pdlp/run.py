"""The main loop: submit windows, read what came of them, and stop for the right reason."""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import Any

from solvers.options import EngineOptions
from solvers.outcome import Outcome, SolutionStatus, StopReason
from solvers.pdlp.active import Compaction
from solvers.pdlp.answer import Answer, on_original, to_outcome
from solvers.pdlp.balance import Balance
from solvers.pdlp.certificate import find_dual_ray, find_primal_ray
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.epochs import change_weight, go_back_to_best
from solvers.pdlp.finishing import Finishing
from solvers.pdlp.milestone import Milestone
from solvers.pdlp.patience import Patience
from solvers.pdlp.state import State
from solvers.pdlp.statistics import Record
from solvers.pdlp.termination import Criteria, is_optimal, is_primal_feasible
from solvers.pdlp.windows import Windows
from solvers.pdlp.windows_cpu import WindowsOnCpu
from solvers.pdlp.windows_gpu import WindowsOnGpu
from solvers.progress import Progress

MILESTONE_RETRY = 0.7
"""Where a point of a part misses the milestone on the whole problem, the part's error has to fall
to this of what it was before the next trial."""

TRIALS = 2
"""Windows of a state whose records are waited for before a queue is kept: a GPU tries its ways of
running a window in them, and whatever were queued behind would run in the first way, which on some
models takes four times as long as the other (``windows_gpu``)."""


@dataclass(eq=False)
class _Solve:
    """What the loop remembers from window to window.

    ``windows`` may run on a part of the problem only (``compaction``); ``state`` is that of the
    whole, and is brought up to date before anybody looks at a point in it. Of ``windows``,
    ``tried`` counts the first records that were taken, up to ``TRIALS``. ``error_then`` is the
    error when a look for a certificate was due last, and before that of the first window.
    """

    state: State
    options: EngineOptions
    progress: Progress
    whole_windows: Windows
    windows: Windows
    compaction: Compaction
    balance: Balance
    criteria: Criteria
    began: float
    record: Record
    submitted: int = 0
    tried: int = 0
    next_certificate: float = 0.0
    error_then: float = math.inf
    breakdowns: int = 0
    rejections: int = 0
    milestone: Milestone | None = None
    next_milestone: float = math.inf
    earlier: int = 0
    patience: Patience | None = None
    finishing: Finishing | None = None


def run(
    state: State,
    options: EngineOptions,
    progress: Progress,
    milestone: Milestone | None = None,
    *,
    earlier: int = 0,
    patience: Patience | None = None,
    finishing: Finishing | None = None,
) -> Outcome:
    """Iterate until the tolerance, a proof or a limit is reached.

    A state may be run again: it goes on where it stopped. ``earlier`` iterations in another state
    are added to those that are told, and are none of the limit's. When ``patience`` ends, so does
    the run, as at a limit on iterations. ``finishing`` may end it by a feasible point near by.
    """
    record = Record(state.read_control())
    windows = _windows_of(state, progress)
    solve = _Solve(
        state=state,
        options=options,
        progress=progress,
        whole_windows=windows,
        windows=windows,
        compaction=Compaction(state, options, progress, record.iterations),
        balance=Balance.after(record.iterations, state.settings, options.tolerance),
        criteria=Criteria.uniform(options.tolerance),
        began=time.perf_counter(),
        record=record,
        submitted=record.iterations,
        next_certificate=state.settings.certificate_from,
        milestone=milestone,
        earlier=earlier,
        patience=patience,
        finishing=finishing,
    )
    answer = _judged(solve, state.x.projection, state.y.projection)
    if answer is not None:
        return _outcome(solve, answer, StopReason.CONVERGED)
    outcome = None
    while outcome is None:
        stopped = progress.should_stop() or _spent(solve)
        if stopped is not None:
            outcome = _limit(solve, stopped)
            break
        _submit(solve)
        _take(solve)
        outcome = _consider(solve)
    solve.windows.drain()
    solve.compaction.leave(solve.record, with_best=False)
    return outcome


def _windows_of(state: State, progress: Progress) -> Windows:
    if state.problem.device.kind == "cpu":
        return WindowsOnCpu(state, progress)
    return WindowsOnGpu(state)


def _submit(solve: _Solve) -> None:
    """Keep as many windows under way as the device takes, within the iteration limit."""
    limit = solve.options.iteration_limit
    depth = solve.windows.depth
    if solve.tried < TRIALS:
        depth = min(depth, TRIALS - solve.tried)
    while solve.windows.pending < depth:
        count = solve.state.settings.check_interval
        if limit is not None:
            count = min(count, limit - solve.submitted)
        if count <= 0:
            return
        solve.windows.submit(count)
        solve.submitted += count


def _take(solve: _Solve) -> None:
    """Wait for the record of the next window."""
    solve.record = solve.windows.take()
    solve.tried = min(TRIALS, solve.tried + 1)


def _consider(solve: _Solve) -> Outcome | None:
    """Look at the record of a window; return the outcome if it is the last."""
    record = solve.record
    if record.stop is Stop.BROKEN:
        return _recover(solve)
    statistics = record.statistics
    solve.progress.iteration(
        solve.earlier + record.iterations,
        primal_residual=statistics.relative_primal,
        dual_residual=statistics.relative_dual,
        gap=statistics.relative_gap,
        primal_weight=record[Control.WEIGHT],
    )
    milestone = solve.milestone
    wanted = 0.0 if milestone is None else min(milestone.tolerance, solve.next_milestone)
    if milestone is not None and statistics.worst <= wanted:
        _hand_out(solve, milestone)
    if record.stop is Stop.OPTIMAL:
        return _accept(solve)
    patience = solve.patience
    if patience is not None and patience.is_over(record.iterations, statistics):
        return _limit(solve, StopReason.ITERATION_LIMIT)
    finishing = solve.finishing
    if finishing is not None and finishing.is_due(solve.earlier + record.iterations, statistics):
        return _finish(solve, finishing)
    if solve.compaction.is_due(record):
        _reconsider(solve)
        return None
    _rebalance(solve)
    settings = solve.state.settings
    if math.isinf(solve.error_then):
        solve.error_then = statistics.worst
    if record.iterations < solve.next_certificate:
        return None
    solve.next_certificate = record.iterations * settings.certificate_growth
    hopeful = max(settings.certificate_error, settings.certificate_progress * solve.error_then)
    going_well = statistics.worst < hopeful
    solve.error_then = statistics.worst
    if going_well and record.iterations < settings.certificate_patience:
        return None
    solve.windows.drain()
    solve.compaction.bring_home()
    return _proof(solve)


def _reconsider(solve: _Solve) -> None:
    """Look whether the iteration had better go on in another part of the problem."""
    _settle(solve)
    if solve.record.stop is Stop.NO and solve.compaction.reconsider(solve.record):
        _move(solve)


def _rebalance(solve: _Solve) -> None:
    """Correct the primal weight if the residuals ask for it."""
    factor = solve.balance.correction(solve.record)
    if factor == 1.0:
        return
    _settle(solve)
    if solve.record.stop is Stop.NO:
        change_weight(solve.compaction.here, solve.record, factor)


def _move(solve: _Solve) -> None:
    """Go on wherever the compaction has gone to."""
    state = solve.compaction.here
    if state is solve.state:
        solve.windows = solve.whole_windows
    else:
        solve.windows = _windows_of(state, solve.progress)
        solve.tried = 0
    solve.record = Record(state.read_control())
    solve.submitted = solve.record.iterations
    solve.balance = Balance.after(solve.submitted, state.settings, solve.options.tolerance)


def _settle(solve: _Solve) -> None:
    """Wait for the windows under way, and take the last one's record."""
    solve.windows.drain()
    while solve.windows.pending:
        _take(solve)


def _hand_out(solve: _Solve, milestone: Milestone) -> None:
    """Give the present point to whoever waits for one as good as the milestone asks."""
    solve.windows.drain()
    solve.compaction.bring_home()
    state = solve.state
    answer = on_original(state, state.x.projection, state.y.projection)
    criteria = Criteria.uniform(milestone.tolerance)
    if not is_optimal(answer.statistics, criteria):
        # it is a window further on, and the next one may do; or something left out is missing
        if solve.compaction.is_inside:
            solve.next_milestone = MILESTONE_RETRY * solve.record.statistics.worst
        return
    solve.milestone = None
    device = state.problem.device.kind
    milestone.reached(to_outcome(answer, criteria, StopReason.CONVERGED, _counts(solve), device))


def _accept(solve: _Solve) -> Outcome | None:
    """Return the projected point if it is optimal on the original data, too, else go on."""
    state = solve.state
    _flush(solve)
    solve.compaction.bring_home()
    answer = _judged(solve, state.x.projection, state.y.projection)
    if answer is not None:
        return _outcome(solve, answer, StopReason.CONVERGED)
    if solve.compaction.is_inside and solve.compaction.reconsider(solve.record):
        _move(solve)
        return None
    solve.rejections += 1
    inner = solve.options.tolerance * max(0.1, state.settings.rejection_factor**solve.rejections)
    solve.compaction.here.write_control(
        stop=Stop.NO, primal_tolerance=inner, dual_tolerance=inner, gap_tolerance=inner
    )
    return None


def _finish(solve: _Solve, finishing: Finishing) -> Outcome | None:
    """Return a feasible point near by if that is an answer, else go on as before."""
    _settle(solve)
    if solve.record.stop is not Stop.NO:
        return None
    solve.compaction.bring_home()
    state, made = solve.state, solve.record.iterations
    answer = on_original(state, state.x.projection, state.y.projection)
    limit = solve.options.iteration_limit
    left = dataclasses.replace(
        solve.options, iteration_limit=None if limit is None else limit - made
    )
    found, spent = finishing.try_at(state, answer, solve.earlier + made, left, solve.progress)
    solve.earlier += spent
    if limit is not None:
        solve.options = dataclasses.replace(solve.options, iteration_limit=limit - spent)
    if found is None:
        return None
    solve.progress.log("A feasible point near by is within the tolerance.")
    return _outcome(solve, found, StopReason.CONVERGED)


def _recover(solve: _Solve) -> Outcome | None:
    """Go back to the best point with a shorter step after the iteration broke down."""
    state = solve.state
    _flush(solve)
    solve.breakdowns += 1
    if solve.breakdowns > state.settings.breakdowns_allowed:
        return _limit(solve, StopReason.NUMERICAL_TROUBLE)
    if solve.compaction.is_inside:
        solve.compaction.give_up(solve.record)
        _move(solve)
    go_back_to_best(state, solve.record)
    solve.progress.log("The iteration broke down; going on from the best point.")
    return None


def _flush(solve: _Solve) -> None:
    """Take the records of windows that did nothing because the one before said stop."""
    solve.windows.drain()
    while solve.windows.pending:
        solve.windows.take()
    solve.submitted = solve.record.iterations


def _judged(solve: _Solve, x: Any, y: Any) -> Answer | None:
    """Return a point as an answer if it is optimal on the original data."""
    answer = on_original(solve.state, x, y)
    return answer if is_optimal(answer.statistics, solve.criteria) else None


def _proof(solve: _Solve) -> Outcome | None:
    """Look for a certificate; looking costs products, so it is done now and then.

    A problem whose rows hold within the tolerance passes for feasible, so that there is nothing to
    prove the contrary of, and likewise its dual.
    """
    statistics, criteria = solve.record.statistics, solve.criteria
    if not statistics.relative_primal <= criteria.primal:
        dual_ray = find_dual_ray(solve.state)
        if dual_ray is not None:
            return _proven(solve, SolutionStatus.INFEASIBLE, dual_ray=dual_ray)
    if not statistics.relative_dual <= criteria.dual:
        primal_ray = find_primal_ray(solve.state)
        if primal_ray is not None:
            return _proven(solve, SolutionStatus.UNBOUNDED, primal_ray=primal_ray)
    return None


def _proven(solve: _Solve, status: SolutionStatus, **rays: Any) -> Outcome:
    return Outcome(
        status,
        StopReason.CONVERGED,
        engine="pdlp",
        device=solve.state.problem.device.kind,
        statistics=_counts(solve),
        **rays,
    )


def _limit(solve: _Solve, reason: StopReason) -> Outcome:
    """Return the best there is when the solve has to stop short of its aim."""
    state = solve.state
    _settle(solve)
    if solve.compaction.is_inside:
        solve.compaction.leave(solve.record)
        solve.record = Record(state.read_control())
    answer = on_original(state, state.x.best, state.y.best)
    if not math.isfinite(answer.statistics.worst):
        return Outcome(
            SolutionStatus.NOTHING,
            reason,
            engine="pdlp",
            device=state.problem.device.kind,
            statistics=_counts(solve),
        )
    return _outcome(solve, answer, reason)


def _outcome(solve: _Solve, answer: Answer, reason: StopReason) -> Outcome:
    state = solve.state
    device = state.problem.device.kind
    feasible_x = None
    objective = answer.statistics.primal_objective
    if reason is not StopReason.CONVERGED and math.isfinite(solve.record[Control.BEST_OBJECTIVE]):
        feasible = on_original(state, state.feasible_x, state.y.best)
        if is_primal_feasible(feasible.statistics, solve.criteria):
            feasible_x, objective = feasible.x, feasible.statistics.primal_objective
    outcome = to_outcome(answer, solve.criteria, reason, _counts(solve), device, feasible_x)
    if outcome.x is feasible_x is not None:
        activity = state.problem.original.matrix @ feasible_x
        outcome = dataclasses.replace(outcome, objective=objective, row_activity=activity)
    return outcome


def _spent(solve: _Solve) -> StopReason | None:
    limit = solve.options.iteration_limit
    spent = limit is not None and solve.record.iterations >= limit
    return StopReason.ITERATION_LIMIT if spent else None


def _counts(solve: _Solve) -> dict[str, float | int | str]:
    record = solve.record
    return {
        "iterations": solve.earlier + record.iterations,
        "restarts": int(record[Control.RESTARTS]),
        "primal_weight": record[Control.WEIGHT],
        "matrix_norm": solve.state.norm,
        "parts": solve.compaction.parts,
        "entries_visited": solve.compaction.entries_visited(record.iterations),
        "loop_seconds": time.perf_counter() - solve.began,
        "bytes_per_iteration": bytes_per_iteration(solve.state),
    }


def bytes_per_iteration(state: State) -> int:
    """Return the bytes that one iteration has to read and write at least once."""
    coefficients, n, m = state.problem.coefficients, state.x.point.size, state.y.point.size
    matrices = coefficients.by_row.bytes + coefficients.by_column.bytes
    return int(matrices + 8 * (9 * n + 7 * m))
