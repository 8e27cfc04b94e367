"""Branch and bound in the schedule: when it begins, with how many threads, what its end says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from solvers.core.concurrency import LOOK_AGAIN
from solvers.core.outcome import Outcome, Start, StopReason
from solvers.core.problem import FloatArray
from solvers.highs.child import SMALL_MIP
from solvers.mip.answer import TROUBLE
from solvers.mip.bound import Prover
from solvers.mip.context import SolveContext

ALONE, HEAD_START = 0.15, 0.5
"""Until so many seconds of a solve HiGHS works on a small model in this process all alone, and so
many seconds it has in all: most models need no more. In between there is one walk beside it, which
leaves the interpreter's lock to HiGHS's callbacks, and a second HiGHS begins in a child process, to
go on with what takes longer; it is about ready when the first is told to stop."""

MOST_THREADS = 4
"""Threads of branch and bound."""

RIVALS_AFTER = 2.0
"""Seconds of one branch and bound before others begin beside it: most models need no more."""

MOST_RIVAL_ENTRIES = 1_000_000
"""Entries of a model up to which several branch and bounds run: each has a process with a copy."""

RIVAL_SEED = 1009
"""Distance of their seeds, so that they are none that a user is likely to try next."""

FIRST_NODES = 500
"""Nodes of branch and bound for a small model before heuristics begin, where they take turns."""


class Proving:
    """The branch and bound of one solve, if there is one.

    Parameters
    ----------
    solve : SolveContext
    on_point : callable
        Told of each point (n,) that branch and bound has found and the incumbent store taken.

    Notes
    -----
    HiGHS searches its tree by one thread. Of how large it gets much is luck, so where there are
    threads for it others with other seeds run beside the first, which takes the path that HiGHS
    would take alone; they share points and bounds, and the first that is through is believed.
    """

    def __init__(self, solve: SolveContext, on_point: Callable[[FloatArray], None]) -> None:
        self._solve = solve
        self._on_point = on_point
        self._prover: Prover | None = None
        self._small: Prover | None = None
        self._head_start_ends = 0.0
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
        if self._is_small():
            self._head_start_ends = solve.progress.seconds + HEAD_START
            self._small = self._begin_small()
            if self._small_has_proven(until=ALONE):
                return True
        best = solve.incumbents.pool.best
        self._prover = self._make(1 if self._has_rivals() else self._share_of_cores())
        self._prover.start(_begin_at(solve.start if best is None else best.x))
        if self._has_rivals():
            solve.spawn("rivals", self._begin_rivals)
        return False

    def end_head_start(self) -> bool:
        """Let the child go on with what takes a small model longer; return whether it is over."""
        if self._small is None:
            return False
        if self._small_has_proven(until=self._head_start_ends):
            return True
        self._small.stop()
        return False

    def try_few_nodes(self) -> bool:
        """Try a small model alone, as most need few nodes; return whether it is over."""
        solve = self._solve
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

    def run(self) -> None:
        """Work in the calling thread with all cores, from the best point so far."""
        solve = self._solve
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
        for one in (self._small, self._prover, *self._rivals):
            if one is not None:
                one.stop()

    def _has_rivals(self) -> bool:
        """Whether other branch and bounds run beside the first."""
        few = self._solve.problem.num_nonzeros <= MOST_RIVAL_ENTRIES
        return few and self._share_of_cores() > 1 and self._solve.options.node_limit is None

    def _begin_rivals(self) -> None:
        """Let the others begin, from the best point, where the first is not soon through."""
        solve = self._solve
        if solve.over.wait(RIVALS_AFTER) or solve.is_over():
            return
        for number in range(1, self._share_of_cores()):
            rival = self._make(1, seed=solve.options.seed + RIVAL_SEED * number)
            self._rivals.append(rival)
            best = solve.incumbents.pool.best
            rival.start(_begin_at(solve.start if best is None else best.x))
            if solve.over.is_set():
                rival.stop()

    def _begin_small(self) -> Prover:
        """Begin with a small model in this process."""
        prover = self._make(self._share_of_cores())
        prover.start(_begin_at(self._solve.start), in_child=False)
        return prover

    def _small_has_proven(self, until: float) -> bool:
        """Wait for a small model until so many seconds of the solve; return whether it is proven.

        What the child was to go on with ends then.
        """
        small, progress = self._small, self._solve.progress
        assert small is not None  # asked by the callers
        while progress.seconds < until and not self._solve.is_settled():
            if small.wait(LOOK_AGAIN):
                break
        if not _is_answer(small.outcome):
            return False
        if self._prover is not None:
            self._prover.stop()
        self._prover = small
        return True

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
