"""Measure what a cluster costs for each of many small models, on Ray's processes on this machine.

    python -m benchmarks.cluster [--models 4000] [--rows 2 10] [--workers 1] [--seed 0]

Every other model has integer columns. For each number of rows, with twice as many columns, a line
tells the milliseconds of processor time for each model: in this process alone, with one thread; and
on the workers, with Ray's own processes, and in this process beside them. What is not in the first
is what the cluster costs, with one worker: several that share caches take each other's time. Wall
time, which depends on what else is at work, is beside it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge as gb
from benchmarks.record import Column, print_table, write_record
from solvers.core.problem import Problem

WARM_UP = 200
"""Models before those that are timed: workers have to be started and to load the engines."""

RAYS = (b"ray::", b"raylet", b"gcs_server")
"""What the command lines of Ray's processes hold."""

COLUMNS = [
    Column("rows"),
    Column("here, ms", 3),
    Column("workers, ms", 3),
    Column("driver, ms", 3),
    Column("beyond the solve, ms", 3),
    Column("here, s", 2),
    Column("cluster, s", 2),
]


def main() -> None:
    """Measure what the command line asks for, print it and record it."""
    arguments = _arguments()
    import ray

    ray.init(num_cpus=arguments.workers, include_dashboard=False, log_to_driver=False)
    rows = []
    for size in arguments.rows:
        problems = [make(size, k, arguments.seed) for k in range(arguments.models)]
        rows.append([size, *measure(problems)])
        print(rows[-1], flush=True)
    ray.shutdown()
    print_table("Many models on a cluster", COLUMNS, rows)
    given = {"models": arguments.models, "workers": arguments.workers}
    write_record("cluster", {**given, "rows": rows}, seed=arguments.seed)


def make(rows: int, number: int, seed: int) -> Problem:
    """Return a small covering model; those of odd numbers have integer columns."""
    generator = np.random.default_rng([seed, rows, number])
    A = generator.integers(0, 4, (rows, 2 * rows)).astype(float)
    A[np.arange(rows), np.arange(rows)] += 1.0
    cost = generator.uniform(1.0, 2.0, 2 * rows)
    return Problem.from_arrays(
        cost, A, generator.uniform(3.0, 9.0, rows), upper=5.0, integrality=bool(number % 2)
    )


def measure(problems: Sequence[Problem]) -> list[float]:
    """Return the figures of a line."""
    options: dict[str, Any] = {"device": "cpu", "threads": 1, "explain": False}
    gb.solve_many(problems[:WARM_UP], **options)
    here, own, _ = timed(lambda: gb.solve_many(problems, **options))
    gb.solve_many(problems[:WARM_UP], cluster="auto", **options)
    there, driver, workers = timed(lambda: gb.solve_many(problems, cluster="auto", **options))
    each = [1e3 * seconds / len(problems) for seconds in (own, workers, driver)]
    return [*each, each[1] + each[2] - each[0], here, there]


def timed(work: Callable[[], object]) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds of this process, and those of Ray's."""
    began, own, others = time.perf_counter(), time.process_time(), of_ray()
    work()
    return time.perf_counter() - began, time.process_time() - own, of_ray() - others


def of_ray() -> float:
    """Return the processor seconds of Ray's processes on this machine so far."""
    ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            if any(name in command for name in RAYS):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        except OSError:  # it has ended meanwhile
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=4000)
    parser.add_argument("--rows", type=int, nargs="+", default=[2, 10])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
