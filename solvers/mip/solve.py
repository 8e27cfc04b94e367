"""The schedule of a mixed-integer solve: what runs when, where, and when it is over.

    at once        branch and bound of the problem as it was given, in a child process or, where the
                   problem is small, in a thread of this one
    meanwhile      points at bounds, then presolve; beside it a sweep and then a walker on the
                   unreduced model
    then           heuristics on the reduced model: turns on every CPU thread that is left, and on
                   the GPU, by the shares in ``table``
    beside them    presolve, where it takes longer than they wait; what it comes to takes the place
                   of the model where it is much smaller
    until          the gap is closed, branch and bound has ended, time is up or nobody improves

Every point goes through the acceptance, so that whatever stops the solve leaves a checked one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, Start
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress
from solvers.core.threads import PATIENCE, run_beside
from solvers.mip.context import Knowledge, SolveContext, answer
from solvers.mip.heuristics.constructive import record_trivial
from solvers.mip.presolve_stage import Reduce, Reducing
from solvers.mip.proof_stage import Proving
from solvers.mip.reducer import Reducer, SolveExactly, unreduced

if TYPE_CHECKING:
    from solvers.highs.under_way import UnderWay
    from solvers.mip.portfolio.heuristic import HeuristicContext


def wait_for(
    work: Callable[[], Outcome],
    progress: Progress,
    otherwise: Callable[[], Outcome],
    is_settled: Callable[[], bool],
) -> Outcome:
    """Run work in a thread and return what it returns; soon after the end, what is known without.

    Parameters
    ----------
    work : callable
        Ends by itself when ``progress`` says so, unless it is at something that cannot.
    otherwise : callable
        Returns the answer when nobody waits for the work any longer.
    is_settled : callable
        Whether that answer leaves nothing to wish for, so that the end has come before the limit.

    Raises
    ------
    Exception
        What the work raised.
    """
    found = run_beside(
        lambda own: work(),
        DetachableProgress(progress),
        "schedule",
        patience=PATIENCE.after,
        is_over=lambda: progress.should_stop() is not None or is_settled(),
    )
    if found is not None:
        return found
    if progress.should_stop() is not None:
        progress.log("The time was up while heuristics were busy.")
    return otherwise()


def solve(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None = None,
    *,
    solve_exactly: SolveExactly | None = None,
    under_way: UnderWay | None = None,
) -> Outcome:
    """Search for good points of a mixed-integer problem, and prove how good they are.

    Parameters
    ----------
    options : EngineOptions
        ``heuristics_only`` leaves branch and bound out. With ``deterministic``, or a single
        thread, heuristics come first, one after the other, and then branch and bound; a GPU
        works beside the single thread.
    progress : Progress
        Told of every better point, with its values, and of bounds.
    start : Start, optional
        ``x`` (n,), with NaN for what is unknown.
    solve_exactly : callable, optional
        Asked for an exact solution of what presolve has left.
    under_way : UnderWay, optional
        The branch and bound, where it has begun already.

    Returns
    -------
    Outcome
        In the space of ``problem``. OPTIMAL with a proven bound only; INFEASIBLE and UNBOUNDED
        only by branch and bound, presolve or safe propagation.
    """
    if not options.presolve:
        return search(problem, options, progress, start, lambda _: unreduced(problem), under_way)
    reducer = Reducer(problem, solve_exactly)
    try:
        return search(problem, options, progress, start, reducer, under_way)
    finally:
        reducer.abandon()


def search(
    problem: Problem,
    options: EngineOptions,
    progress: Progress,
    start: Start | None,
    reduce: Reduce,
    under_way: UnderWay | None = None,
) -> Outcome:
    """Solve a problem beside what reduces it."""
    schedule = _Schedule(SolveContext(problem, options, progress, start), under_way)
    progress.listen(schedule.take)
    run = schedule.in_turn if schedule.solve.is_sequential else schedule.side_by_side
    try:
        return wait_for(lambda: run(reduce), progress, schedule.end, schedule.is_settled)
    finally:
        schedule.close()


class _Schedule:
    """The order in which the parts of one solve come, and its end."""

    def __init__(self, solve: SolveContext, under_way: UnderWay | None = None) -> None:
        self.solve = solve
        self._reducing = Reducing(solve)
        self._proving = Proving(solve, self._reducing.take, under_way)
        self._ending = threading.Lock()
        self._answer: Outcome | None = None

    def side_by_side(self, reduce: Reduce) -> Outcome:
        """Run everything at once."""
        self._take_start()
        if not self.solve.options.heuristics_only and self._proving.begin():
            return self.end()
        record_trivial(self.solve.incumbents, self.solve.is_over)
        if self.solve.is_closed():
            return self.end()
        self._reducing.walk_on_original()
        if self._proving.end_head_start():
            return self.end()
        context = self._reducing.prepare(reduce)
        if context is not None:
            self._search(context)
            if self._reducing.is_unfinished:
                self.solve.spawn("presolve", lambda: self._search_further(context))
            self._wait()
        elif self._proving.threads and self.solve.settled is None:
            self._wait()
        return self.end()

    def in_turn(self, reduce: Reduce) -> Outcome:
        """Run the heuristics one after the other, then branch and bound from their best point."""
        from solvers.mip.heuristic_stage import search_in_turn

        solve, proves = self.solve, not self.solve.options.heuristics_only
        self._take_start()
        if proves and self._proving.try_few_nodes():
            return self.end()
        record_trivial(solve.incumbents, solve.is_over)
        if solve.is_closed():
            return self.end()
        self._reducing.sweep_original(solve.incumbents.infeasible_points)
        context = self._reducing.prepare(reduce)
        if context is not None:
            search_in_turn(context)
        if proves and not (solve.is_over() or solve.is_closed()):
            self._proving.run()
        return self.end()

    def take(self, x: FloatArray, source: str) -> None:
        """Take a point (n,) that somebody else has found meanwhile, who solves the same problem."""
        if self.solve.incumbents.record(x, source):
            self._reducing.take(x, source)

    def is_settled(self) -> bool:
        """Whether there is an answer whatever is still at work, such as presolve.

        Never where the same way is to be taken in every run.
        """
        solve = self.solve
        return not solve.is_sequential and (solve.is_closed() or self._proving.has_proven())

    def end(self) -> Outcome:
        """Tell everybody that it is over, and return the answer: the same whoever asks."""
        solve, reducing = self.solve, self._reducing
        solve.over.set()
        with self._ending:
            if self._answer is None:
                proof, device = self._proving.outcome, reducing.device.kind
                known = Knowledge(
                    solve.incumbents,
                    reducing.acceptance,
                    proof,
                    solve.settled,
                    device,
                    solve.has_done_its_work,
                )
                self._answer = answer(known, solve.options, solve.progress)
            return self._answer

    def close(self) -> None:
        """Stop whoever is still at work, and wait a moment for them to hear of it."""
        self.solve.over.set()
        self._proving.stop()
        self.solve.wait_for_threads()
        self._reducing.close()
        self.solve.incumbents.close()

    def _take_start(self) -> None:
        solve = self.solve
        if solve.start is not None:
            taken, word = solve.incumbents.take_start(solve.start)
            solve.start_is_open = not taken
            solve.progress.log(word)

    def _search(self, context: HeuristicContext) -> None:
        """Let heuristics begin on the cores that branch and bound leaves."""
        from solvers.mip.heuristic_stage import search_side_by_side

        workers = max(1, self.solve.cores - self._proving.threads)
        search_side_by_side(context, workers)

    def _search_further(self, before: HeuristicContext) -> None:
        """Wait for presolve, and let heuristics begin again where much less is left then."""
        context = self._reducing.reduce_further(before)
        if context is not None:
            self.solve.progress.log("Heuristics begin again on the smaller model.")
            before.replaced.set()
            self._search(context)

    def _wait(self) -> None:
        """Wait until the question is settled, time is up, or everybody has ended."""
        solve, proving = self.solve, self._proving
        while not solve.is_over():
            if proving.has_proven(within=LOOK_AGAIN):
                return
            if not proving.is_running:
                time.sleep(LOOK_AGAIN)
            if solve.is_closed():
                return
            if not proving.is_running and (not solve.anybody_works() or solve.has_stalled()):
                return
