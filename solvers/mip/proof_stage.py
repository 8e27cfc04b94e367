"""Branch and bound in the schedule: when it begins, with how many threads, what its end says.

It proves the bound, and exchanges points with the heuristics. HiGHS runs on the problem as it was
given, in a child process that is killed at the deadline; the last bound it told stands. Its points
go through the incumbent store like all others, and the best of that store is submitted to it.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from solvers import highs
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress
from solvers.core.threads import leave, start_thread
from solvers.highs.child import SMALL_MIP
from solvers.mip.budget import BEFORE_OTHERS, LARGE_MODEL
from solvers.mip.context import TROUBLE, SolveContext
from solvers.mip.model import lowered
from solvers.mip.solutions.incumbents import IncumbentStore

if TYPE_CHECKING:
    from solvers.highs.under_way import UnderWay

SOURCE = "highs"


class Prover:
    """A branch and bound under way.

    Parameters
    ----------
    problem : Problem
        As it was given.
    options : EngineOptions
        Gaps, tolerances and seed; ``threads`` are those of HiGHS.
    progress : Progress
        Of the solve: told of bounds.
    incumbents : IncumbentStore
        Takes HiGHS's points and gives it the others'.
    on_point : callable
        Told of each point (n,) of HiGHS's that the incumbent store took.
    """

    def __init__(
        self,
        problem: Problem,
        options: EngineOptions,
        progress: Progress,
        incumbents: IncumbentStore,
        on_point: Callable[[FloatArray], None],
    ) -> None:
        self._problem = problem
        self._options = options
        self._progress = progress
        self._incumbents = incumbents
        self._deputy = _Deputy(progress, incumbents, on_point)
        self._submitted = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.outcome: Outcome | None = None

    def start(self, begin: Start | None, under_way: UnderWay | None = None) -> None:
        """Begin in a thread of its own, if the system has one left, or go on with what has begun.

        A large model goes to a child process.
        """

        def work() -> None:
            if under_way is None:
                self.run(begin, in_child=True)
            else:
                self._run(lambda: under_way.go_on(self._deputy, self._submit))

        try:
            self._thread = start_thread("prover", work, self._has_failed)
        except EngineError as failure:
            self._has_failed(failure)

    def run(self, begin: Start | None, *, in_child: bool = True) -> None:
        """Work in the calling thread; what comes of it is in ``outcome``."""

        def solve() -> Outcome:
            return highs.solve(
                self._problem,
                self._options,
                self._deputy,
                begin,
                offers=self._submit,
                in_child=in_child,
            )

        self._run(solve)

    def _run(self, solve: Callable[[], Outcome]) -> None:
        try:
            self.outcome = solve()
        except Exception as failure:  # the points of others are not lost
            self._has_failed(failure)
        finally:
            self._ended.set()

    def _has_failed(self, failure: BaseException) -> None:
        """Take note that branch and bound has ended without an answer, and why."""
        reason = str(failure) or type(failure).__name__
        words = f"Branch and bound ended without an answer: {reason}"
        self.outcome = Outcome(
            SolutionStatus.NOTHING, StopReason.NUMERICAL_TROUBLE, message=words, engine=SOURCE
        )
        self._progress.log(words)
        self._ended.set()

    @property
    def has_ended(self) -> bool:
        """Whether branch and bound is over, with or without an answer."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end; return whether it has come."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Tell it that nobody waits any more; the child is killed."""
        self._deputy.abandon()
        if self._thread is not None:
            leave(self._thread)

    def _submit(self) -> FloatArray | None:
        """Return the best point if it is new and another's."""
        version = self._incumbents.pool.version
        best = self._incumbents.pool.best
        if version == self._submitted or best is None:
            return None
        self._submitted = version
        is_own = best.source == SOURCE and best.objective >= self._deputy.told
        return None if is_own else best.x


class _Deputy(DetachableProgress):
    """What HiGHS asks and tells, with an end of its own."""

    def __init__(
        self,
        parent: Progress,
        incumbents: IncumbentStore,
        on_point: Callable[[FloatArray], None],
    ) -> None:
        super().__init__(parent)
        self._incumbents = incumbents
        self._on_point = on_point
        self._told = np.inf

    @property
    def told(self) -> float:
        """Objective of the best point that this branch and bound has told of, less its errors."""
        return lowered(self._told)

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Have the incumbent store check a point of HiGHS's."""
        if x is None or not objective < self._told:
            return False
        self._told = objective
        improved = self._incumbents.record(x, SOURCE)
        self._on_point(x)
        return improved

    def bound(self, value: float, source: str) -> bool:
        """Pass a bound on; none is better than the best point by more than its own error."""
        return self._parent.bound(value, source)

    def engine_output(self, line: str) -> None:
        """Pass on a line of HiGHS's log."""
        if not self.abandoned:
            self._parent.engine_output(line)


ALONE, HEAD_START = 0.15, 0.5
"""Until so many seconds of a solve HiGHS works on a small model all alone, and until so many with
one walk beside it: most models need no more."""

MOST_THREADS = 4
"""Threads of branch and bound at most, where there are four cores for each."""

RIVAL_SEED = 1009
"""Distance of their seeds, so that they are none that a user is likely to try next."""

FIRST_NODES = 500
"""Nodes of branch and bound for a small model before heuristics begin, where they take turns."""


class Proving:
    """The branch and bound of one solve, if there is one.

    Parameters
    ----------
    on_point : callable
        Told of each point (n,) that branch and bound has found and the incumbent store taken.
    under_way : UnderWay, optional
        The branch and bound, where it has begun already.

    Notes
    -----
    HiGHS searches its tree by one thread. Of how large it gets much is luck, so where there are
    threads for it others with other seeds run beside the first, which takes the path that HiGHS
    would take alone; they share points and bounds, and the first that is through is believed.
    """

    def __init__(
        self,
        solve: SolveContext,
        on_point: Callable[[FloatArray], None],
        under_way: UnderWay | None = None,
    ) -> None:
        self._solve = solve
        self._on_point = on_point
        self._under_way = under_way
        self._prover: Prover | None = None
        self._rivals: list[Prover] = []

    @property
    def outcome(self) -> Outcome | None:
        """What branch and bound has said, if it has ended with an answer."""
        return None if self._prover is None else self._prover.outcome

    @property
    def threads(self) -> int:
        """Threads that it takes beside heuristics; 0 where it does not run."""
        return 0 if self._prover is None else self._share_of_cores()

    @property
    def is_running(self) -> bool:
        """Whether it has begun and not ended."""
        if self._prover is None:
            return False
        return not (self._prover.has_ended and all(one.has_ended for one in self._rivals))

    def begin(self) -> bool:
        """Begin beside the heuristics; return whether it was over at once."""
        solve = self._solve
        best = solve.incumbents.pool.best
        self._prover = self._make(1 if self._has_rivals() else self._share_of_cores())
        self._prover.start(_begin_at(solve.start if best is None else best.x), self._under_way)
        if self._has_rivals():
            solve.spawn("rivals", self._begin_rivals)
        return self._small_has_proven(until=ALONE)

    def end_head_start(self) -> bool:
        """Return whether a small model is over once branch and bound has had its head start."""
        return self._small_has_proven(until=HEAD_START)

    def try_few_nodes(self) -> bool:
        """Try a small model alone, as most need few nodes; return whether it is over.

        What has begun already rests after that.
        """
        solve = self._solve
        if self._under_way is not None:
            return self._try_on(self._under_way)
        if not self._is_small():
            return False
        limit = solve.options.node_limit
        nodes = FIRST_NODES if limit is None else min(FIRST_NODES, limit)
        prover = self._make(solve.cores, node_limit=nodes)
        prover.run(_begin_at(solve.start), in_child=False)
        outcome = prover.outcome
        if outcome is None or not _is_answer(outcome):
            return False
        if outcome.stop_reason is StopReason.ITERATION_LIMIT and nodes != limit:
            return False
        self._prover = prover
        return True

    def _try_on(self, under_way: UnderWay) -> bool:
        """Go on with what has begun for its head start, and let it rest then."""
        self._prover = self._make(1)
        self._prover.start(None, under_way)
        if self._small_has_proven(until=HEAD_START):
            return True
        under_way.rest()
        return False

    def run(self) -> None:
        """Work with all cores, from the best point so far, or go on after a rest."""
        solve = self._solve
        if self._under_way is not None:
            self._under_way.resume()
            while self.is_running and not (self.has_proven(within=LOOK_AGAIN) or solve.is_over()):
                pass
            return
        best = solve.incumbents.pool.best
        self._prover = self._make(solve.cores)
        self._prover.run(_begin_at(None if best is None else best.x))

    def has_proven(self, within: float = 0.0) -> bool:
        """Whether it has ended as it should by so many seconds from now, and not for trouble."""
        if self._prover is None:
            return False
        if self._prover.wait(within) and _is_answer(self._prover.outcome):
            return True
        for place, rival in enumerate(self._rivals):
            if rival.has_ended and _is_proof(rival.outcome):
                self._prover, self._rivals[place] = rival, self._prover
                return True
        return False

    def stop(self) -> None:
        """Tell it that nobody waits any more."""
        for one in (self._prover, *self._rivals):
            if one is not None:
                one.stop()

    def _has_rivals(self) -> bool:
        """Whether other branch and bounds run beside the first."""
        few = self._solve.problem.num_nonzeros <= LARGE_MODEL
        return few and self._share_of_cores() > 1 and self._solve.options.node_limit is None

    def _begin_rivals(self) -> None:
        """Let the others begin, from the best point, where the first is not soon through."""
        solve = self._solve
        if solve.over.wait(BEFORE_OTHERS) or solve.is_over():
            return
        for number in range(1, self._share_of_cores()):
            rival = self._make(1, seed=solve.options.seed + RIVAL_SEED * number)
            self._rivals.append(rival)
            best = solve.incumbents.pool.best
            rival.start(_begin_at(solve.start if best is None else best.x))
            if solve.over.is_set():
                rival.stop()

    def _small_has_proven(self, until: float) -> bool:
        """Wait for a small model until a second of the solve; return whether it is proven."""
        if not self._is_small():
            return False
        progress = self._solve.progress
        while progress.seconds < until and self.is_running and not self._solve.is_settled():
            if self.has_proven(within=LOOK_AGAIN):
                return True
        return self.has_proven()

    def _make(self, threads: int, node_limit: int | None = None, seed: int | None = None) -> Prover:
        solve = self._solve
        nodes = solve.options.node_limit if node_limit is None else node_limit
        seed = solve.options.seed if seed is None else seed
        options = dataclasses.replace(solve.options, threads=threads, node_limit=nodes, seed=seed)
        prover = Prover(solve.problem, options, solve.progress, solve.incumbents, self._on_point)
        if solve.over.is_set():
            prover.stop()  # none begins after the end, when nobody would stop it
        return prover

    def _is_small(self) -> bool:
        p = self._solve.problem
        return max(p.num_rows, p.num_columns, p.num_nonzeros) <= SMALL_MIP

    def _share_of_cores(self) -> int:
        return max(1, min(MOST_THREADS, self._solve.cores // 4))


def _begin_at(x: FloatArray | None) -> Start | None:
    return None if x is None else Start(x=x)


def _is_proof(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.stop_reason is StopReason.CONVERGED


def _is_answer(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.stop_reason not in TROUBLE
