"""PDLP on one program with more entries than 32 bits count, by the device and by the host.

    python -m benchmarks.many_entries [--nonzeros 2.2e9] [--iterations 400] [--device auto]

A covering program, min c'x with A x >= 1 and x >= 0, whose rows are runs of 100 ones. Its arrays
are made as the bridge keeps them, as nothing could be copied: 35 GB for A with 2.2e9 entries and as
much for its transpose. The errors that PDLP told last, of products on its device, stand beside
those that the host finds for the point which it has returned: an entry in a wrong place tells them
apart.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks import memory
from benchmarks.record import write_record
from solvers import pdlp
from solvers.core.device import Device, find_device
from solvers.core.linear_algebra import SparseRows, index_type
from solvers.core.machine import usable_cores
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.termination import Record, on_original

RUN = 100
"""Entries of a row, next to each other."""

COLUMNS_PER_ROW = 0.5


def covering(nonzeros: int, seed: int) -> Problem:
    """Return the program; rows begin anywhere, so that columns differ in their lengths."""
    rows = nonzeros // RUN
    columns = int(COLUMNS_PER_ROW * rows) + RUN
    random = np.random.default_rng(seed)
    begins = random.integers(0, columns - RUN + 1, rows)
    kind = index_type(rows * RUN)
    indices, data = np.empty((rows, RUN), dtype=kind), np.empty(rows * RUN)

    def fill(part: slice) -> None:
        np.add(begins[part, np.newaxis], np.arange(RUN), out=indices[part], casting="unsafe")
        data[part.start * RUN : part.stop * RUN] = 1.0

    step = 100_000
    with ThreadPoolExecutor(usable_cores()) as pool:  # the system clears pages one by one
        parts = (slice(at, min(at + step, rows)) for at in range(0, rows, step))
        list(pool.map(fill, parts))
    starts = np.arange(0, rows * RUN + 1, RUN, dtype=kind)
    matrix = SparseRows(data, indices.ravel(), starts, (rows, columns))
    return Problem.from_canonical(
        cost=random.uniform(0.5, 1.5, columns),
        matrix=matrix,
        row_lower=np.ones(rows),
        row_upper=np.full(rows, np.inf),
        lower=np.zeros(columns),
        upper=np.full(columns, np.inf),
        integrality=np.zeros(columns, dtype=bool),
        name=f"covering-{rows}",
    )


def main() -> None:
    """Make the program, let PDLP run for so many iterations, compare and record."""
    arguments = _arguments()
    device, began = find_device(arguments.device), time.perf_counter()
    problem = covering(int(arguments.nonzeros), arguments.seed)
    arrays = (problem.entries.data, problem.entries.indices, problem.entries.indptr)
    size = sum(array.nbytes for array in arrays)
    needed = pdlp.memory_needed(problem, packed=True)
    print(
        f"{problem.num_rows} rows, {problem.num_columns} columns, {problem.num_nonzeros} nonzeros, "
        f"indices {arrays[1].dtype}, {size / 1e9:.1f} GB, made in "
        f"{time.perf_counter() - began:.1f} s; PDLP needs {needed / 1e9:.1f} GB on {device.name}",
        flush=True,
    )
    content = {"nonzeros": problem.num_nonzeros, **measure(problem, device, arguments.iterations)}
    write_record("many-entries", content, device=device, seed=arguments.seed)


def measure(problem: Problem, device: Device, iterations: int) -> dict[str, Any]:
    """Iterate; return seconds, memory of the host, and the errors by the device and by the host."""
    options, progress = EngineOptions(iteration_limit=iterations), Progress()
    before, began = memory.restart_peak(), time.perf_counter()
    with device.activate():
        state = pdlp.prepare(problem, options, device, progress)
        print(f"ready after {time.perf_counter() - began:.1f} s", flush=True)
        outcome = pdlp.run(state, options, progress)
        told = Record(state.read_control()).statistics
        found = on_original(state, state.x.projection, state.y.projection).statistics
    row: dict[str, Any] = {
        "seconds": time.perf_counter() - began,
        "host GB": None if before is None else (memory.peak() - before) / 1e9,
        **outcome.statistics,
    }
    for name in ("relative_primal", "relative_dual", "primal_objective", "dual_objective"):
        row |= {f"{name} told": getattr(told, name), f"{name} found": getattr(found, name)}
    for name, value in row.items():
        print(f"{name}: {value}", flush=True)
    return row


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--nonzeros", type=float, default=2.2e9)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
