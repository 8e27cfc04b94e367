"""The Ray cluster that a solve goes to: joined or started, and what its nodes have."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
from dataclasses import dataclass
from typing import Any

from solvers.core.errors import ClusterError

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
    """A cluster that this process has joined.

    Parameters
    ----------
    ray : module
    address : str
        Of its head.
    """

    ray: Any
    address: str

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
