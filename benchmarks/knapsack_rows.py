"""Multidimensional knapsack problems: the exact engine against HiGHS, one after the other.

    python -m benchmarks.knapsack_rows [FILE ...] [--known INDEX.csv] [--time-limit 60]
                                       [--peer-limit 60] [--threads 0] [--stop-after SECONDS]

FILEs (plain or .gz) hold: n, m, best known value or 0; n profits; m rows of n weights; then m
capacities. Without any, problems are drawn as Chu and Beasley draw them. INDEX.csv has best known
values in its columns ``name`` and ``best_objective``. HiGHS gets absolute gap 0.999 and relative
gap 0, because profits are whole numbers. The time to the best packing stands beside that to its
proof.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.record import Column, print_table, write_record
from solvers import highs
from solvers.device import cpu
from solvers.knapsack.rows import RowsKnapsack, solve_rows
from solvers.options import EngineOptions
from solvers.outcome import SolutionStatus
from solvers.problem import Problem
from solvers.progress import Progress

WHOLE_GAP = 0.999
"""Absolute gap that proves a whole-number optimum."""

DRAWN = ((100, 5), (100, 10), (250, 5))
"""Items and rows of the problems drawn where no file is given."""

TIGHTNESS = (0.25, 0.5, 0.75)
"""Capacities as parts of the rows' weights."""


@dataclass(frozen=True)
class Instance:
    """A problem and what is known of its optimum."""

    name: str
    problem: RowsKnapsack
    best_known: int | None


@dataclass(frozen=True)
class Row:
    """One problem's line in the table; seconds are of the wall clock."""

    name: str
    items: int
    rows: int
    best_known: int | None
    profit: int
    gap: int
    nodes: int
    to_best: float
    seconds: float
    highs_profit: int | None
    highs_proven: bool
    highs_seconds: float


def best_known(index: Path | None) -> dict[str, int]:
    """Return the best known values of an index."""
    if index is None:
        return {}
    with index.open(encoding="utf-8") as lines:
        values = {row["name"]: row["best_objective"] for row in csv.DictReader(lines)}
    return {name: round(float(value)) for name, value in values.items() if value}


def read(path: Path, known: Mapping[str, int]) -> Instance:
    """Read one problem."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    numbers = np.array(raw.split(), dtype=np.float64).astype(np.int64)
    n, m, value = (int(number) for number in numbers[:3])
    end = 3 + n + n * m
    problem = RowsKnapsack(
        numbers[3 : 3 + n], numbers[3 + n : end].reshape(m, n), numbers[end : end + m]
    )
    name = path.name.partition(".dat")[0]
    return Instance(name, problem, known.get(name, value or None))


def drawn(items: int, rows: int, tightness: float, seed: int) -> Instance:
    """Draw a problem (Chu and Beasley 1998, section 4.1)."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 1001, (rows, items))
    profit = weight.sum(axis=0) // rows + (500 * rng.random(items)).astype(np.int64)
    problem = RowsKnapsack(profit, weight, (tightness * weight.sum(axis=1)).astype(np.int64))
    return Instance(f"drawn-{rows}x{items}-{tightness}", problem, None)


def as_model(problem: RowsKnapsack) -> Problem:
    """Return a problem as a model for HiGHS."""
    return Problem.from_arrays(
        problem.profit.astype(np.float64),
        problem.weight.astype(np.float64),
        row_upper=problem.capacity.astype(np.float64),
        upper=1.0,
        integrality=np.ones(problem.num_items, dtype=bool),
        maximize=True,
    )


def compare(instance: Instance, arguments: argparse.Namespace) -> Row:
    """Solve a problem by both."""
    problem = instance.problem
    reached = [(0.0, 0)]
    began = time.perf_counter()

    def tell(profit: int, bound: int) -> None:
        if profit > reached[-1][1]:
            reached.append((time.perf_counter() - began, profit))

    packing = solve_rows(
        problem, Progress(arguments.time_limit), tell=tell, threads=arguments.threads
    )
    seconds = time.perf_counter() - began
    profit, proven, peer_seconds = None, False, 0.0
    if arguments.peer_limit > 0:
        began = time.perf_counter()
        options = EngineOptions(rel_gap=0.0, abs_gap=WHOLE_GAP, threads=arguments.threads)
        peer = highs.solve(as_model(problem), options, Progress(arguments.peer_limit))
        peer_seconds = time.perf_counter() - began
        proven = peer.solution_status is SolutionStatus.OPTIMAL
        profit = round(-peer.objective) if peer.solution_status.has_point else None
    return Row(
        instance.name,
        problem.num_items,
        problem.num_rows,
        instance.best_known,
        packing.profit,
        packing.bound - packing.profit,
        packing.nodes,
        reached[-1][0],
        seconds,
        profit,
        proven,
        peer_seconds,
    )


def main() -> None:
    """Run the comparison, print its table and write its record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--known", type=Path)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--peer-limit", type=float, default=60.0, help="0 leaves HiGHS out")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=np.inf)
    arguments = parser.parse_args()
    began = time.perf_counter()
    solve_rows(drawn(20, 3, 0.5, 0).problem, Progress())  # compiles
    compilation = time.perf_counter() - began
    known = best_known(arguments.known)
    instances = [read(path, known) for path in arguments.files] or [
        drawn(*size, tightness, seed=1) for size in DRAWN for tightness in TIGHTNESS
    ]
    found = []
    for instance in instances:
        if time.perf_counter() - began > arguments.stop_after:
            break
        found.append(compare(instance, arguments))
    columns = [Column(name) for name in Row.__dataclass_fields__]
    title = f"multidimensional knapsacks (compilation {compilation:.1f} s apart)"
    print_table(title, columns, [list(asdict(row).values()) for row in found])
    write_record(
        "knapsack-rows",
        {
            "time_limit": arguments.time_limit,
            "peer_limit": arguments.peer_limit,
            "threads": arguments.threads,
            "compilation": compilation,
            "rows": [asdict(row) for row in found],
        },
        device=cpu(),
    )


if __name__ == "__main__":
    main()
