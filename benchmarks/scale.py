"""What an iteration of PDLP takes on many GPUs: a model with a few figures, and measured points.

    python -m benchmarks.scale [FAMILY ...] [--nonzeros 5e8] [--points several-gpus-*.json]

For each family a small program is shared out over 1, 2, 4, ... GPUs to see what travels, and the
iteration of one of ``--nonzeros`` is simulated (docs/scale.md has the model). With ``--points``,
records of ``benchmarks.several_gpus``, the figures of the machine come from them: the rate of each
program on one GPU, and latency and bandwidth of messages; what the model then says of several GPUs
stands beside what was measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.families import FAMILIES
from benchmarks.record import Column, print_table
from benchmarks.several_gpus import make
from solvers.pdlp.distributed.sides import sides_of
from solvers.sparse.shape import CPU_PLAN

REAL_BYTES = 8
COLUMN_VECTORS, ROW_VECTORS = 9, 7
"""Vectors that the two halves of an iteration read or write."""

ENTRY_BYTES = 12
"""Bytes of a coefficient that is not packed."""

SAMPLE = 300_000
"""Nonzeros of the program by which is seen what travels."""

COUNTS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Link:
    """A connection: seconds of a message without content, and bytes a second each way."""

    latency: float
    rate: float


@dataclass(frozen=True)
class Machine:
    """GPUs in hosts; by default H200s as measured in pairs, and a network of 400 Gbit/s for each.

    Parameters
    ----------
    rate : float
        Bytes a second that an iteration moves on one GPU.
    launch : float
        Seconds that each part of a half of an iteration costs beside what it moves.
    overlap : float
        How much of what could be computed while messages travel is: 1 for all of it.
    inside, between : Link
        Connections of GPUs in one host, and of GPUs in two (what each has of it).
    gpus : int
        GPUs of a host.
    """

    rate: float = 3.3e12
    launch: float = 14e-6
    overlap: float = 0.1
    inside: Link = Link(22e-6, 276e9)
    between: Link = Link(20e-6, 45e9)
    gpus: int = 8


@dataclass(frozen=True)
class Half:
    """A half of an iteration: bytes moved by all GPUs, and what each receives afterwards.

    ``shared`` is the part of the work whose results others read.
    """

    bytes: float
    received: float
    shared: float


def half_seconds(half: Half, machine: Machine, gpus: int) -> float:
    """Return the seconds of one half: what others read travels while the rest is computed."""
    compute = half.bytes / gpus / machine.rate
    if gpus == 1:
        return machine.launch + compute
    message = message_seconds(REAL_BYTES * half.received, machine, gpus)
    sent = machine.launch + compute * half.shared
    rest = machine.launch + compute * (1.0 - half.shared)
    beside = sent + max(message, rest)
    return machine.overlap * beside + (1.0 - machine.overlap) * (sent + message + rest)


def message_seconds(size: float, machine: Machine, gpus: int) -> float:
    """Return how long ``size`` bytes take to each GPU, as many from each of the others."""
    if gpus <= machine.gpus:
        return machine.inside.latency + size / machine.inside.rate
    outside = (gpus - machine.gpus) / (gpus - 1)
    return max(
        machine.inside.latency + size * (1.0 - outside) / machine.inside.rate,
        machine.between.latency + size * outside / machine.between.rate,
    )


@dataclass(frozen=True)
class Traffic:
    """What travels of a program on so many GPUs, as parts of its rows and columns.

    Of each side the largest part that a GPU receives, and the part that others read.
    """

    received: tuple[float, float]
    shared: tuple[float, float]


def traffic(name: str, gpus: int, seed: int = 0) -> Traffic:
    """Share a small program of a family out and see what travels."""
    problem, _ = make(name, SAMPLE, seed)
    rows, columns = problem.entries, problem.columns
    sides = sides_of(rows, columns, np.full(gpus, 1.0 / gpus), CPU_PLAN)
    received = [side.received / side.size for side in sides]
    last = [sum(bounds[-1] - bounds[-2] for bounds in side.bounds) for side in sides]
    shared = [1.0 - alone / side.size for alone, side in zip(last, sides, strict=True)]
    return Traffic((received[0], received[1]), (shared[0], shared[1]))


def halves(rows: float, columns: float, matrix_bytes: float, found: Traffic) -> tuple[Half, Half]:
    """Return the primal and the dual half of an iteration, ``matrix_bytes`` for each of A, A'."""

    def half(size: float, vectors: int, side: int) -> Half:
        moved = matrix_bytes + REAL_BYTES * vectors * size
        return Half(moved, size * found.received[side], found.shared[side])

    return half(columns, COLUMN_VECTORS, 1), half(rows, ROW_VECTORS, 0)


def iteration_seconds(parts: Sequence[Half], machine: Machine, gpus: int) -> float:
    """Return the seconds of an iteration."""
    return sum(half_seconds(half, machine, gpus) for half in parts)


def from_points(rows: Sequence[dict[str, Any]], machine: Machine) -> Machine:
    """Return a machine with latency and bandwidth of its messages as they were measured."""
    messages = [row for row in rows if "doubles" in row]
    if not messages:
        return machine
    sizes = np.array([REAL_BYTES * row["doubles"] for row in messages], dtype=np.float64)
    seconds = np.array([1e-6 * row["microseconds"] for row in messages])
    largest = int(sizes.argmax())
    latency = float(seconds.min())
    rate = float(sizes[largest] / (seconds[largest] - latency))
    return dataclasses.replace(machine, inside=Link(latency, rate))


def fitted(rows: Sequence[dict[str, Any]], machine: Machine) -> Machine:
    """Return a machine with the launch time and overlap that fit points of several GPUs best."""
    lines = [(machine, math.inf)]
    for launch in np.linspace(0.0, 30e-6, 31):
        for overlap in np.linspace(0.0, 1.0, 21):
            tried = dataclasses.replace(machine, launch=float(launch), overlap=float(overlap))
            errors = [math.log(line[3] / line[2]) ** 2 for line in compare(rows, tried)]
            lines.append((tried, sum(errors) if errors else math.inf))
    return min(lines, key=lambda line: line[1])[0]


def compare(rows: Sequence[dict[str, Any]], machine: Machine) -> list[list[Any]]:
    """Return what was measured on several GPUs beside what the model says, as a table's rows."""
    alone = {row["model"]: row for row in rows if row.get("device") == "cuda"}
    table = []
    for row in rows:
        one = alone.get(row.get("model"))
        if one is None or "received rows" not in row or "iteration ms" not in one:
            continue
        there = dataclasses.replace(machine, rate=1e6 * one["GB"] / one["iteration ms"] * 1e6)
        m, n = row["rows"], row["columns"]
        matrix = (1e9 * one["GB"] - REAL_BYTES * (COLUMN_VECTORS * n + ROW_VECTORS * m)) / 2
        received = (row["received rows"] / m, row["received columns"] / n)
        shared = row.get("shared") or [min(1.0, 2.0 * part) for part in received]
        found = Traffic(received, (shared[0], shared[1]))
        parts = halves(m, n, matrix, found)
        gpus = row.get("gpus", 2)
        said = 1e3 * iteration_seconds(parts, there, gpus)
        measured = row["iteration ms"]
        speedup = one["iteration ms"] / measured
        table.append([row["model"], one["iteration ms"], measured, said, speedup, gpus])
    return table


def main() -> None:
    """Print what the model says."""
    arguments = _arguments()
    machine, points = Machine(), []
    for path in arguments.points:
        points += json.loads(path.read_text(encoding="utf-8"))["rows"]
    machine = fitted(points, from_points(points, machine))
    print(machine)
    if points:
        titles = ("model", "one GPU ms", "several ms", "model says", "speed-up", "GPUs")
        print_table("Measured and simulated", [Column(t) for t in titles], compare(points, machine))
    lines = []
    for name in arguments.name or FAMILIES:
        problem, _ = make(name, SAMPLE, 0)
        factor = arguments.nonzeros / problem.num_nonzeros
        m, n = factor * problem.num_rows, factor * problem.num_columns
        line: list[Any] = [name, m, n]
        for gpus in COUNTS:
            found = traffic(name, gpus)
            matrix = ENTRY_BYTES * arguments.nonzeros
            parts = halves(m, n, matrix, found)
            line.append(1e3 * iteration_seconds(parts, machine, gpus))
        lines.append(line)
    of_families = ("family", "rows", "columns", *(f"{count} GPUs" for count in COUNTS))
    words = f"Milliseconds of an iteration, {arguments.nonzeros:.3g} nonzeros"
    print_table(words, [Column(title, 3) for title in of_families], lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="*", choices=[*FAMILIES, []], metavar="FAMILY")
    parser.add_argument("--nonzeros", type=float, default=5e8)
    parser.add_argument("--points", type=Path, nargs="*", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
