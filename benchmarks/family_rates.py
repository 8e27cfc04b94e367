"""What an iteration of PDLP costs on the families, and how near that is to the copy rate.

    python -m benchmarks.family_rates [--families NAME ...] [--nonzeros 6e6 2.4e7]
                                      [--device auto|cuda|cpu] [--seed 0] [--stop-after SECONDS]

Each program goes through the light presolve first, as it does in a solve. ``primal_step`` and
``dual_step`` are launches of the two halves of an iteration by themselves; ``us`` is the time of an
iteration in a solve, its part of the checks included, in the mode that a solve finds the fastest.
The share of the copy rate is that of the bytes which an iteration has to move, as they are stored:
matrices, vectors, and gathered elements once. Small programs stay in the cache, and may be faster
than a copy.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from benchmarks.families import FAMILIES
from benchmarks.kernels import (
    copy_bandwidth,
    launcher,
    median_seconds,
    single_kernels,
)
from benchmarks.record import Column, print_table, write_record
from solvers import presolve
from solvers.core.device import Device, find_device
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.execution.on_cpu import BlocksOnCpu
from solvers.pdlp.execution.on_gpu import BlocksOnGpu
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.start import prepare
from solvers.pdlp.state import State

STEPS = ("primal_step", "dual_step")

Row = dict[str, Any]


def main() -> None:
    """Measure all families at all sizes and record the table."""
    arguments = _arguments()
    device, rows = find_device(arguments.device), []
    deadline = time.monotonic() + arguments.stop_after
    with device.activate():
        copy = copy_bandwidth(device)
        for nonzeros in arguments.nonzeros:
            for family in arguments.families or FAMILIES:
                if time.monotonic() > deadline:
                    print(f"Time is up; stopped before {family} of {nonzeros:.2g} nonzeros.")
                    continue
                problem = reduced(family, int(nonzeros), arguments.seed)
                rows.append({"family": family} | measure(device, copy, problem))
                print(family, *(f"{value:.3g}" for value in list(rows[-1].values())[1:]))
    print_table(
        f"Iterations on {device.name}, which copies at {copy / 1e9:.4g} GB/s",
        [Column(title, 3) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    content = {"copy GB/s": copy / 1e9, "rows": rows}
    write_record("family-rates", content, device=device, seed=arguments.seed)


def reduced(family: str, nonzeros: int, seed: int) -> Problem:
    """Return a program of a family as presolve leaves it to PDLP."""
    lp = FAMILIES[family].make(nonzeros, seed)
    problem = Problem.from_arrays(
        lp.cost, lp.matrix, lp.row_lower, lp.row_upper, lower=lp.lower, upper=lp.upper
    )
    return presolve.apply(problem, Progress(), "light").problem


def measure(device: Device, copy: float, problem: Problem) -> Row:
    """Time an iteration on one program; ``copy`` is in bytes per second."""
    settings = DEFAULT.changed(step={"power_iterations": 0})
    state = prepare(problem, EngineOptions(), device, Progress(), settings=settings)
    state.write_control(primal_tolerance=-1.0)  # no block may end because all is solved
    row: Row = {
        "nonzeros": problem.num_nonzeros,
        "rows": problem.num_rows,
        "columns": problem.num_columns,
    }
    moved = 0
    for family, name, arguments in single_kernels(state):
        if name not in STEPS:
            continue
        kernel = family.kernels[name]
        own = kernel.bytes_moved(kernel.by_name(arguments))
        seconds = median_seconds(device, launcher(device, family, name, arguments))
        row[f"{name} us"] = 1e6 * seconds
        row[f"{name} of copy"] = own / seconds / copy
        moved += own
    seconds = iteration_seconds(device, state)
    return row | {"us": 1e6 * seconds, "MB": moved / 1e6, "of copy": moved / seconds / copy}


def iteration_seconds(device: Device, state: State) -> float:
    """Return the seconds of an iteration, in blocks as a solve runs them."""
    count = state.settings.restart.check_interval
    on_gpu = device.kind == "cuda"
    blocks = BlocksOnGpu(state, Progress()) if on_gpu else BlocksOnCpu(state, Progress())
    together = blocks.depth if isinstance(blocks, BlocksOnGpu) else 1

    def run() -> None:
        for _ in range(together):
            blocks.submit(count)
        while blocks.pending:
            blocks.take()

    for _ in range(4):  # each mode has its trial
        run()
    return median_seconds(device, run) / (together * count)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--families", nargs="+", choices=FAMILIES)
    parser.add_argument("--nonzeros", type=float, nargs="+", default=[6e6, 2.4e7])
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=600.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
