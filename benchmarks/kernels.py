"""Bandwidth that the kernels of PDLP reach, against what the device reaches in copying.

    python -m benchmarks.kernels [--device auto|cuda|cpu] [--nonzeros 1e4 1e5 1e6 1e7]
        [--values few|short|long] [--seed 0]

Bytes are those that have to travel at least once (the kernel's ``bytes_moved``: matrix,
gathered vector once, the owner's vectors), so that rereads of the gathered vector show as
bandwidth lost; models that fit into a cache may beat the copy. ``banded`` matrices have their
entries near the diagonal, ``random`` ones anywhere; ``--values`` says whether coefficients are
few (codes), exact as float32, or neither. ``block`` columns are one iteration's share of a
block of 200, for each execution mode; the modes agree in all they compute. Times are medians
of repeated launches after a warm-up: by events on a GPU, each repeat long enough for the clock
on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.kernels.family import Family
from solvers.pdlp.execution.on_cpu import (
    BlocksOnCpu,
    column_measure_arguments,
    dual_arguments,
    primal_arguments,
    row_measure_arguments,
    staying_arguments,
)
from solvers.pdlp.kernels.matrix import MATRIX
from solvers.pdlp.kernels.measure import MEASURE
from solvers.pdlp.kernels.staying import STAYING
from solvers.pdlp.kernels.step import KEEP_NONE, STEP
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.start import prepare
from solvers.pdlp.state import State
from solvers.sparse.slices import Slices

ROW_LENGTH = 8
REPEATS = 15
SHORTEST = 2e-3
"""Seconds that one timed repeat must take at least."""

PATTERNS = ("banded", "random")
VALUES = ("few", "short", "long")


def main() -> None:
    """Measure all sizes and patterns and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    with device.activate():
        copy = copy_bandwidth(device)
        rows = [
            measure(device, copy, int(nonzeros), pattern, arguments.values, arguments.seed)
            for nonzeros in arguments.nonzeros
            for pattern in PATTERNS
        ]
    print_table(
        f"Kernels on {device.name}, which copies at {copy / 1e9:.4g} GB/s",
        [Column(title) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    content = {
        "copy GB/s": copy / 1e9,
        "row length": ROW_LENGTH,
        "values": arguments.values,
        "rows": rows,
    }
    write_record("kernels", content, device=device, seed=arguments.seed)


def measure(
    device: Device, copy: float, nonzeros: int, pattern: str, values: str, seed: int
) -> dict[str, Any]:
    """Time the kernels on one matrix; ``copy`` is in bytes per second."""
    state = state_with(device, nonzeros, pattern, values, seed)
    by_row = _whole(state)
    row: dict[str, Any] = {
        "nonzeros": by_row.nonzeros,
        "pattern": pattern,
        "bytes/entry": by_row.entry_bytes,
        "padding": by_row.padding,
    }
    for family, name, arguments in single_kernels(state):
        kernel = family.kernels[name]
        seconds = median_seconds(device, launcher(device, family, name, arguments))
        moved = kernel.bytes_moved(kernel.by_name(arguments))
        row[f"{name} us"] = 1e6 * seconds
        row[f"{name} of copy"] = moved / seconds / copy
    for title, seconds in block_seconds(device, state).items():
        row[f"{title} us/iteration"] = 1e6 * seconds / state.settings.restart.check_interval
    return row


def _whole(state: State) -> Slices:
    by_row = state.problem.coefficients.by_row
    assert isinstance(by_row, Slices)  # of one device
    return by_row


def single_kernels(state: State) -> list[tuple[Family, str, tuple[Any, ...]]]:
    """Return the kernels with their arguments."""
    xp = state.problem.device.xp
    by_row = _whole(state)
    product = xp.empty(by_row.rows)
    return [
        (MATRIX, "multiply", (*by_row.arguments, state.reflected, product)),
        (STEP, "primal_step", (*primal_arguments(state), 0, KEEP_NONE)),
        (STEP, "dual_step", (*dual_arguments(state), 0, KEEP_NONE)),
        (MEASURE, "measure_rows", row_measure_arguments(state)),
        (MEASURE, "measure_columns", column_measure_arguments(state)),
    ]


def block_seconds(device: Device, state: State) -> dict[str, float]:
    """Return the seconds of a whole block for each execution mode."""
    count = state.settings.restart.check_interval
    if device.kind == "cpu":
        blocks = BlocksOnCpu(state, Progress())
        return {"block": median_seconds(device, lambda: blocks.submit(count))}
    modes = {
        "block of launches": _graph(device, _single_launches(state, count)),
        "block with barriers": _barrier_block(device, state, count),
        "block without barriers": _flow_block(device, state, count),
    }
    return {title: median_seconds(device, work) for title, work in modes.items()}


def _single_launches(state: State, count: int) -> Callable[[], None]:
    primal = STEP.bind("primal_step", *primal_arguments(state), 0, KEEP_NONE)
    dual = STEP.bind("dual_step", *dual_arguments(state), 0, KEEP_NONE)
    launches = [
        step.ending(offset, KEEP_NONE) for offset in range(count) for step in (primal, dual)
    ]

    def launch() -> None:
        for each in launches:
            each()

    return launch


def _blocks(device: Device, state: State, units_of_block: int) -> int:
    coefficients = state.problem.coefficients
    units = max(coefficients.by_row.units, coefficients.by_column.units)
    processors = int(device.xp.cuda.Device().attributes["MultiProcessorCount"])
    return max(1, min(processors, -(-units // units_of_block)))


def _barrier_block(device: Device, state: State, count: int) -> Callable[[], None]:
    arrivals = device.xp.zeros(1, dtype=np.int32)
    blocks = _blocks(device, state, 4)
    arguments = staying_arguments(state, count, blocks, (arrivals,))
    steps = STAYING.bind("barrier_steps", *arguments)

    def launch() -> None:
        arrivals.fill(0)
        steps()

    return launch


def _flow_block(device: Device, state: State, count: int) -> Callable[[], None]:
    tagged = tuple(device.xp.zeros((side.point.size, 2)) for side in (state.x, state.y))
    blocks = _blocks(device, state, 1)
    arguments = staying_arguments(state, count, blocks, tagged)
    steps = STAYING.bind("flow_steps", *arguments)

    def launch() -> None:
        for array in tagged:  # tags count on, but here no check moves the number of iterations
            array.fill(0)
        steps()

    return launch


def _graph(device: Device, work: Callable[[], None]) -> Callable[[], None]:
    """Record launches as a CUDA graph."""
    stream = device.xp.cuda.get_current_stream()
    stream.begin_capture()
    try:
        work()
    finally:
        graph = stream.end_capture()
    return lambda: graph.launch()


def launcher(
    device: Device, family: Family, name: str, arguments: tuple[Any, ...]
) -> Callable[[], None]:
    """Return a launch that costs the host as little as it can."""
    if device.kind == "cuda":
        return family.bind(name, *arguments)
    kernel = family[name]
    return lambda: kernel(*arguments)


def state_with(device: Device, nonzeros: int, pattern: str, values: str, seed: int) -> State:
    """Return a prepared solve on a square matrix with rows of even length."""
    generator = np.random.default_rng(seed)
    size = max(ROW_LENGTH, nonzeros // ROW_LENGTH)
    if pattern == "banded":
        columns = (np.arange(size)[:, None] + np.arange(ROW_LENGTH)) % size
    else:
        columns = generator.integers(0, size, (size, ROW_LENGTH))
    rows = np.repeat(np.arange(size), ROW_LENGTH)
    entries = generator.uniform(0.5, 1.5, size * ROW_LENGTH)
    if values == "few":
        entries = np.round(entries, 1)
    elif values == "short":
        entries = entries.astype(np.float32).astype(np.float64)
    matrix = sp.coo_array((entries, (rows, columns.ravel())), shape=(size, size)).tocsr()
    problem = Problem.from_arrays(generator.standard_normal(size), matrix, -1.0, 1.0, upper=1.0)
    settings = DEFAULT.changed(step={"power_iterations": 0}, execution={"pack_from": 0})
    state = prepare(problem, EngineOptions(), device, Progress(), settings=settings)
    state.write_control(primal_tolerance=-1.0)  # no block may end because all is solved
    return state


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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--nonzeros", type=float, nargs="+", default=[1e4, 1e5, 1e6, 1e7])
    parser.add_argument("--values", default="long", choices=VALUES)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
