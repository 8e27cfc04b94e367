"""What one iteration of a first-order method costs, and how near that is to the roofline.

Each solver runs twice on the same program without presolve, with a tolerance that it will not
reach, once with twice the iterations: the difference in time over the difference in iterations
is free of set-up, and contains the solver's checks and restarts at the rate at which they come.
The count is raised until the difference takes long enough to be measured.

The roofline is the time that the memory would need for the bytes of an iteration: as the solver
states them for its format, otherwise those of two plain CSR matrices with every vector read and
written once (``24 nonzeros + 68 columns + 52 rows``). The bandwidth is that of a copy on the
same device. Programs that fit the device's cache can be faster than that.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import lp_sets, peers
from benchmarks.linear_programs import SHAPES, LinearProgram, read
from benchmarks.peers import Task
from benchmarks.record import Column, print_table, write_record
from benchmarks.worker import Timed, Worker
from solvers.core.device import Device, find_device

NAME = "pdlp-iteration"
"""Of the records."""

SIZES = (8e3, 2e4, 1e5, 2e5, 1e6, 1e7)
"""Nonzeros of the made-up programs."""

UNREACHABLE = 1e-10
LONG_ENOUGH = 0.3
"""Seconds by which the two runs must differ."""

LONGEST = 60.0
"""Time limit of one run in seconds."""

MOST_ITERATIONS = 500_000
GROWTH = 4
COPIED = 2**27
"""Bytes copied to measure the bandwidth: far more than any cache of a CPU holds."""

COPIED_ON_GPU = 2**31
LAST_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
TITLES = ("program", "nonzeros", "solver", "us/it", "GB/s", "roofline", "in cache")

Load = Callable[[], LinearProgram]


@dataclass(frozen=True)
class Cost:
    """One solver's iteration on one program; ``share`` is that of the roofline."""

    program: str
    rows: int
    columns: int
    nonzeros: int
    solver: str
    iterations: int
    microseconds: float
    bytes: float
    share: float
    in_cache: bool


def measure_all(entries: list[lp_sets.Entry], arguments: argparse.Namespace) -> None:
    """Measure every first-order solver on every program, print a table and record it."""
    device = find_device(arguments.device)
    bandwidth, cache = copy_bandwidth(device), cache_bytes(device)
    print(f"Copy on {device.name}: {bandwidth / 1e9:.0f} GB/s; cache {cache / 2**20:.0f} MiB")
    costs: list[Cost] = []
    try:
        for cost in _costs(entries, arguments, bandwidth, cache):
            print(
                f"{cost.solver:28s} {cost.program:24s} {cost.microseconds:10.2f} us "
                f"{100 * cost.share:6.1f} % of the roofline",
                flush=True,
            )
            costs.append(cost)
    except KeyboardInterrupt:
        print("Interrupted; what was measured so far is recorded.")
    report(costs, bandwidth, cache, device, arguments)


def report(
    costs: list[Cost],
    bandwidth: float,
    cache: int,
    device: Device,
    arguments: argparse.Namespace,
) -> None:
    """Print the table, smallest program first, and write the record."""
    costs = sorted(costs, key=lambda cost: (cost.nonzeros, cost.program, cost.solver))
    cells = [
        [
            *(cost.program, cost.nonzeros, cost.solver, cost.microseconds),
            cost.bytes / cost.microseconds / 1e3,
            f"{100 * cost.share:.0f} %",
            "yes" if cost.in_cache else "",
        ]
        for cost in costs
    ]
    print_table("Cost of an iteration", [Column(title, 3) for title in TITLES], cells)
    content = {
        "copy bytes per second": bandwidth,
        "cache bytes": cache,
        "threads": arguments.threads,
        "rows": [asdict(cost) for cost in costs],
    }
    write_record(NAME, content, device=device, seed=arguments.seed)


def _costs(
    entries: list[lp_sets.Entry], arguments: argparse.Namespace, bandwidth: float, cache: int
) -> Iterator[Cost]:
    deadline = time.monotonic() + arguments.stop_after
    for name in arguments.solvers:
        solver = peers.find(name, arguments.device)
        why = "it has no iterations to compare" if not solver.first_order else solver.missing()
        if why is not None:
            print(f"{name} is left out: {why}.")
            continue
        with Worker(functools.partial(peers.find, name, arguments.device), trial=False) as worker:
            for load in programs(entries, arguments.nonzeros, arguments.seed):
                if time.monotonic() > deadline:
                    print(f"Time is up; {name} stopped early.")
                    return
                lp = load()
                found = measure(functools.partial(worker.solve, lp), lp, arguments.threads)
                if found is None:
                    print(f"{solver.label} gave nothing to measure on {lp.name}.")
                    continue
                yield to_cost(solver.label, lp, found, bandwidth, cache)


def programs(entries: list[lp_sets.Entry], sizes: list[int], seed: int) -> list[Load]:
    """Return loaders of the real and the made-up programs."""
    loads: list[Load] = [functools.partial(read, entry.path) for entry in entries]
    for nonzeros in sizes:
        loads += [functools.partial(make, nonzeros, seed) for make in SHAPES.values()]
    return loads


@dataclass(frozen=True)
class Measured:
    """Seconds per iteration, the iterations of the longer run, and bytes if the solver tells."""

    seconds: float
    iterations: int
    bytes: float | None


def measure(
    solve: Callable[[Task], Timed], program: LinearProgram, threads: int
) -> Measured | None:
    """Return the cost of an iteration from two runs, or None if there is nothing to compare."""
    count = first_count(program)
    found = None
    while count <= MOST_ITERATIONS:
        task = Task(UNREACHABLE, LONGEST, count, presolve=False, threads=threads)
        short = solve(task)
        long = solve(Task(UNREACHABLE, LONGEST, 2 * count, presolve=False, threads=threads))
        found = difference(short, long) or found
        spent = _seconds(long) - _seconds(short)
        if spent >= LONG_ENOUGH or (long.answer.iterations or 0) < 2 * count:
            return found
        count *= GROWTH
    return found


def difference(short: Timed, long: Timed) -> Measured | None:
    """Return the cost between two runs; None where the longer one did not iterate longer."""
    fewer, more = short.answer.iterations, long.answer.iterations
    if fewer is None or more is None or more <= fewer:
        return None
    seconds = (_seconds(long) - _seconds(short)) / (more - fewer)
    return Measured(seconds, more, long.answer.bytes_per_iteration) if seconds > 0 else None


def first_count(program: LinearProgram) -> int:
    """Return iterations to begin with: fewer on larger programs."""
    return int(min(4000, max(40, 4e8 // max(1, program.nonzeros))))


def simple_cost(timed: Timed) -> float | None:
    """Return microseconds per iteration of one run, set-up excluded where the solver tells."""
    iterations = timed.answer.iterations
    return 1e6 * _seconds(timed) / iterations if iterations else None


def to_cost(
    label: str, program: LinearProgram, found: Measured, bandwidth: float, cache: int
) -> Cost:
    """Compare a measurement with the roofline."""
    rows, columns = program.matrix.shape
    moved = found.bytes or plain_bytes(rows, columns, program.nonzeros)
    return Cost(
        program=program.name,
        rows=rows,
        columns=columns,
        nonzeros=program.nonzeros,
        solver=label,
        iterations=found.iterations,
        microseconds=1e6 * found.seconds,
        bytes=moved,
        share=moved / bandwidth / found.seconds,
        in_cache=moved < cache,
    )


def plain_bytes(rows: int, columns: int, nonzeros: int) -> float:
    """Return the bytes of an iteration with A and A' in CSR, updates fused into the products."""
    return 24.0 * nonzeros + 68.0 * columns + 52.0 * rows


def copy_bandwidth(device: Device) -> float:
    """Return bytes per second of a large copy, read and written both counted; the best of 5."""
    if device.kind == "cuda":
        return _copy_on_gpu(device)
    threads = os.cpu_count() or 1
    source = np.ones(COPIED // 8)
    target = np.empty_like(source)
    parts = list(zip(np.array_split(source, threads), np.array_split(target, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> float:
            began = time.perf_counter()
            list(pool.map(lambda part: np.copyto(part[1], part[0]), parts))
            return time.perf_counter() - began

        copy()
        return 2.0 * float(source.nbytes) / min(copy() for _ in range(5))


def _copy_on_gpu(device: Device) -> float:
    xp = device.xp
    source, target = xp.ones(COPIED_ON_GPU // 8), xp.empty(COPIED_ON_GPU // 8)
    seconds = []
    for _ in range(6):
        begin, end = xp.cuda.Event(), xp.cuda.Event()
        begin.record()
        target[...] = source
        end.record()
        end.synchronize()
        seconds.append(1e-3 * xp.cuda.get_elapsed_time(begin, end))
    return 2.0 * float(source.nbytes) / float(min(seconds[1:]))


def cache_bytes(device: Device) -> int:
    """Return the size of the last level of cache; 0 where the system does not say."""
    if device.kind == "cuda":
        return int(device.xp.cuda.Device(device.index).attributes["L2CacheSize"])
    if LAST_CACHE.exists():
        return int(LAST_CACHE.read_text().strip().removesuffix("K")) * 1024
    return 0


def _seconds(timed: Timed) -> float:
    loop = timed.answer.loop_seconds
    return timed.seconds if loop is None else loop
