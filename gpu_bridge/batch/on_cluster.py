"""Many problems over the nodes of a cluster: sent in chunks, told in the order of the problems."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from gpu_bridge.batch.batch import VARIABLE_DATA, Batch
from gpu_bridge.batch.outcomes import Outcomes, Singles
from gpu_bridge.batch.solve_many import as_given, one_call, readable, relaxed, solve_many
from gpu_bridge.cluster.chunks import Chunks, WorkerKind
from gpu_bridge.cluster.connection import (
    Calls,
    Cluster,
    WorkerLostError,
    join,
    pack,
    pack_start,
    unpack,
    unpack_start,
)
from gpu_bridge.options import Options
from gpu_bridge.outcome import Outcome, crossed_bounds_outcome
from gpu_bridge.report.log_text import TIME_WIDTH, clock
from gpu_bridge.report.progress import BridgeProgress, Throttle
from solvers.core.errors import CrossedBoundsError, DeviceError, ProblemError
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem

if TYPE_CHECKING:
    from gpu_bridge.paths import AnyPath

FIRST, FIRST_ON_GPU = 16, 1024
"""Members of the first chunks, when it is not known how long they take. A GPU is for batches."""

Tell = Callable[[int, Outcome], object]
"""Takes the number of a problem and its answer; the call ends if it returns True."""


def solve_many_on_cluster(
    problems: Iterable[Problem | AnyPath] | Batch,
    options: Options,
    *,
    start: Start | None = None,
    streams: Sequence[TextIO] = (),
    on_outcome: Tell | None = None,
) -> Outcomes:
    """Solve problems on ``options.cluster``; see :func:`gpu_bridge.solve_many`.

    Raises
    ------
    ClusterError
        There is no such cluster, or a node has another version of this package.
    DeviceError
        A GPU was asked for, and no node has one.
    """
    given = as_given(problems, options, start)
    with one_call(options, streams) as (options, progress, _, ended):
        assert options.cluster is not None  # asked by the caller
        cluster = join(options.cluster)
        progress.log(f"Cluster: {cluster.describe()}.")
        calls = Calls(cluster)
        models = _Models(
            relaxed(given, options)
            if isinstance(given, Batch)
            else [readable(item, options) for item in given],
            calls,
        )
        answers = _Answers(models, progress, on_outcome)
        chunks = Chunks(
            answers.missing(),
            calls,
            lambda: worker_kinds(cluster, options),
            _Sender(models, calls, options, progress, start).begin,
            lambda: progress.should_stop() is not None,
        )
        for member, found in chunks.results():
            answers.take(member, found)
        answers.close()
        outcomes = Outcomes([answers.singles], seconds=progress.seconds, log=progress.text)
        ended(outcomes)
        return outcomes


class _Models:
    """What is solved, and how it travels.

    Attributes
    ----------
    batch : Batch or None
    base : Any
        Reference to the problem of the batch, which each node gets once.
    """

    def __init__(self, given: Batch | list[Problem | Exception], calls: Calls) -> None:
        self.batch = given if isinstance(given, Batch) else None
        self._listed = [] if isinstance(given, Batch) else given
        self.base = None
        if isinstance(given, Batch):
            self.base = calls.send(pack(given.problem), "The problem of the batch")

    def __len__(self) -> int:
        return len(self._listed) if self.batch is None else len(self.batch)

    def name(self, k: int) -> str:
        """Return what a message calls a member."""
        if self.batch is not None:
            return f"Member {k} of the batch"
        called = getattr(self._listed[k], "name", "")
        return f"Model {k} ('{called}')" if called else f"Model {k}"

    def listed(self, k: int) -> Problem | Exception | None:
        """Return a member of a list, or why its bounds contradict each other; None in a batch."""
        return None if self.batch is not None else self._listed[k]

    def data(self, members: Sequence[int]) -> Any:
        """Return, as plain data, what a worker needs of some members."""
        if self.batch is None:
            found = [self._listed[k] for k in members]
            return [pack(one) for one in found if isinstance(one, Problem)]
        rows = np.asarray(members)
        named = {name: getattr(self.batch, name) for name in VARIABLE_DATA}
        return {name: values[rows] for name, values in named.items() if values is not None}


def worker_kinds(cluster: Cluster, options: Options) -> list[WorkerKind]:
    """Return the kinds of workers that the nodes have room for now, by what the options ask for.

    Raises
    ------
    DeviceError
        A GPU was asked for, and no node has one.
    """
    nodes, cores = cluster.nodes(), options.threads or 1
    gpus = 0 if options.device == "cpu" else sum(node.gpus for node in nodes)
    device = "auto" if options.device == "auto" else "cuda"
    on_gpu = WorkerKind(device, gpus, cores, 1, FIRST_ON_GPU)
    if options.device.startswith("cuda"):
        if not gpus:
            raise DeviceError(
                f"device='{options.device}' was asked for, but the cluster has no GPU: "
                f"{cluster.describe()}. Use device='cpu' or 'auto'."
            )
        return [on_gpu]
    taken = cores if gpus else 0
    free = sum(max(0, node.cpus - taken * node.gpus) // cores for node in nodes)
    # one in any case: a cluster that grows does so when there is something to do
    on_cpu = WorkerKind("cpu", max(free, 0 if gpus else 1), cores, 0, FIRST)
    return [kind for kind in (on_gpu, on_cpu) if kind.slots]


class _Sender:
    """Begins calls for chunks of members."""

    def __init__(
        self,
        models: _Models,
        calls: Calls,
        options: Options,
        progress: BridgeProgress,
        start: Start | None,
    ) -> None:
        self._models, self._calls, self._progress = models, calls, progress
        self._start = calls.send(pack_start(start), "The start")
        self._options = dataclasses.replace(
            options, cluster=None, threads=options.threads or 1, explain=False, notes=()
        )

    def begin(self, members: Sequence[int], kind: WorkerKind) -> Any:
        """Begin the call for some members, with the time that is left."""
        limit = self._options.time_limit
        options = dataclasses.replace(
            self._options,
            device=kind.device,
            time_limit=None if limit is None else self._progress.time_left,
        )
        data = self._send(members)
        arguments = self._models.base, data, self._start, dataclasses.asdict(options)
        return self._calls.begin(solve_chunk, *arguments, cpus=kind.cpus, gpus=kind.gpus)

    def _send(self, members: Sequence[int]) -> Any:
        data, name = self._models.data, self._models.name
        try:
            return self._calls.send(data(members), f"{name(members[0])} and those after it")
        except ProblemError:
            for k in members:  # to name the one
                self._calls.send(data([k]), name(k))
            raise


def solve_chunk(
    base: Any, data: Any, start: Any, options: dict[str, Any]
) -> tuple[list[Outcome], float]:
    """Solve some members on a worker; return their answers, without their problems, and seconds."""
    began = time.monotonic()
    given = [unpack(one) for one in data] if base is None else Batch(unpack(base), **data)
    found = solve_many(given, Options(**options), start=unpack_start(start))
    answers = [
        dataclasses.replace(
            one, problem=None, record=dataclasses.replace(one.record, written=one.log)
        )
        for one in found
    ]
    return answers, time.monotonic() - began


_MISSING = Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)
"""Stands where there is no answer yet."""


class _Answers:
    """The answers as they come, told in order.

    Attributes
    ----------
    singles : Singles
        All of them.
    """

    def __init__(self, models: _Models, progress: BridgeProgress, on_outcome: Tell | None) -> None:
        self._models, self._progress, self._on_outcome = models, progress, on_outcome
        self._found = [_MISSING] * len(models)
        self._told = 0
        self._throttle = Throttle()
        self.singles = Singles(self._found, models.batch)
        for k in range(len(models)):
            crossed = models.listed(k)
            if isinstance(crossed, CrossedBoundsError):
                self._found[k] = crossed_bounds_outcome(crossed)
        self._left = len(self.missing())

    def missing(self) -> list[int]:
        """Return the members without an answer."""
        return [k for k, found in enumerate(self._found) if found is _MISSING]

    def take(self, member: int, found: Outcome | WorkerLostError) -> None:
        """Keep the answer to a member, and tell of those that are complete up to it."""
        if isinstance(found, WorkerLostError):
            message = f"{self._models.name(member)} has ended each worker that tried it: {found}"
            self._progress.log(message)
            found = Outcome(SolutionStatus.NOTHING, found.reason, message=message)
        self._put(member, found)
        self._left -= 1
        seconds, count = self._progress.seconds, len(self._found)
        if self._throttle.is_due(seconds):
            done = count - self._left
            self._progress.log(f"{clock(seconds):>{TIME_WIDTH}}  {done} of {count} models")
        self._tell()

    def close(self) -> None:
        """Give those that were not reached the answer that says so, and tell of the rest."""
        reason = self._progress.should_stop() or StopReason.TIME_LIMIT
        for member in self.missing():
            self._put(member, Outcome(SolutionStatus.NOTHING, reason))
        self._tell()

    def _put(self, member: int, outcome: Outcome) -> None:
        problem = self._models.listed(member)
        if isinstance(problem, Problem):
            outcome = dataclasses.replace(outcome, problem=problem)
        self._found[member] = outcome

    def _tell(self) -> None:
        while self._told < len(self._found) and self._found[self._told] is not _MISSING:
            number, self._told = self._told, self._told + 1
            if self._on_outcome is None:
                continue
            if self._on_outcome(number, self.singles.outcome(number)) is True:
                self._on_outcome = None
                self._progress.interrupt()
