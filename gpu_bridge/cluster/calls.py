"""Calls of our functions on the nodes of a cluster: how they begin, what they return, their end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import gpu_bridge
from gpu_bridge.cluster import remote
from gpu_bridge.cluster.connection import INSTALL, RETRIES, Cluster
from solvers.core.errors import ClusterError, EngineError, GpuBridgeError, ProblemError
from solvers.core.outcome import Basis, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.rows import SparseRows


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
