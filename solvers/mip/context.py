"""One solve under way: who is at work, whether it is over, and what it says in the end.

What is known of the reduced model that is searched is in
:class:`~solvers.mip.portfolio.heuristic.HeuristicContext`.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.errors import EngineError
from solvers.core.machine import usable_cores
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, PoolSolution, Proof, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress
from solvers.core.threads import leave, start_thread
from solvers.mip.budget import Budget
from solvers.mip.model import FEASIBILITY_TOLERANCE, ROUNDING, MipModel
from solvers.mip.solutions.incumbents import IncumbentStore

if TYPE_CHECKING:
    from solvers.mip.solutions.acceptance import Acceptance

PATIENCE = 0.3
"""Seconds to wait at the end for threads to hear that it is over; after that they are left."""

STALL_SECONDS, STALL_SHARE = 60.0, 2.0
"""Heuristics alone, without a time limit, stop after this long without improvement: seconds, and
this multiple of the time of the last improvement."""


class SolveContext:
    """What all parts of one solve know; safe to use from any thread.

    Attributes
    ----------
    start : (n,) float64 or None
        What the caller knows, with NaN for the rest.
    start_is_open : bool
        Whether the start is still to be completed or mended.
    cores : int
        Threads that may be at work.
    incumbents : IncumbentStore
        Takes the points of all.
    settled : Outcome or None
        The answer, where presolve or propagation have found it.
    is_reducing : bool
        Whether presolve is still at work beside heuristics, which may begin again on a smaller
        model.
    """

    def __init__(
        self, problem: Problem, options: EngineOptions, progress: Progress, start: Start | None
    ) -> None:
        self.problem = problem
        self.options = options
        self.progress = progress
        self.start = None if start is None else start.x
        self.start_is_open = False
        self.cores = options.threads or usable_cores()
        self.incumbents = IncumbentStore(
            problem, progress, options.tolerance, options.pool_size, options.device
        )
        self.settled: Outcome | None = None
        self.is_reducing = False
        self.over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._budgets: list[Budget] = []
        self._best = np.inf
        self._improved_at = 0.0

    @property
    def is_sequential(self) -> bool:
        """Whether heuristics come one after the other, and branch and bound after them."""
        return self.options.deterministic or self.cores == 1

    @property
    def has_point(self) -> bool:
        """Whether any feasible point is known."""
        return len(self.incumbents.pool) > 0

    def is_over(self) -> bool:
        """Whether everybody is to stop."""
        settled = self.over.is_set() or self.settled is not None
        return settled or self.progress.should_stop() is not None

    def is_closed(self) -> bool:
        """Whether the best point is proven to be as good as was asked for."""
        return self.incumbents.is_closed(self.options.rel_gap, self.options.abs_gap)

    def is_settled(self) -> bool:
        """Whether heuristics need not go on: everybody is to stop, or the best point is proven."""
        return self.is_over() or self.is_closed()

    def has_stalled(self) -> bool:
        """Whether heuristics alone, without a time limit, have improved nothing for long."""
        if np.isfinite(self.progress.time_limit):
            return False
        now, best = self.progress.seconds, self.incumbents.pool.objective
        if best < self._best:
            self._best, self._improved_at = best, now
        since = now - self._improved_at
        return since > STALL_SECONDS and since > STALL_SHARE * self._improved_at

    def prove_infeasible(self) -> None:
        """Take note that propagation has proven that there is no feasible point."""
        if not self.has_point:
            self.settled = infeasible()

    def prove_bound(self, bound: float, source: str) -> None:
        """Take note of an objective that no feasible point is below, where a bound is asked for."""
        if not self.options.heuristics_only:
            self.progress.bound(bound, source)

    def budget(self, stop: Callable[[], bool]) -> Budget:
        """Return what the options allow: the time left and the limit on work.

        Turns are dealt out by the clock though there may be no time limit, as a turn without an end
        keeps everybody else waiting, branch and bound on one thread included.
        """
        limit = self.options.work_limit
        work = np.inf if limit is None else 1e9 * limit
        return self.watched(Budget(self.progress.time_left, work, stop, by_clock=True))

    def watched(self, budget: Budget) -> Budget:
        """Return a budget of all heuristics, after noting whose end is that of the work allowed."""
        self._budgets.append(budget)
        return budget

    @property
    def has_done_its_work(self) -> bool:
        """Whether heuristics have ended for the limit on their work."""
        return any(budget.work_left <= 0.0 for budget in self._budgets)

    def spawn(self, name: str, work: Callable[[], object]) -> None:
        """Let somebody work in a thread of his own; whoever fails leaves the rest at work."""

        def failed(failure: BaseException) -> None:
            self.progress.log(f"'{name}' failed: {failure!r}")

        try:
            self._threads.append(start_thread(name, work, failed))
        except EngineError as failure:  # the system has no thread left
            failed(failure)

    def anybody_works(self) -> bool:
        """Whether any of those who were spawned is still at work."""
        return any(thread.is_alive() for thread in self._threads)

    def wait_for_threads(self) -> None:
        """Wait a moment for those at work to hear that it is over, and leave the others behind."""
        deadline = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        leave(*self._threads)


# What a solve says in the end, put together from what its parts know.


ENGINE = "mip"

TROUBLE = (StopReason.NUMERICAL_TROUBLE, StopReason.OUT_OF_MEMORY)
"""Ends of branch and bound after which the heuristics go on."""

WEIGHED_ENTRIES = 2e6
"""Entries of the matrix visited at the end, at most, to find the least violated of the points that
violate few rows: some milliseconds. One of each kind is looked at in any case."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What is known when a solve is over."""

    incumbents: IncumbentStore
    acceptance: Acceptance | None
    """None if the reduced model was never searched."""
    proof: Outcome | None
    """What branch and bound said, if it has ended."""
    settled: Outcome | None
    """An answer by presolve or propagation."""
    device: str
    """Where the heuristics ran."""
    is_work_done: bool = False
    """Whether they ended for the limit on their work, and might have found more."""

    @property
    def trouble(self) -> str:
        """Why branch and bound has no answer, if it ended in trouble; else nothing."""
        proof = self.proof
        return proof.message if proof is not None and proof.stop_reason in TROUBLE else ""


def answer(known: Knowledge, options: EngineOptions, progress: Progress) -> Outcome:
    """Return the outcome: the best point with its bound, a proof that there is none, or neither."""
    proof, incumbents = known.proof, known.incumbents
    if proof is not None and proof.x is not None and proof.solution_status.has_point:
        incumbents.record(proof.x, "highs")
    if known.acceptance is not None:
        known.acceptance.hand_over(options.pool_size)
    incumbents.freeze()  # what is said of the best point, of the pool and in the history agrees
    best = incumbents.pool.best
    if best is None:
        return _without_point(known, progress)
    if proof is not None and proof.solution_status is SolutionStatus.UNBOUNDED:
        return proof
    if known.settled is not None and known.settled.solution_status.has_point:
        return dataclasses.replace(known.settled, pool=_pool(incumbents))
    bound = _bound(progress) if proof is None else max(_bound(progress), proof.bound)
    size = abs(best.objective)
    allowed = max(options.abs_gap, options.rel_gap * max(size, 1e-9), ROUNDING * max(1.0, size))
    if best.objective - incumbents.least <= allowed:
        bound = max(bound, incumbents.least)  # nothing better is within the bounds of the columns
    closed = best.objective - bound <= allowed
    return Outcome(
        SolutionStatus.OPTIMAL if closed else SolutionStatus.FEASIBLE,
        StopReason.CONVERGED if closed else _reason(known, progress),
        objective=best.objective,
        bound=bound,
        x=best.x,
        proof=Proof.SEARCH,
        engine=ENGINE,
        device=known.device,
        message=known.trouble,
        statistics={} if proof is None else proof.statistics,
        pool=_pool(incumbents),
    )


def infeasible() -> Outcome:
    """Return the answer where safe propagation leaves no point."""
    return Outcome(
        SolutionStatus.INFEASIBLE,
        StopReason.CONVERGED,
        proof=Proof.SEARCH,
        engine=ENGINE,
        message="Propagation of the rows leaves no feasible point.",
    )


def _without_point(known: Knowledge, progress: Progress) -> Outcome:
    if known.settled is not None:
        return known.settled
    proof = known.proof
    if proof is not None and proof.solution_status is not SolutionStatus.NOTHING:
        return proof
    return Outcome(
        SolutionStatus.NOTHING,
        _reason(known, progress),
        bound=_bound(progress),
        candidate=_least_violated(known),
        proof=Proof.SEARCH,
        engine=ENGINE,
        device=known.device,
        message=known.trouble,
    )


def _least_violated(known: Knowledge) -> FloatArray | None:
    """Return the point (n,) of the original problem that violates the fewest rows; None if none.

    Of several the one that violates them by the least in all. Heuristics on the reduced model may
    not have begun, or have come to less than those before them.
    """
    model, acceptance = known.incumbents.model, known.acceptance
    many = max(1, int(WEIGHED_ENTRIES // max(1, model.num_nonzeros)))
    found = [point.x for point in known.incumbents.infeasible_points.points()[:many]]
    if acceptance is not None:
        found += [
            acceptance.original_of(point.x)
            for point in acceptance.infeasible_points.points()[:many]
        ]
    least = min(found, key=lambda x: _violation(model, x), default=None)
    return None if least is None else least + 0.0  # no negative zeros


def _violation(model: MipModel, x: FloatArray) -> tuple[int, float]:
    """Return how many rows a point (n,) violates, and by how much in all."""
    outside = model.outside(x)
    violated = outside[outside > FEASIBILITY_TOLERANCE]
    return violated.size, float(violated.sum())


def _bound(progress: Progress) -> float:
    bound = progress.best_bound
    return -np.inf if np.isnan(bound) else bound


def _pool(incumbents: IncumbentStore) -> tuple[PoolSolution, ...]:
    return tuple(
        PoolSolution(found.x, found.objective, found.seconds, found.source)
        for found in incumbents.pool.points()
    )


def _reason(known: Knowledge, progress: Progress) -> StopReason:
    stopped, proof = progress.should_stop(), known.proof
    if stopped is not None:
        return stopped
    if proof is not None and proof.stop_reason is not StopReason.INTERRUPTED:
        return proof.stop_reason
    return StopReason.ITERATION_LIMIT if known.is_work_done else StopReason.EXHAUSTED
