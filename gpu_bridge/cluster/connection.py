"""The Ray cluster that a solve goes to: joined or started, its nodes, and calls on them."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gpu_bridge
from gpu_bridge.cluster import remote
from solvers.core.errors import ClusterError, EngineError, GpuBridgeError, ProblemError
from solvers.core.linear_algebra import SparseRows
from solvers.core.outcome import Basis, Start, StopReason
from solvers.core.problem import Problem

AUTO, LOCAL = "auto", "local"
"""The cluster that Ray finds, or else starts on this machine; and always the latter."""

RETRIES = 3
"""How often Ray begins a call again whose worker or node was lost."""

MEMORY_RETRIES = "RAY_task_oom_retries"
"""Where Ray reads how often it does so if it has ended the worker itself, for want of memory on its
node. It would for ever: a model that is too large for a node would never be told of."""

REACHED_WITHIN = 10.0
"""Seconds within which the head of a cluster has to answer."""

INSTALL = 'pip install "gpu-bridge[cluster]"'


@dataclass(frozen=True)
class Node:
    """What a node of the cluster has, by Ray's count."""

    cpus: int
    gpus: int


@dataclass(frozen=True)
class Cluster:
    """A cluster that this process has joined."""

    ray: Any
    address: str
    """Of its head."""

    def nodes(self) -> list[Node]:
        """Return the nodes that are alive now."""
        return [
            Node(int(found["Resources"].get("CPU", 0)), int(found["Resources"].get("GPU", 0)))
            for found in self.ray.nodes()
            if found["Alive"]
        ]

    def describe(self) -> str:
        """Return in words how large it is."""
        nodes = self.nodes()
        cpus, gpus = sum(node.cpus for node in nodes), sum(node.gpus for node in nodes)
        parts = [_counted(len(nodes), "node"), _counted(cpus, "CPU"), _counted(gpus, "GPU")]
        return f"{', '.join(parts)} at {self.address}"


def join(address: str) -> Cluster:
    """Join the cluster at an address, or the one that this process has joined before.

    Parameters
    ----------
    address : str
        As ``ray.init`` takes it, or 'auto': the cluster of the environment (``RAY_ADDRESS``), one
        that runs on this machine, or else a new one on it. What is started ends with this process.

    Raises
    ------
    ClusterError
        Ray is missing or of another version than the cluster's, there is no cluster at the address,
        or this process has joined another one.
    """
    if importlib.util.find_spec("ray") is None:
        raise ClusterError(f"cluster='{address}' needs Ray, which is not installed; run: {INSTALL}")
    import ray

    if not ray.is_initialized():
        os.environ.setdefault(MEMORY_RETRIES, str(RETRIES))
        try:
            _look_for(os.environ.get("RAY_ADDRESS", "") if address == AUTO else address)
            ray.init(
                address=None if address == AUTO else address,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise ClusterError(
                f"The Ray cluster '{address}' cannot be joined: {_first_line(error)} Start one "
                "with 'ray start --head', or use cluster='local'."
            ) from error
    joined = str(ray.get_runtime_context().gcs_address)
    if address not in (AUTO, LOCAL, joined, os.environ.get("RAY_ADDRESS")):
        raise ClusterError(
            f"cluster='{address}' was asked for, but this process has joined the Ray cluster "
            f"{joined}; call ray.shutdown() first, or use cluster='auto'."
        )
    return Cluster(ray, joined)


def _look_for(address: str) -> None:
    """Raise OSError where nobody answers at HOST:PORT, for which Ray would wait for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and host and "/" not in host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), REACHED_WITHIN).close()


def _first_line(error: Exception) -> str:
    words = (str(error).strip().splitlines() or [type(error).__name__])[0].strip()
    return words if words.endswith(".") else f"{words}."


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# Calls of our functions on the nodes: how they begin, what they return, their end.


class WorkerLostError(EngineError):
    """The workers that ran a call have died, each time that Ray tried; no answer is left of it.

    Attributes
    ----------
    reason : StopReason
        Whether it was for memory.
    """

    def __init__(self, message: str, reason: StopReason) -> None:
        super().__init__(message)
        self.reason = reason


class Calls:
    """Calls of functions of ours on a cluster's workers.

    Parameters
    ----------
    cluster : Cluster
    """

    def __init__(self, cluster: Cluster) -> None:
        self._ray = cluster.ray
        self._ray.cloudpickle.register_pickle_by_value(remote)
        self.renew()

    def renew(self) -> None:
        """Let later calls wait for no worker that earlier ones have asked for.

        Ray asks for workers by function, and asks for no more while it waits for enough of them.
        """
        self._call = self._ray.remote(remote.call)

    def send(self, data: Any, what: str) -> Any:
        """Put data where all nodes can read it, each of them once, and return Ray's reference.

        Raises
        ------
        ProblemError
            It cannot be sent; ``what`` names it.
        """
        try:
            return self._ray.put(data)
        except Exception as error:  # pickling raises what the data's own methods raise
            raise ProblemError(f"{what} cannot be sent to the cluster: {error}") from error

    def begin(
        self, function: Callable[..., Any], *arguments: Any, cpus: float, gpus: float = 0
    ) -> Any:
        """Call a function by its name on a worker, and return Ray's reference to the answer.

        ``arguments`` are plain data, or references to what was sent.
        """
        remote_call = self._call.options(num_cpus=cpus, num_gpus=gpus, max_retries=RETRIES)
        name = function.__module__, function.__qualname__
        return remote_call.remote(gpu_bridge.__version__, *name, *arguments)

    def ended(self, calls: Iterable[Any], seconds: float) -> list[Any]:
        """Return those of the calls that have ended, after the first has, or so many seconds."""
        waiting = list(calls)
        if not waiting:
            time.sleep(seconds)
            return []
        first, _ = self._ray.wait(waiting, num_returns=1, timeout=seconds)
        if not first:
            return []
        return list(self._ray.wait(waiting, num_returns=len(waiting), timeout=0)[0])

    def answer(self, call: Any) -> Any:
        """Return what a call that has ended has returned.

        Raises
        ------
        ClusterError
            The worker has another version of this package, or none.
        WorkerLostError
            No worker lived to its end.
        GpuBridgeError
            What the function raised.
        """
        errors = self._ray.exceptions
        try:
            kind, found, *node = self._ray.get(call)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, GpuBridgeError):
                raise cause from None
            raise EngineError(f"A worker of the cluster failed: {cause!r}") from error
        except errors.RayError as error:
            words = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
            no_memory = isinstance(error, errors.OutOfMemoryError)
            reason = StopReason.OUT_OF_MEMORY if no_memory else StopReason.NUMERICAL_TROUBLE
            raise WorkerLostError(words, reason) from error
        if kind == remote.OTHER_VERSION:
            raise ClusterError(
                f"The node {node[0]} has gpu-bridge {found}, and this process has "
                f"{gpu_bridge.__version__}; install the same version on all nodes."
            )
        if kind == remote.MISSING:
            raise ClusterError(
                f"The node {node[0]} cannot import gpu-bridge ({found}); install it there: "
                f"{INSTALL}"
            )
        return found

    def end(self, calls: Iterable[Any], *, at_once: bool) -> None:
        """Tell calls to end: with what they have, or at once and without it."""
        for call in calls:
            self._ray.cancel(call, force=at_once)

    def exchange(self, leaves: int) -> Any:
        """Start what members share points and bounds by, on this process's node, and return it."""
        node = self._ray.get_runtime_context().get_node_id()
        here = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        made = self._ray.remote(remote.Exchange)
        return made.options(num_cpus=0, scheduling_strategy=here).remote(leaves)

    def ask(self, method: Any, *arguments: Any) -> Any:
        """Call a method of an exchange and return its answer."""
        return self._ray.get(method.remote(*arguments))

    def end_exchange(self, exchange: Any) -> None:
        """End an exchange."""
        self._ray.kill(exchange)


# Models and starts as plain data, for the way to a worker.
#
# Names of columns and rows stay behind, as a worker has no use for them, and so does whatever a
# problem keeps of itself.


VECTORS = ("cost", "row_lower", "row_upper", "lower", "upper", "integrality")

Packed = dict[str, Any]


def pack(problem: Problem) -> Packed:
    """Return a problem as plain data, on the same arrays."""
    entries = problem.entries
    packed: Packed = {name: getattr(problem, name) for name in VECTORS}
    packed["entries"] = (entries.data, entries.indices, entries.indptr)
    return packed | {
        "offset": problem.offset,
        "maximize": problem.maximize,
        "name": str(problem.name),
    }


def unpack(packed: Packed) -> Problem:
    """Return the problem; its matrix stays where Ray has put the arrays."""
    own = {name: packed[name].copy() for name in VECTORS}
    data, indices, indptr = packed["entries"]
    shape = own["row_lower"].size, own["cost"].size
    return Problem.from_canonical(
        **own,
        matrix=SparseRows(data, indices, indptr, shape),
        offset=packed["offset"],
        maximize=packed["maximize"],
        name=packed["name"],
    )


def pack_start(start: Start | None) -> tuple[Any, ...] | None:
    """Return a start as plain data."""
    if start is None:
        return None
    basis = start.basis
    statuses = None if basis is None else (basis.column_status, basis.row_status)
    return start.x, start.row_dual, statuses


def unpack_start(packed: tuple[Any, ...] | None) -> Start | None:
    """Return the start."""
    if packed is None:
        return None
    x, row_dual, statuses = packed
    return Start(x, row_dual, None if statuses is None else Basis(*statuses))
