"""What is said where there is no cluster to join."""

from __future__ import annotations

import importlib.util
import socket

import pytest

import gpu_bridge as gb
from gpu_bridge.batch.on_cluster import FIRST, FIRST_ON_GPU, worker_kinds
from gpu_bridge.cluster.chunks import WorkerKind
from gpu_bridge.cluster.connection import Cluster, Node
from gpu_bridge.options import make_options
from solvers.core.problem import Problem


class Counted(Cluster):
    """A cluster of nodes that are given."""

    def __init__(self, *nodes: Node) -> None:
        object.__setattr__(self, "given", nodes)

    def nodes(self) -> list[Node]:
        return list(self.given)  # type: ignore[attr-defined]


def test_without_ray_it_is_said_how_to_get_it(monkeypatch):
    found = importlib.util.find_spec
    without = lambda name, *more: None if name == "ray" else found(name, *more)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", without)
    problem = Problem.from_arrays([1.0], [[1.0]], [1.0], integrality=True)
    with pytest.raises(gb.ClusterError, match=r'pip install "gpu-bridge\[cluster\]"'):
        gb.solve_many([problem], cluster="auto")
    with pytest.raises(gb.ClusterError, match=r'pip install "gpu-bridge\[cluster\]"'):
        gb.solve(problem, cluster="auto")


def test_where_nobody_answers_it_is_said_so():
    pytest.importorskip("ray")
    problem = Problem.from_arrays([1.0], [[1.0]], [1.0], integrality=True)
    with socket.socket() as taken:  # and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(gb.ClusterError, match=f"'{address}' cannot be joined: .*refused"):
            gb.solve(problem, cluster=address)


def test_a_linear_program_needs_no_cluster():
    problem = Problem.from_arrays([1.0], [[1.0]], [1.0])
    assert gb.solve(problem, cluster="nowhere").objective == 1.0


def test_workers_have_what_the_nodes_have():
    cluster = Counted(Node(4, 2), Node(8, 0))
    gpus = WorkerKind("auto", 2, 1, 1, FIRST_ON_GPU)
    assert worker_kinds(cluster, make_options()) == [gpus, WorkerKind("cpu", 10, 1, 0, FIRST)]
    assert worker_kinds(cluster, make_options(device="cpu")) == [WorkerKind("cpu", 12, 1, 0, FIRST)]
    assert worker_kinds(cluster, make_options(device="cuda:1")) == [
        WorkerKind("cuda", 2, 1, 1, FIRST_ON_GPU)
    ]
    assert worker_kinds(cluster, make_options(threads=3)) == [
        WorkerKind("auto", 2, 3, 1, FIRST_ON_GPU),
        WorkerKind("cpu", 2, 3, 0, FIRST),
    ]


def test_a_cluster_that_has_nothing_yet_is_asked_for_one_worker():
    assert worker_kinds(Counted(), make_options()) == [WorkerKind("cpu", 1, 1, 0, FIRST)]
