"""Interior point on CPU and GPU: where the time of a solve goes.

    python -m benchmarks.interior_point [FILE ...] [--families energy ...] [--nonzeros 1e5 ...]
        [--folder DATA --set netlib ...] [--device cuda cpu] [--tolerance 1e-8]
        [--time-limit 60] [--crossover off] [--stop-after SECONDS] [--log]

Files are in MPS or LP format, families those of ``benchmarks/families``, and DATA holds an index
INSTANCES.csv (``lp_sets.py``). Solves run one after the other in this process, after an unmeasured
one for each device; seconds are those of the whole call, and ``processor`` those of processors.
Residuals are those of ``residuals.py`` on
the program as it was given. ``--log`` prints the log of each solve.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks import lp_sets
from benchmarks.families import FAMILIES
from benchmarks.linear_programs import LinearProgram, read, small_example
from benchmarks.peers.ours import Pdlp
from benchmarks.peers.solver import Task
from benchmarks.record import Column, print_table, write_record
from benchmarks.residuals import measure
from benchmarks.rows import shifted_geometric_mean
from solvers.core.outcome import SolutionStatus

TITLES = (
    *("model", "nonzeros", "device", "status", "engine", "seconds", "processor", "iterations"),
    *("solves", "analysis", "factorising", "solving", "factor", "kept", "replaced"),
    *("worst", "objective"),
)


def main() -> None:
    """Measure what the command line asks for, print it and record it."""
    arguments = _arguments()
    for device in arguments.device:
        _solve(small_example(), device, arguments)
    rows: list[dict[str, Any]] = []
    deadline = time.monotonic() + arguments.stop_after
    for lp in _programs(arguments):
        if time.monotonic() > deadline:
            print(f"Time is up; stopped before {lp.name}.")
            break
        for device in arguments.device:
            rows.append(_row(lp, device, arguments))
            words = ((k, Column(k, 3).text(v)) for k, v in rows[-1].items())
            print("  ".join(f"{k} {v}" for k, v in words), flush=True)
    print_table(
        "Interior point", [Column(k, 3) for k in TITLES], [list(row.values()) for row in rows]
    )
    for device in arguments.device:
        own = [row for row in rows if row["device"] == device]
        good = [row for row in own if row["worst"] <= arguments.tolerance]
        times = [row["seconds"] if row in good else arguments.time_limit for row in own]
        print(
            f"{device}: {len(good)} of {len(own)} within {arguments.tolerance:g}, shifted "
            f"geometric mean {shifted_geometric_mean(times):.3g} s"
        )
    content = {"tolerance": arguments.tolerance, "limit": arguments.time_limit, "rows": rows}
    write_record("interior-point", content)


def _programs(arguments: argparse.Namespace) -> Iterator[LinearProgram]:
    kinds = ("lp", "mip", *lp_sets.INFEASIBLE_KINDS)
    index = lp_sets.read_index(arguments.folder, kinds) if arguments.folder is not None else []
    entries = lp_sets.choose(index, arguments.set)
    for path in [*arguments.files, *(entry.path for entry in entries)]:
        yield read(path)
    for name in list(FAMILIES) if "all" in arguments.families else arguments.families:
        for nonzeros in arguments.nonzeros:
            yield FAMILIES[name].make(int(nonzeros), 0)


def _solve(
    lp: LinearProgram, device: str, arguments: argparse.Namespace
) -> tuple[gpu_bridge.Outcome, float, float]:
    problem = Pdlp(device).prepare(lp, Task(arguments.tolerance, arguments.time_limit))
    began, processor = time.perf_counter(), time.process_time()
    outcome = gpu_bridge.solve(
        problem,
        method="ipm",
        device=device,
        tolerance=arguments.tolerance,
        time_limit=arguments.time_limit,
        crossover=arguments.crossover,
        explain=False,
    )
    return outcome, time.perf_counter() - began, time.process_time() - processor


def _row(lp: LinearProgram, device: str, arguments: argparse.Namespace) -> dict[str, Any]:
    outcome, seconds, processor = _solve(lp, device, arguments)
    if arguments.log:
        print(outcome.log)
    found = outcome.statistics
    point = outcome.x if outcome.x is not None else outcome.candidate
    worst = np.inf
    if point is not None and outcome.row_dual is not None:
        worst = measure(lp, point, lp.sense * outcome.row_dual).worst
    if outcome.solution_status in (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED):
        worst = 0.0  # the proof was verified
    cells = (
        *(lp.name, lp.nonzeros, device, outcome.solution_status.name.lower()),
        *(f"{outcome.engine} {outcome.device}", seconds, processor),
        *(found.get("iterations"), found.get("solves")),
        *(found.get(f"seconds_{part}") for part in ("analysing", "factorising", "solving")),
        *(found.get("factor_entries"), found.get("kept_columns"), found.get("replaced_pivots")),
        *(worst, outcome.objective),
    )
    return dict(zip(TITLES, cells, strict=True))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--families", nargs="*", default=[], choices=[*FAMILIES, "all"])
    parser.add_argument("--nonzeros", nargs="+", type=float, default=[1e5])
    parser.add_argument("--folder", type=Path, help="with an INSTANCES.csv")
    parser.add_argument("--set", nargs="*", default=[], help="sets or models of the index")
    parser.add_argument("--device", nargs="+", default=["cuda", "cpu"])
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--crossover", default="off", choices=("off", "on", "auto"))
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--log", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
