"""The route of a mixed-integer program over a cluster: members that share points and bounds.

The first of them does what one machine would do; others take other seeds, look for points only, or
have a part of the model. Every point is checked here before it counts, and so is the answer, by
whoever calls a route. The first proof ends all.
"""

from __future__ import annotations

import dataclasses
import queue
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_bridge.cluster.connection import Calls, join, pack, pack_start
from gpu_bridge.options import Options
from gpu_bridge.pipeline.routes import Choice
from gpu_bridge.pipeline.routes.cluster_members import (
    Bounds,
    Member,
    depth_of,
    line_up,
    part,
    seats,
    solve_member,
)
from solvers.core.errors import EngineError
from solvers.core.outcome import Outcome, SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import LOOK_AGAIN, DetachableProgress, Progress
from solvers.core.threads import start_thread
from solvers.mip.context import Knowledge, answer, infeasible
from solvers.mip.solutions.incumbents import IncumbentStore

GRACE = 0.5
"""Seconds for which members that were told to end are waited for; then their workers are ended."""

SOURCE = "cluster"


def run(
    problem: Problem, options: Options, choice: Choice, progress: Progress, start: Start | None
) -> Outcome:
    """Solve a mixed-integer program on the nodes of a cluster."""
    solve = _Solve(problem, options, progress, start)
    try:
        solve.begin()
        solve.wait()
    finally:
        solve.end()
    return solve.answer()


class _Solve:
    """One solve of a model by the members of a portfolio."""

    def __init__(
        self, problem: Problem, options: Options, progress: Progress, start: Start | None
    ) -> None:
        assert options.cluster is not None  # asked by whoever chose this route
        cluster = join(options.cluster)
        self._problem, self._options, self._progress = problem, options, progress
        self._calls = Calls(cluster)
        self._members = line_up(seats(cluster.nodes(), options), options)
        self._incumbents = IncumbentStore(
            problem, progress, options.tolerance, options.pool_size, options.device
        )
        self._pending: dict[Any, Member] = {}
        self._proof: Outcome | None = None
        self._failures: list[EngineError] = []
        self._waiting: list[Member] = []
        self._parts: queue.SimpleQueue[list[list[Bounds]]] = queue.SimpleQueue()
        self._parting = DetachableProgress(progress)
        self._exchange = self._calls.exchange(sum(one.leaf is not None for one in self._members))
        self._has_no_point = False
        self._version = 0
        self._base = self._calls.send(pack(problem), f"The model '{problem.name}'")
        self._start = self._calls.send(pack_start(start), "The start")
        progress.log(f"Cluster: {cluster.describe()}; {_described(self._members)}.")
        if start is not None and start.x is not None:
            progress.log(self._incumbents.take_start(start.x)[1])

    def begin(self) -> None:
        """Let those begin that have the whole model; the others wait until it is parted."""
        for member in self._members:
            if member.leaf is None:
                self._begin(member, ())
            else:
                self._waiting.append(member)
        if self._waiting:
            start_thread("parting", self._part, lambda failure: self._parts.put([]))

    def wait(self) -> None:
        """Wait for a proof, for the end of the time, or for all members."""
        while not (self._is_settled() or self._progress.should_stop()):
            self._begin_leaves()
            if not self._pending and not self._waiting:
                return
            for call in self._calls.ended(self._pending, LOOK_AGAIN):
                self._take(call)
            self._meet()

    def end(self) -> None:
        """Tell all members that it is over, and wait a moment for what they have."""
        self._parting.abandon()
        self._exchange.end.remote()
        until = time.monotonic() + GRACE
        while self._pending and time.monotonic() < until:
            for call in self._calls.ended(self._pending, LOOK_AGAIN):
                self._take(call)
        self._calls.end(self._pending, at_once=True)
        self._calls.end_exchange(self._exchange)
        self._incumbents.close()

    def answer(self) -> Outcome:
        """Return the best point with the bound, or the proof that there is none.

        Raises
        ------
        EngineError
            All members have failed.
        """
        if len(self._failures) == len(self._members):
            raise self._failures[-1]
        settled = infeasible() if self._has_no_point and self._proof is None else None
        known = Knowledge(self._incumbents, None, self._proof, settled, "cpu")
        return answer(known, self._options, self._progress)

    def _part(self) -> None:
        depth = depth_of(self._waiting)
        self._parts.put(part(self._problem, depth, self._options, self._parting))

    def _begin_leaves(self) -> None:
        """Let the others begin, each with its part, or with the whole if there are none."""
        if not self._waiting or self._parts.empty():
            return
        parts = self._parts.get()
        for member in self._waiting:
            assert member.leaf is not None  # those with the whole have begun
            if parts:
                self._begin(member, parts[member.leaf])
            else:
                self._begin(dataclasses.replace(member, leaf=None), ())
        self._waiting = []

    def _begin(self, member: Member, decisions: Sequence[Bounds]) -> None:
        """Let a member begin, with the time that is left."""
        limit = None if np.isinf(self._progress.time_limit) else self._progress.time_left
        on_gpu = "cuda" if self._options.device.startswith("cuda") else "auto"
        options = dataclasses.replace(
            self._options,
            cluster=None,
            device=on_gpu if member.seat.gpus else "cpu",
            threads=member.seat.cores,
            seed=member.seed,
            heuristics_only=self._options.heuristics_only or member.points_only,
            time_limit=limit,
            log=False,
            log_file=None,
            notes=(),
        )
        call = self._calls.begin(
            solve_member,
            self._exchange,
            self._base,
            self._start,
            dataclasses.asdict(options),
            member.name,
            decisions,
            member.leaf,
            cpus=member.seat.cores,
            gpus=member.seat.gpus,
        )
        self._pending[call] = member

    def _take(self, call: Any) -> None:
        """Take what a member has come to; who was lost is said so, and the rest goes on."""
        member = self._pending.pop(call)
        try:
            found: Outcome = self._calls.answer(call)
        except EngineError as failure:
            self._progress.log(f"The member '{member.name}' has ended without an answer: {failure}")
            self._failures.append(failure)
            return
        for entry in reversed(found.pool):
            self._incumbents.record(entry.x, entry.source)
        if found.x is not None and found.solution_status.has_point:
            self._incumbents.record(found.x, f"{found.engine} ({member.name})")
        if found.solution_status is SolutionStatus.UNBOUNDED:
            self._proof = found
        elif member.leaf is not None:
            has_none = found.solution_status is SolutionStatus.INFEASIBLE
            self._meet(np.inf if has_none else found.bound, member.leaf)
        elif found.stop_reason is StopReason.CONVERGED:
            self._proof = found

    def _meet(self, bound: float = -np.inf, leaf: int | None = None) -> None:
        """Tell the members of a bound, and hear of their best point and bound."""
        told = self._calls.ask(self._exchange.meet, self._version, None, bound, leaf)
        _, self._version, news, proven = told
        if news is not None:
            self._incumbents.record(*news[1:])
        if proven == np.inf:  # no part has a better point
            self._has_no_point = True
            proven = self._incumbents.pool.objective
        self._progress.bound(proven, SOURCE)

    def _is_settled(self) -> bool:
        closed = self._incumbents.is_closed(self._options.rel_gap, self._options.abs_gap)
        return self._proof is not None or self._has_no_point or closed


def _described(members: Sequence[Member]) -> str:
    kinds = Counter(
        "parts of the model"
        if member.leaf is not None
        else "points only"
        if member.points_only
        else "all of it"
        for member in members
    )
    return f"{len(members)} members: " + ", ".join(f"{n} for {kind}" for kind, n in kinds.items())
