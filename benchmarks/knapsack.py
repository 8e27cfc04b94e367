"""Knapsack problems: the paper's table, the hard classes, and files, beside other solvers.

    python -m benchmarks.knapsack paper [--sizes 100 200 300 400 500] [--instances 10]
    python -m benchmarks.knapsack classes [--items 1000 10000] [--range 1000000]
    python -m benchmarks.knapsack files FILE... [--time-limit 60]

``paper`` repeats Table 1 of "Parallel branch and bound on a CPU-GPU system": weights of 1 to 100,
profits 10 more, half of the weight as capacity. Its algorithm runs on the CPU and, where there is
one, on the GPU, as published (``plain``) and with equal nodes merged; without merging lists outgrow
any memory, and an instance that does so is counted as unsolved. Beside it the default engine.

``classes`` takes Pisinger's classes, generated here, and ``files`` instances from disk:
``n c`` and lines ``profit weight``, or the format of Jooken with numbered lines. HiGHS and OR-tools
are measured beside ours where they are installed. Everything is loaded before it is timed, and
each figure is the median of the repeats.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.knapsack_classes import CLASSES, instance, paper_instance
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, cpu, find_device
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack import Knapsack, Packing, solve_knapsack
from solvers.papers.knapsack_branch_and_bound.engine import TreeSettings, solve_by_tree

PAPER_SECONDS = {100: (1.59, 0.41), 200: (4.85, 0.91), 300: (9.82, 1.44), 400: (10.94, 1.27)}
PAPER_SECONDS |= {500: (13.39, 1.44)}
"""Seconds on CPU and CPU-GPU system in Table 1 of the paper."""

PLAIN_NODES_CPU = 20_000_000
"""Nodes of a list without merging up to which the CPU goes on."""

Solver = Callable[[Knapsack, float], tuple[int, bool]]


def ours(knapsack: Knapsack, limit: float) -> tuple[int, bool]:
    """Solve by the default engine; return profit and whether it is proven."""
    return _told(solve_knapsack(knapsack, Progress(limit)))


def by_tree(device: Device, settings: TreeSettings) -> Solver:
    """Return the paper's algorithm on a device as a solver."""
    return lambda knapsack, limit: _told(solve_by_tree(knapsack, device, Progress(limit), settings))


def highs(knapsack: Knapsack, limit: float) -> tuple[int, bool]:
    """Solve by HiGHS without a gap."""
    problem = Problem.from_arrays(
        knapsack.profit,
        knapsack.weight[None, :].astype(np.float64),
        row_upper=[knapsack.capacity],
        upper=knapsack.copies.astype(np.float64),
        integrality=np.ones(knapsack.num_items, dtype=bool),
        maximize=True,
    )
    outcome = gpu_bridge.solve(
        problem, method="highs", time_limit=limit, rel_gap=0.0, abs_gap=0.999
    )
    profit = -1 if outcome.x is None else round(float(outcome.objective))
    return profit, outcome.solution_status.name == "OPTIMAL"


def or_tools() -> Solver | None:
    """Return OR-tools' branch and bound for knapsacks as a solver, if it is installed."""
    try:
        from ortools.algorithms.python import knapsack_solver
    except ImportError:
        return None

    def solve(knapsack: Knapsack, limit: float) -> tuple[int, bool]:
        kind = knapsack_solver.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
        solver = knapsack_solver.KnapsackSolver(kind, "benchmark")
        solver.set_time_limit(limit)
        solver.init(knapsack.profit.tolist(), [knapsack.weight.tolist()], [knapsack.capacity])
        began = time.perf_counter()
        profit = int(solver.solve())
        return profit, time.perf_counter() - began < limit

    return solve


def _told(packing: Packing) -> tuple[int, bool]:
    return packing.profit, packing.is_optimal


def measure(
    solvers: dict[str, Solver], instances: Sequence[Knapsack], limit: float, repeats: int
) -> dict[str, Any]:
    """Return, for each solver, the median of seconds and how many instances it proved.

    The first one's optima are whole-number arithmetic's: claims of others that differ are counted.
    """
    row: dict[str, Any] = {}
    optima: dict[int, int] = {}
    for name, solve in solvers.items():
        seconds, proven, wrong = [], 0, 0
        for k, knapsack in enumerate(instances):
            times = []
            for _ in range(repeats):
                began = time.perf_counter()
                profit, is_optimal = solve(knapsack, limit)
                times.append(time.perf_counter() - began)
                if times[-1] > 1.0:
                    break  # long runs vary little
            if is_optimal and optima.setdefault(k, profit) != profit:
                wrong += 1
            elif is_optimal:
                proven += 1
                seconds.append(statistics.median(times))
        row[f"{name} proven"] = f"{proven}/{len(instances)}"
        row[f"{name} ms"] = 1e3 * statistics.median(seconds) if seconds else None
        if wrong:
            row[f"{name} wrong"] = wrong
    return row


def paper(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Repeat the paper's table."""
    solvers = paper_solvers(find_device(arguments.device), PLAIN_NODES_CPU)
    rows = []
    for size in arguments.sizes:
        instances = [paper_instance(size, seed) for seed in range(arguments.instances)]
        measure(solvers, instances[:1], arguments.time_limit, 1)  # loads what is needed
        rows.append(paper_row(solvers, instances, arguments.time_limit, arguments.repeats))
        print(rows[-1], flush=True)
    return rows


def paper_solvers(device: Device, most_nodes: int) -> dict[str, Solver]:
    """Return what the paper's table compares; lists without merging end at ``most_nodes``."""
    solvers: dict[str, Solver] = {
        "plain cpu": by_tree(cpu(), TreeSettings(merged=False, most_nodes=most_nodes)),
        "merged cpu": by_tree(cpu(), TreeSettings()),
        "default": ours,
    }
    if device.kind == "cuda":
        solvers["plain gpu"] = by_tree(device, TreeSettings(merged=False))
        solvers["merged gpu"] = by_tree(device, TreeSettings())
    return solvers


def paper_row(
    solvers: dict[str, Solver], instances: Sequence[Knapsack], limit: float, repeats: int
) -> dict[str, Any]:
    """Return a row of the paper's table, for instances of one size."""
    size = instances[0].num_items
    published = PAPER_SECONDS.get(size, (None, None))
    row = {"n": size, "paper cpu s": published[0], "paper gpu s": published[1]}
    return row | measure(solvers, instances, limit, repeats)


def classes(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure the classes that are hard in different ways."""
    solvers = _peers()
    measure(solvers, [instance("strongly", 1000, 10**6, 0)], 1.0, 1)  # loads
    rows = []
    for items in arguments.items:
        for kind in CLASSES:
            problems = [
                instance(kind, items, arguments.range, seed) for seed in range(arguments.instances)
            ]
            row: dict[str, Any] = {"class": kind, "n": items, "range": arguments.range}
            rows.append(row | measure(solvers, problems, arguments.time_limit, arguments.repeats))
            print(rows[-1], flush=True)
    return rows


def files(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure instances from disk."""
    solvers = _peers()
    measure(solvers, [instance("strongly", 1000, 10**6, 0)], 1.0, 1)  # loads
    rows = []
    for path in arguments.files:
        row = {"file": path.name}
        rows.append(row | measure(solvers, [read(path)], arguments.time_limit, arguments.repeats))
        print(rows[-1], flush=True)
    return rows


def read(path: Path) -> Knapsack:
    """Read an instance in either format."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        numbers = np.array(file.read().split(), dtype=np.int64)
    count = int(numbers[0])
    if numbers.size == 3 * count + 2:  # numbered lines, the capacity last
        table, capacity = numbers[1:-1].reshape(count, 3)[:, 1:], numbers[-1]
    else:
        table, capacity = numbers[2 : 2 + 2 * count].reshape(count, 2), numbers[1]
    return Knapsack.binary(table[:, 0], table[:, 1], int(capacity))


def _peers() -> dict[str, Solver]:
    solvers: dict[str, Solver] = {"ours": ours, "HiGHS": highs}
    peer = or_tools()
    if peer is not None:
        solvers["OR-tools"] = peer
    return solvers


def main() -> None:
    """Measure what was asked for, print a table and record it."""
    arguments = _arguments()
    rows = {"paper": paper, "classes": classes, "files": files}[arguments.what](arguments)
    titles = list(dict.fromkeys(title for row in rows for title in row))
    titles.sort(key=lambda title: title.endswith((" ms", " proven", " s")))
    columns = [Column(title, 3) for title in titles]
    print_table("Knapsack problems", columns, [[row.get(t) for t in titles] for row in rows])
    settings = {"time limit": arguments.time_limit, "repeats": arguments.repeats}
    write_record(f"knapsack-{arguments.what}", settings | {"rows": rows})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("paper", "classes", "files"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 200, 300, 400, 500])
    parser.add_argument("--items", nargs="+", type=int, default=[1000, 10_000])
    parser.add_argument("--range", type=int, default=10**6)
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--device", default="auto")
    return parser.parse_args()


if __name__ == "__main__":
    main()
