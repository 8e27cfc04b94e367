"""Bandwidth that the two step kernels reach, against what the device reaches in copying.

    python -m benchmarks.kernels [--device auto|cuda|cpu] [--nonzeros 1e5 1e6 1e7] [--seed 0]

Bytes are those that have to travel at least once (the declaration's ``bytes_moved``: matrix,
gathered vector once, the owner's vectors), so that rereads of the gathered vector show as
bandwidth lost. ``local`` matrices have their entries near the diagonal, ``random`` ones anywhere.
Times are medians of repeated launches after a warm-up: by events on a GPU, each repeat long
enough for the clock on a CPU. ``window`` is one iteration's share of a whole window of 200, the
way the engine runs it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.record import Column, print_table, write_record
from solvers.device import Device, find_device
from solvers.options import EngineOptions
from solvers.pdlp.iterate import advance, dual_arguments, primal_arguments
from solvers.pdlp.kernels.step import STEP
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.start import prepare
from solvers.pdlp.state import State
from solvers.problem import Problem
from solvers.progress import Progress

ROW_LENGTH = 8
REPEATS = 15
SHORTEST = 2e-3
"""Seconds that one timed repeat must take at least."""


def main() -> None:
    """Measure all sizes and patterns and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    with device.activate():
        copy = copy_bandwidth(device)
        rows = [
            measure(device, copy, int(nonzeros), pattern, arguments.seed)
            for nonzeros in arguments.nonzeros
            for pattern in ("local", "random")
        ]
    print_table(
        f"Step kernels on {device.name}, which copies at {copy / 1e9:.4g} GB/s",
        [Column(title) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    content = {"copy GB/s": copy / 1e9, "row length": ROW_LENGTH, "rows": rows}
    write_record("kernels", content, device=device, seed=arguments.seed)


def measure(device: Device, copy: float, nonzeros: int, pattern: str, seed: int) -> dict[str, Any]:
    """Time both steps and a window on one random matrix; ``copy`` is in bytes per second."""
    state = random_state(device, nonzeros, pattern, seed)
    row: dict[str, Any] = {"nonzeros": state.problem.by_row.nonzeros, "pattern": pattern}
    for name, values in (
        ("primal_step", (*primal_arguments(state), 0, 0)),
        ("dual_step", (*dual_arguments(state), 0, 0)),
    ):
        kernel = STEP.kernels[name]
        seconds = median_seconds(device, _call(STEP[name], values))
        moved = kernel.bytes_moved(kernel.by_name(values))
        row[f"{name} us"] = 1e6 * seconds
        row[f"{name} GB/s"] = moved / seconds / 1e9
        row[f"{name} of copy"] = moved / seconds / copy
    interval = state.settings.check_interval
    window = median_seconds(device, lambda: _window(state, interval))
    row["window us/iteration"] = 1e6 * window / interval
    return row


def random_state(device: Device, nonzeros: int, pattern: str, seed: int) -> State:
    """Return a prepared solve on a random square matrix with rows of even length."""
    generator = np.random.default_rng(seed)
    size = max(ROW_LENGTH, nonzeros // ROW_LENGTH)
    if pattern == "local":
        near = generator.integers(-4 * ROW_LENGTH, 4 * ROW_LENGTH, (size, ROW_LENGTH))
        columns = (np.arange(size)[:, None] + near) % size
    else:
        columns = generator.integers(0, size, (size, ROW_LENGTH))
    rows = np.repeat(np.arange(size), ROW_LENGTH)
    values = generator.uniform(0.5, 1.5, size * ROW_LENGTH)
    matrix = sp.csr_array((values, (rows, columns.ravel())), shape=(size, size))
    problem = Problem.from_arrays(generator.standard_normal(size), matrix, -1.0, 1.0, upper=1.0)
    settings = replace(DEFAULT, power_iterations=0)
    return prepare(problem, EngineOptions(), device, Progress(), settings=settings)


def copy_bandwidth(device: Device) -> float:
    """Return bytes per second of a large copy within the device, read and written both counted."""
    size = 2**27 if device.kind == "cuda" else 2**25
    source, target = device.xp.ones(size), device.xp.empty(size)

    def copy() -> None:
        target[...] = source

    return 2.0 * int(source.nbytes) / median_seconds(device, copy)


def median_seconds(device: Device, work: Callable[[], None]) -> float:
    """Return the median duration of ``work`` over repeats, after a warm-up."""
    work()
    device.synchronize()
    timed = _timed_on_gpu if device.kind == "cuda" else _timed_on_cpu
    launches = 1
    while timed(device, work, launches) * launches < SHORTEST and launches < 10_000:
        launches *= 2
    return statistics.median(timed(device, work, launches) for _ in range(REPEATS))


def _timed_on_gpu(device: Device, work: Callable[[], None], launches: int) -> float:
    cuda = device.xp.cuda
    begin, end = cuda.Event(), cuda.Event()
    begin.record()
    for _ in range(launches):
        work()
    end.record()
    end.synchronize()
    return float(cuda.get_elapsed_time(begin, end)) * 1e-3 / launches


def _timed_on_cpu(device: Device, work: Callable[[], None], launches: int) -> float:
    began = time.perf_counter()
    for _ in range(launches):
        work()
    return (time.perf_counter() - began) / launches


def _call(kernel: Callable[..., None], values: tuple[Any, ...]) -> Callable[[], None]:
    return lambda: kernel(*values)


def _window(state: State, interval: int) -> None:
    advance(state, interval, Progress())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--nonzeros", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
