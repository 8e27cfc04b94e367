"""Multiple-choice knapsack problems beside HiGHS and CP-SAT.

    python -m benchmarks.knapsack_multiple_choice [--shapes 1000x10 100x100] [--ranges 1000 1000000]
                                         [--kinds uncorrelated ...] [--instances 3] [--repeats 3]
                                         [--time-limit 20] [--stop-after 600]

The kinds are those of Pisinger's "A minimal algorithm for the multiple-choice knapsack problem"
(1995), with numbers from NumPy: uncorrelated; weakly correlated, profits within 10 of the weights;
strongly correlated, where the items of a class add steps whose profit is 10 (``steep``: a tenth of
the range) more than their weight; subset sum; and sorted ones as Sinha and Zoltners have them. The
capacity lies in the middle between the lightest and the heaviest selection.

Ours is timed from arrays to a checked selection; ``pipeline`` is :func:`gpu_bridge.solve` on the
same problem as a model, log and verification included. HiGHS runs without a gap, and CP-SAT, where
OR-tools is installed, with as many threads as HiGHS has by itself. Figures are medians of the
repeats over the instances that were proven, and all solvers that prove an instance have to agree.
With ``--stop-after`` seconds no further row is begun.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import cpu
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.items import IntArray
from solvers.knapsack.multiple_choice.engine import solve_multiple_choice
from solvers.knapsack.multiple_choice.items import MultipleChoice

Numbers = tuple[IntArray, IntArray]
"""Profits and weights, (classes, items of each)."""

Solver = Callable[[MultipleChoice, float], tuple[int, bool]]
"""Returns profit and whether it is proven, for a problem and a limit in seconds."""


def _weakly(rng: np.random.Generator, weight: IntArray, largest: int) -> Numbers:
    return np.maximum(1, weight + rng.integers(-10, 11, weight.shape)), weight


def _steps(weight: IntArray, extra: int) -> Numbers:
    steps = np.sort(weight, axis=1)
    return np.cumsum(steps + extra, axis=1), np.cumsum(steps, axis=1)


def _sorted(rng: np.random.Generator, weight: IntArray, largest: int) -> Numbers:
    profit = rng.integers(1, largest + 1, weight.shape)
    return np.sort(profit, axis=1), np.sort(weight, axis=1)


KINDS: dict[str, Callable[[np.random.Generator, IntArray, int], Numbers]] = {
    "uncorrelated": lambda rng, weight, largest: (
        rng.integers(1, largest + 1, weight.shape),
        weight,
    ),
    "weakly": _weakly,
    "strongly": lambda rng, weight, largest: _steps(weight, 10),
    "strongly steep": lambda rng, weight, largest: _steps(weight, largest // 10),
    "subset sum": lambda rng, weight, largest: (weight.copy(), weight),
    "sorted": _sorted,
}
"""Kinds of instances; a rule gets weights and returns profits and weights."""


def instance(kind: str, classes: int, size: int, largest: int, seed: int) -> MultipleChoice:
    """Return an instance of a kind with numbers, or steps, of 1 to ``largest``."""
    rng = np.random.default_rng(seed)
    profit, weight = KINDS[kind](rng, rng.integers(1, largest + 1, (classes, size)), largest)
    capacity = int(weight.min(axis=1).sum() + weight.max(axis=1).sum()) // 2
    return MultipleChoice(profit.ravel(), weight.ravel(), np.arange(classes + 1) * size, capacity)


def model_of(choice: MultipleChoice) -> Problem:
    """Return an instance as a model."""
    group = np.repeat(np.arange(choice.num_classes), np.diff(choice.first))
    entries = np.ones(choice.num_items), (group, np.arange(choice.num_items))
    capacity = scipy.sparse.csr_array(choice.weight[None, :].astype(np.float64))
    ones = np.ones(choice.num_classes)
    return Problem.from_arrays(
        choice.profit.astype(np.float64),
        scipy.sparse.vstack([capacity, scipy.sparse.csr_array(entries)], format="csr"),
        row_lower=np.append(-np.inf, ones),
        row_upper=np.append(float(choice.capacity), ones),
        upper=1.0,
        integrality=np.ones(choice.num_items, dtype=bool),
        maximize=True,
    )


def ours(choice: MultipleChoice, limit: float) -> tuple[int, bool]:
    """Solve by the engine alone."""
    found = solve_multiple_choice(choice, Progress(limit))
    return found.profit, found.is_optimal


def _through_the_front_door(method: str) -> Solver:
    def solve(choice: MultipleChoice, limit: float) -> tuple[int, bool]:
        outcome = gpu_bridge.solve(
            model_of(choice), method=method, time_limit=limit, rel_gap=0.0, abs_gap=0.999
        )
        profit = -1 if outcome.x is None else round(float(outcome.objective))
        return profit, outcome.solution_status.name == "OPTIMAL"

    return solve


def cp_sat() -> Solver | None:
    """Return CP-SAT as a solver, if OR-tools is installed."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return None

    def solve(choice: MultipleChoice, limit: float) -> tuple[int, bool]:
        model = cp_model.CpModel()
        x = [model.new_bool_var("") for _ in range(choice.num_items)]
        for begin, end in zip(choice.first[:-1], choice.first[1:], strict=True):
            model.add_exactly_one(x[begin:end])
        model.add(cp_model.LinearExpr.weighted_sum(x, choice.weight.tolist()) <= choice.capacity)
        model.maximize(cp_model.LinearExpr.weighted_sum(x, choice.profit.tolist()))
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = limit
        solver.parameters.num_workers = os.cpu_count() or 1
        status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return -1, False
        return round(solver.objective_value), status == cp_model.OPTIMAL

    return solve


def measure(
    solvers: dict[str, Solver], instances: list[MultipleChoice], limit: float, repeats: int
) -> dict[str, Any]:
    """Return, for each solver, the median of milliseconds and how many instances it proved.

    Raises
    ------
    SystemExit
        Two solvers prove different optima.
    """
    row: dict[str, Any] = {}
    optima: dict[int, int] = {}
    for name, solve in solvers.items():
        seconds = []
        for k, choice in enumerate(instances):
            times, profit, proven = _timed(solve, choice, limit, repeats)
            if not proven:
                break  # further ones of this row are as hard
            seconds.append(statistics.median(times))
            if optima.setdefault(k, profit) != profit:
                raise SystemExit(f"{name} proves {profit} on instance {k}, not {optima[k]}")
        row[f"{name} proven"] = f"{len(seconds)}/{len(instances)}"
        row[f"{name} ms"] = 1e3 * statistics.median(seconds) if seconds else None
    return row


def _timed(
    solve: Solver, choice: MultipleChoice, limit: float, repeats: int
) -> tuple[list[float], int, bool]:
    times: list[float] = []
    while len(times) < repeats and (not times or times[-1] < 1.0):  # long runs vary little
        began = time.perf_counter()
        profit, proven = solve(choice, limit)
        times.append(time.perf_counter() - began)
    return times, profit, proven


def main() -> None:
    """Measure what was asked for, print a table and record it."""
    arguments = _arguments()
    solvers: dict[str, Solver] = {"ours": ours, "pipeline": _through_the_front_door("auto")}
    if not arguments.alone:
        solvers["HiGHS"] = _through_the_front_door("highs")
        peer = cp_sat()
        if peer is not None:
            solvers["CP-SAT"] = peer
    measure(solvers, [instance("uncorrelated", 30, 10, 1000, 0)], 5.0, 1)
    rows: list[dict[str, Any]] = []
    began = time.perf_counter()
    cases = [
        (shape, largest, kind)
        for shape in arguments.shapes
        for largest in arguments.ranges
        for kind in arguments.kinds
    ]
    for shape, largest, kind in cases:
        if time.perf_counter() - began > arguments.stop_after:
            print("stopped: no time for more rows", flush=True)
            break
        classes, size = map(int, shape.split("x"))
        instances = [
            instance(kind, classes, size, largest, seed) for seed in range(arguments.instances)
        ]
        row: dict[str, Any] = {"kind": kind, "classes": classes, "items": size, "range": largest}
        rows.append(row | measure(solvers, instances, arguments.time_limit, arguments.repeats))
        print(rows[-1], flush=True)
    titles = list(dict.fromkeys(title for row in rows for title in row))
    columns = [Column(title, 3) for title in titles]
    table = [[row.get(title) for title in titles] for row in rows]
    print_table("Multiple-choice knapsack problems", columns, table)
    settings = {"time limit": arguments.time_limit, "repeats": arguments.repeats}
    write_record("knapsack-multiple-choice", settings | {"rows": rows}, device=cpu())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shapes", nargs="+", default=["1000x10", "100x100"])
    parser.add_argument("--ranges", nargs="+", type=int, default=[1000, 10**6])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--instances", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--stop-after", type=float, default=np.inf)
    parser.add_argument("--alone", action="store_true", help="leave the other solvers out")
    return parser.parse_args()


if __name__ == "__main__":
    main()
