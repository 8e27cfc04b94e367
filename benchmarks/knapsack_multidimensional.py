"""Multidimensional knapsack problems: the exact engine against others, one after the other.

    python -m benchmarks.knapsack_multidimensional [FILE ...] [--known INDEX.csv] [--time-limit 60]
                                       [--peer-limit 60] [--peers highs cp-sat mip]
                                       [--sizes 100x5 100x10 250x5] [--device cpu] [--threads 0]
                                       [--stop-after SECONDS]

FILEs (plain or .gz) hold: n, m, best known value or 0; n profits; m rows of n weights; then m
capacities. Without any, problems of the given sizes (items x rows) are drawn as Chu and Beasley
draw them. INDEX.csv has best known values in its columns ``name`` and ``best_objective``. With
``--device cuda`` walkers stand on the GPU. HiGHS and this project's own branch and bound (``mip``)
get absolute gap 0.999 and relative gap 0, because profits are whole numbers; CP-SAT runs where
OR-tools is installed. The time to the best packing stands beside that to its proof, and what each
misses beside the best known value.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.util
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from solvers import highs
from solvers.core.device import cpu, find_device
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.multidimensional.engine import solve_multidimensional
from solvers.knapsack.multidimensional.items import MultidimensionalKnapsack

WHOLE_GAP = 0.999
"""Absolute gap that proves a whole-number optimum."""

DRAWN = ("100x5", "100x10", "250x5")
"""Items and rows of the problems drawn where no file is given."""

TIGHTNESS = (0.25, 0.5, 0.75)
"""Capacities as parts of the rows' weights."""


@dataclass(frozen=True)
class Instance:
    """A problem and what is known of its optimum."""

    name: str
    problem: MultidimensionalKnapsack
    best_known: int | None


@dataclass(frozen=True)
class Answer:
    """What a solver says; seconds are of the wall clock."""

    profit: int | None
    proven: bool
    seconds: float


@dataclass(frozen=True)
class Row:
    """One problem's line in the table: ours, then each peer's answer."""

    name: str
    items: int
    rows: int
    best_known: int | None
    profit: int
    missing: int | None
    gap: int
    nodes: int
    to_best: float
    seconds: float
    peers: dict[str, Answer] = field(default_factory=dict)

    def flat(self) -> dict[str, Any]:
        """Return the columns of the table."""
        columns = {name: value for name, value in vars(self).items() if name != "peers"}
        for name, answer in self.peers.items():
            for column, value in vars(answer).items():
                columns[f"{name}_{column}"] = value
        return columns


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
    problem = MultidimensionalKnapsack(
        numbers[3 : 3 + n], numbers[3 + n : end].reshape(m, n), numbers[end : end + m]
    )
    name = path.name.partition(".dat")[0]
    return Instance(name, problem, known.get(name, value or None))


def drawn(items: int, rows: int, tightness: float, seed: int) -> Instance:
    """Draw a problem (Chu and Beasley 1998, section 4.1)."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 1001, (rows, items))
    profit = weight.sum(axis=0) // rows + (500 * rng.random(items)).astype(np.int64)
    problem = MultidimensionalKnapsack(
        profit, weight, (tightness * weight.sum(axis=1)).astype(np.int64)
    )
    return Instance(f"drawn-{rows}x{items}-{tightness}", problem, None)


def as_model(problem: MultidimensionalKnapsack) -> Problem:
    """Return a problem as a model for other solvers."""
    return Problem.from_arrays(
        problem.profit.astype(np.float64),
        problem.weight.astype(np.float64),
        row_upper=problem.capacity.astype(np.float64),
        upper=1.0,
        integrality=np.ones(problem.num_items, dtype=bool),
        maximize=True,
    )


def by_highs(
    problem: MultidimensionalKnapsack, limit: float, threads: int
) -> tuple[int | None, bool]:
    """Return profit and whether it is proven."""
    options = EngineOptions(rel_gap=0.0, abs_gap=WHOLE_GAP, threads=threads)
    found = highs.solve(as_model(problem), options, Progress(limit))
    profit = round(-found.objective) if found.solution_status.has_point else None
    return profit, found.solution_status is SolutionStatus.OPTIMAL


def by_own_branch_and_bound(
    problem: MultidimensionalKnapsack, limit: float, threads: int
) -> tuple[int | None, bool]:
    """Return profit and whether it is proven."""
    found = gpu_bridge.solve(
        as_model(problem),
        method="mip",
        time_limit=limit,
        rel_gap=0.0,
        abs_gap=WHOLE_GAP,
        threads=threads,
    )
    profit = None if found.x is None else int(problem.profit[found.x > 0.5].sum())
    return profit, found.solution_status is SolutionStatus.OPTIMAL


def by_cp_sat(
    problem: MultidimensionalKnapsack, limit: float, threads: int
) -> tuple[int | None, bool]:
    """Return profit and whether it is proven."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    x = [model.new_bool_var("") for _ in range(problem.num_items)]
    for weight, capacity in zip(problem.weight.tolist(), problem.capacity.tolist(), strict=True):
        model.add(cp_model.LinearExpr.weighted_sum(x, weight) <= capacity)
    model.maximize(cp_model.LinearExpr.weighted_sum(x, problem.profit.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = limit
    solver.parameters.num_workers = threads or os.cpu_count() or 1
    status = solver.solve(model)
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return (round(solver.objective_value) if known else None), status == cp_model.OPTIMAL


Peer = Callable[[MultidimensionalKnapsack, float, int], tuple[int | None, bool]]

PEERS: dict[str, Peer] = {"highs": by_highs, "cp-sat": by_cp_sat, "mip": by_own_branch_and_bound}


def compare(instance: Instance, arguments: argparse.Namespace) -> Row:
    """Solve a problem by all."""
    problem = instance.problem
    reached = [(0.0, 0)]
    began = time.perf_counter()

    def tell(profit: int, bound: int) -> None:
        if profit > reached[-1][1]:
            reached.append((time.perf_counter() - began, profit))

    packing = solve_multidimensional(
        problem,
        Progress(arguments.time_limit),
        tell=tell,
        threads=arguments.threads,
        device=arguments.device,
    )
    seconds = time.perf_counter() - began
    peers = {}
    for name in arguments.peers if arguments.peer_limit > 0 else ():
        began = time.perf_counter()
        profit, proven = PEERS[name](problem, arguments.peer_limit, arguments.threads)
        peers[name] = Answer(profit, proven, time.perf_counter() - began)
    return Row(
        instance.name,
        problem.num_items,
        problem.num_rows,
        instance.best_known,
        packing.profit,
        None if instance.best_known is None else instance.best_known - packing.profit,
        packing.bound - packing.profit,
        packing.work,
        reached[-1][0],
        seconds,
        peers,
    )


def main() -> None:
    """Run the comparison, print its table and write its record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--known", type=Path)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--peer-limit", type=float, default=60.0, help="0 leaves peers out")
    parser.add_argument("--peers", nargs="*", default=["highs", "cp-sat"], choices=list(PEERS))
    parser.add_argument("--sizes", nargs="*", default=DRAWN)
    parser.add_argument("--device", default="cpu", choices=("cuda", "cpu"))
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=np.inf)
    arguments = parser.parse_args()
    if importlib.util.find_spec("ortools") is None:
        arguments.peers = [name for name in arguments.peers if name != "cp-sat"]
    device = cpu() if arguments.device == "cpu" else find_device(arguments.device)
    began = time.perf_counter()
    solve_multidimensional(
        drawn(20, 3, 0.5, 0).problem, Progress(), device=device
    )  # loads GPU code
    known = best_known(arguments.known)
    instances = [read(path, known) for path in arguments.files] or [
        drawn(int(items), int(rows), tightness, seed=1)
        for items, rows in (size.split("x") for size in arguments.sizes)
        for tightness in TIGHTNESS
    ]
    found = []
    for instance in instances:
        if time.perf_counter() - began > arguments.stop_after:
            break
        found.append(compare(instance, arguments).flat())
    columns = [Column(name) for name in (found[0] if found else ())]
    print_table("multidimensional knapsacks", columns, [list(row.values()) for row in found])
    write_record(
        "knapsack-multidimensional",
        {
            "time_limit": arguments.time_limit,
            "peer_limit": arguments.peer_limit,
            "threads": arguments.threads,
            "rows": found,
        },
        device=device,
    )


if __name__ == "__main__":
    main()
