"""The state of the main loop from block to block, and what a run tells: errors and outcomes."""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import Any

from solvers.core.lp_answer import Answer, LpErrors
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, StopReason
from solvers.core.progress import Progress
from solvers.pdlp.compact import is_the_hosts, without_passing
from solvers.pdlp.control import Control, Stop
from solvers.pdlp.execution import IterationBlocks, iteration_blocks
from solvers.pdlp.restarts import OneSidedMoves
from solvers.pdlp.shrinking import Compaction
from solvers.pdlp.shrinking.part import ANSWER, DIRECTIONS
from solvers.pdlp.state import State
from solvers.pdlp.supervision import MilestoneWatch, Supervision
from solvers.pdlp.termination import (
    CertificateSchedule,
    Criteria,
    Record,
    find_dual_ray,
    find_primal_ray,
    is_optimal,
    is_primal_feasible,
    on_original,
    to_outcome,
)

TRIALS = 2
"""Blocks of a state whose records are waited for before a queue is kept: a GPU tries its execution
modes in them, and whatever were queued behind would run in the first mode, which on some models
takes four times as long as the other (``execution/on_gpu.py``)."""


@dataclass(eq=False)
class LoopState:
    """What the loop remembers from block to block.

    ``blocks`` may run on a part of the problem only (``shrinking``); ``state`` is that of the
    whole, and is brought up to date before anybody looks at a point in it. Of ``blocks``, ``tried``
    counts the first records that were taken, up to ``TRIALS``. ``record`` is the last one, and
    ``submitted`` the iterations after the last block under way.
    """

    state: State
    options: EngineOptions
    progress: Progress
    supervision: Supervision
    criteria: Criteria
    whole_blocks: IterationBlocks
    blocks: IterationBlocks
    shrinking: Compaction
    one_sided: OneSidedMoves
    certificates: CertificateSchedule
    record: Record
    submitted: int
    began: float
    tried: int = 0
    polishing_iterations: int = 0
    breakdowns: int = 0
    rejections: int = 0
    has_stagnated: bool = False

    @classmethod
    def begin(
        cls, state: State, options: EngineOptions, progress: Progress, supervision: Supervision
    ) -> LoopState:
        """Go on from a prepared state, wherever it stands."""
        record = Record(state.read_control())
        made, settings = record.iterations, state.settings
        blocks = iteration_blocks(state, progress)
        if supervision.milestone is not None:
            supervision.milestone.begin()
        return cls(
            state=state,
            options=options,
            progress=progress,
            supervision=supervision,
            criteria=Criteria.uniform(options.tolerance),
            whole_blocks=blocks,
            blocks=blocks,
            shrinking=Compaction(state, options, progress, made),
            one_sided=OneSidedMoves(settings.weight),
            certificates=CertificateSchedule(settings.certificate),
            record=record,
            submitted=made,
            began=time.perf_counter(),
        )

    @property
    def total_iterations(self) -> int:
        """Iterations of the whole solve, those of other states and of polishing too."""
        return self.supervision.earlier + self.polishing_iterations + self.record.iterations

    @property
    def iteration_limit(self) -> int | None:
        """Iterations of this state at the most: polishing counts for the caller's limit."""
        limit = self.options.iteration_limit
        return None if limit is None else limit - self.polishing_iterations

    def submit(self) -> None:
        """Keep as many blocks under way as the device takes, within the iteration limit."""
        limit, depth = self.iteration_limit, self.blocks.depth
        if self.tried < TRIALS:
            depth = min(depth, TRIALS - self.tried)
        while self.blocks.pending < depth:
            count = self.state.settings.restart.check_interval
            if limit is not None:
                count = min(count, limit - self.submitted)
            if count <= 0:
                return
            self.blocks.submit(count)
            self.submitted += count

    def take(self) -> None:
        """Wait for the record of the next block."""
        self.record = self.blocks.take()
        self.tried = min(TRIALS, self.tried + 1)

    def wait_for_blocks(self) -> None:
        """Wait for the blocks under way, and take the last one's record."""
        self.blocks.drain()
        while self.blocks.pending:
            self.take()

    def discard_blocks(self) -> None:
        """Take the records of blocks that did nothing because the one before said stop."""
        self.blocks.drain()
        while self.blocks.pending:
            self.blocks.take()
        self.submitted = self.record.iterations

    def write_back(self, names: tuple[str, ...] = ANSWER) -> State:
        """Wait for the blocks under way; return the whole problem's state.

        Its vectors of these names are brought up to date.
        """
        self.blocks.drain()
        self.shrinking.write_back(names)
        return self.state

    def move(self) -> None:
        """Go on in the state that shrinking has gone to."""
        here = self.shrinking.here
        if here is self.state:
            self.blocks = self.whole_blocks
        else:
            self.blocks = iteration_blocks(here, self.progress)
            self.tried = 0
        self.record = Record(here.read_control())
        self.submitted = self.record.iterations
        self.one_sided = OneSidedMoves(here.settings.weight)


def judged(loop: LoopState, x: Any, y: Any) -> Answer | None:
    """Return a point as an answer if it is optimal on the original data."""
    without_passing(loop.state)
    answer = on_original(loop.state, x, y)
    return answer if is_optimal(answer.statistics, loop.criteria) else None


def polished(loop: LoopState) -> Outcome | None:
    """Return a feasible point near by if that is an answer, else go on as before."""
    loop.wait_for_blocks()
    polishing = loop.supervision.polishing
    if polishing is None or loop.record.stop is not Stop.NO:
        return None
    state = loop.write_back()
    answer = on_original(state, state.x.projection, state.y.projection)
    limit = loop.iteration_limit
    left = None if limit is None else limit - loop.record.iterations
    options = dataclasses.replace(loop.options, iteration_limit=left)
    found, spent = polishing.polish(state, answer, loop.total_iterations, options, loop.progress)
    loop.polishing_iterations += spent
    if found is None:
        return None
    loop.progress.log("A feasible point near by is within the tolerance.")
    return outcome_of(loop, found, StopReason.CONVERGED)


def certificate(loop: LoopState) -> Outcome | None:
    """Look for a certificate; looking costs products, so it is done now and then.

    A problem whose rows hold within the tolerance passes for feasible, so that there is nothing to
    prove the contrary of, and likewise its dual.
    """
    began = time.perf_counter()
    loop.write_back(DIRECTIONS)
    statistics, criteria = loop.record.statistics, loop.criteria
    dual_ray = primal_ray = None
    if not statistics.relative_primal <= criteria.primal:
        dual_ray = find_dual_ray(loop.state, loop.progress)
    if dual_ray is None and not statistics.relative_dual <= criteria.dual:
        primal_ray = find_primal_ray(loop.state, loop.progress)
    loop.certificates.took(time.perf_counter() - began)
    if dual_ray is not None:
        return _proven(loop, SolutionStatus.INFEASIBLE, dual_ray=dual_ray)
    if primal_ray is not None:
        return _proven(loop, SolutionStatus.UNBOUNDED, primal_ray=primal_ray)
    return None


def _proven(loop: LoopState, status: SolutionStatus, **rays: Any) -> Outcome:
    return Outcome(
        status,
        StopReason.CONVERGED,
        engine="pdlp",
        device=loop.state.problem.device.kind,
        statistics=counts(loop),
        **rays,
    )


def stopped_short(loop: LoopState, reason: StopReason) -> Outcome:
    """Return the best there is when the solve has to stop short of its aim."""
    state = loop.state
    loop.wait_for_blocks()
    if loop.shrinking.is_inside:
        loop.shrinking.leave(loop.record)
        loop.record = Record(state.read_control())
    without_passing(state)
    answer = on_original(state, state.x.best, state.y.best)
    if not math.isfinite(answer.statistics.worst):
        return Outcome(
            SolutionStatus.NOTHING,
            reason,
            engine="pdlp",
            device=state.problem.device.kind,
            statistics=counts(loop),
        )
    return outcome_of(loop, answer, reason)


def stop_at_limit(loop: LoopState) -> Outcome | None:
    """Return the best there is if a limit has come."""
    reason, limit = loop.progress.should_stop(), loop.iteration_limit
    points = loop.supervision.points
    if reason is None and points is not None and loop.progress.time_left <= points.seconds:
        reason = StopReason.TIME_LIMIT
    if reason is None and limit is not None and loop.record.iterations >= limit:
        reason = StopReason.ITERATION_LIMIT
    return None if reason is None else stopped_short(loop, reason)


def give_up(loop: LoopState) -> Outcome:
    """Return the best there is because the solve makes no progress."""
    made, stagnation = loop.total_iterations, loop.supervision.stagnation
    since = 0 if stagnation is None else stagnation.progress_at
    loop.progress.log(
        f"Giving up after {made:,} iterations: no progress since iteration {since:,}."
    )
    return stopped_short(loop, StopReason.NUMERICAL_TROUBLE)


def outcome_of(loop: LoopState, answer: Answer, reason: StopReason) -> Outcome:
    """Return an answer with the status it has earned, or an earlier feasible point in its place."""
    state = loop.state
    device = state.problem.device.kind
    feasible_x = None
    objective = answer.statistics.primal_objective
    if reason is not StopReason.CONVERGED and math.isfinite(loop.record[Control.BEST_OBJECTIVE]):
        feasible = on_original(state, state.feasible_x, state.y.best, brief=True)
        if is_primal_feasible(feasible.statistics, loop.criteria):
            feasible_x, objective = feasible.x, feasible.statistics.primal_objective
    outcome = to_outcome(answer, loop.criteria, reason, counts(loop), device, feasible_x)
    if outcome.x is feasible_x is not None:
        activity = state.problem.original.entries.times(feasible_x, state.threads)
        outcome = dataclasses.replace(outcome, objective=objective, row_activity=activity)
    return outcome


def counts(loop: LoopState) -> dict[str, float | int | str]:
    """Return the statistics that come with every outcome."""
    record = loop.record
    return {
        "iterations": loop.total_iterations,
        "restarts": int(record[Control.RESTARTS]),
        "primal_weight": record[Control.WEIGHT],
        "matrix_norm": loop.state.norm,
        "parts": loop.shrinking.parts,
        "entries_visited": loop.shrinking.entries_visited(record.iterations),
        "loop_seconds": time.perf_counter() - loop.began,
        "bytes_per_iteration": bytes_per_iteration(loop.state),
    }


def bytes_per_iteration(state: State) -> int:
    """Return the bytes that one iteration has to read and write at least once."""
    there = state.problem
    n, m = there.original.num_columns, there.original.num_rows
    matrices = there.coefficients.by_row.bytes + there.coefficients.by_column.bytes
    return int(matrices + there.bounds.bytes + there.sides.bytes + 8 * (7 * n + 5 * m))


def report(loop: LoopState) -> None:
    """Tell the errors to whoever listens, and hand out the point if somebody waits for it."""
    record, statistics = loop.record, loop.record.statistics
    loop.progress.iteration(
        loop.total_iterations,
        primal_residual=statistics.relative_primal,
        dual_residual=statistics.relative_dual,
        gap=statistics.relative_gap,
        primal_weight=record[Control.WEIGHT],
    )
    _share_point(loop, statistics)
    stagnation = loop.supervision.stagnation
    if stagnation is not None:
        loop.has_stagnated = stagnation.is_over(loop.total_iterations, statistics)


def _share_point(loop: LoopState, statistics: LpErrors) -> None:
    """Give the present point to those who wait for one, if it is what they wait for."""
    milestone, points = loop.supervision.milestone, loop.supervision.points
    if milestone is not None and milestone.is_due(statistics):
        _reach(loop, milestone)
    if points is not None and points.is_due(statistics):
        points.keep(lambda: _present(loop), resumable=not is_the_hosts(loop.state))


def _reach(loop: LoopState, milestone: MilestoneWatch) -> None:
    """Give the present point to whoever waits for one as good as the milestone asks."""
    state = loop.write_back()
    answer = on_original(state, state.x.projection, state.y.projection)
    criteria = Criteria.uniform(milestone.tolerance)
    if is_optimal(answer.statistics, criteria):
        device = state.problem.device.kind
        milestone.reach(to_outcome(answer, criteria, StopReason.CONVERGED, counts(loop), device))
    elif loop.shrinking.is_inside:
        # it is a block further on, and the next one may do; or something left out is missing
        milestone.miss(loop.record.statistics.worst)


def _present(loop: LoopState) -> tuple[Outcome, float]:
    """Return the present point as an outcome, with nothing that follows from it, and its error."""
    state = loop.write_back()
    answer = on_original(state, state.x.projection, state.y.projection, brief=True)
    return outcome_of(loop, answer, StopReason.TIME_LIMIT), answer.statistics.worst
