"""What an iteration of the dense GPU simplex costs, and dense linear programs beside HiGHS.

    python -m benchmarks.simplex_iterations iterations [--rows 500 2000 10000] [--device auto]
    python -m benchmarks.simplex_iterations dense [--rows 1000 2000 5000] [--limit 300]

*iterations* makes dual pivots on synthetic problems with sparse and with denser columns, begins to
count after some hundred, and shows microseconds per iteration, folds of delayed pivots included,
beside the bytes that an iteration has to move and the time that the device's memory needs for
them. *dense* solves problems with m rows, 2 m columns and no zeros to the end by the dense GPU core
and by the dual simplex of HiGHS, one after the other in the same run, and compares optima; one
small problem is solved first, so that nothing is loaded while the clock runs. ``--stop-after``
ends a long run between two problems and records what it has.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp

from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.papers.sparse_formats.machine import measure_machine
from solvers.simplex.dense_gpu.core import DenseGpuCore
from solvers.simplex.solve import solve
from solvers.simplex.state import slack_form, slack_start

Row = dict[str, Any]

COLUMN_ENTRIES = {"sparse": 8, "denser": 400}
"""Entries of a column of the synthetic problems, at most the number of rows."""

REPEATS = 3
ITERATION_COLUMNS = (
    "rows", "columns", "kind", "stored", "iterations", "us per iteration", "bytes",
    "us by bandwidth", "refactorisations",
)  # fmt: skip
DENSE_COLUMNS = (
    "rows", "columns", "seconds", "iterations", "us per iteration",
    "HiGHS seconds", "HiGHS iterations", "HiGHS us per iteration", "times faster", "difference",
)  # fmt: skip


def synthetic(rows: int, columns: int, entries: int, seed: int) -> Problem:
    """Return a feasible problem with equations and ranges whose slack basis is dual feasible."""
    random = np.random.default_rng(seed)
    entries = min(rows, entries)
    if entries == rows:
        matrix = sp.csr_array(random.uniform(-1.0, 1.0, (rows, columns)))
    else:
        row = random.integers(0, rows, columns * entries)
        column = np.repeat(np.arange(columns), entries)
        values = random.uniform(-1.0, 1.0, row.size)
        matrix = sp.csr_array((values, (row, column)), shape=(rows, columns))
        matrix.sum_duplicates()
    inside = matrix @ random.uniform(0.0, 1.0, columns)
    row_lower = inside - random.uniform(0.0, 0.5, rows)
    row_upper = np.where(random.random(rows) < 0.5, np.inf, inside + 0.1)
    equation = random.random(rows) < 0.2
    row_lower, row_upper = (np.where(equation, inside, side) for side in (row_lower, row_upper))
    upper = np.where(random.random(columns) < 0.3, 2.0, np.inf)
    return Problem.from_arrays(
        random.uniform(0.0, 1.0, columns), matrix, row_lower, row_upper, upper=upper
    )


def iterations(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Yield what iterations cost, for each size and kind."""
    machine = measure_machine(device)
    for rows in arguments.rows or (500, 2000, 10_000):
        for kind, entries in COLUMN_ENTRIES.items():
            problem = synthetic(rows, 2 * rows, entries, arguments.seed)
            found = [timed_pivots(problem, device, arguments) for _ in range(REPEATS)]
            seconds, made, core = sorted(found, key=lambda run: run[0] / max(1, run[1]))[1]
            if not made:
                continue
            moved = bytes_moved(core, problem)
            yield {
                "rows": rows,
                "columns": 2 * rows,
                "kind": kind,
                "stored": core.stored_columns,
                "iterations": made,
                "us per iteration": 1e6 * seconds / made,
                "bytes": moved,
                "us by bandwidth": 1e6 * moved / machine.memory_bandwidth,
                "refactorisations": core.refactorisations,
            }


def timed_pivots(
    problem: Problem, device: Device, arguments: argparse.Namespace
) -> tuple[float, int, DenseGpuCore]:
    """Return seconds and number of the pivots after the first ones, and the core."""
    form = slack_form(problem)
    state = slack_start(form)
    core = DenseGpuCore(form, device)
    core.load(state)
    core.dual(arguments.first, lambda: False)
    before, began = core.iterations, time.perf_counter()
    core.dual(arguments.count, lambda: False)
    return time.perf_counter() - began, core.iterations - before, core


def bytes_moved(core: DenseGpuCore, problem: Problem) -> int:
    """Return the bytes that an iteration has to move, in the mean over a batch of K.

    With k stored columns: K / 2 delayed rows and etas for the pivot row and the column; the matrix
    for pricing, all of it, though of long columns only those entries are read that a sparse row
    meets; k numbers of each row of the inverse with steepest edge, a sector of 32 bytes for each
    entry in one of its columns otherwise, if that is less; once in K iterations the product that
    reads and writes the inverse; and vectors.
    """
    m, n, nnz = problem.num_rows, problem.num_columns, problem.num_nonzeros
    k, delayed = core.stored_columns, core.delayed_pivots
    entries = nnz / max(1, n)
    gathered = 32 * k * entries  # of the column's entries, k / m are in rows with a stored column
    solve_column = 8 * m * k if core.steepest else min(8 * m * k, gathered)
    pivot = 2 * 8 * m * delayed / 2
    fold = 2 * 8 * m * k / delayed
    pricing = (8 if nnz == m * n else 12) * nnz
    return round(pivot + pricing + solve_column + fold + 130 * m + 60 * (m + n))


def dense(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Yield solves of dense problems by both solvers."""
    solve_by_engine(synthetic(60, 120, 60, arguments.seed), device, arguments.limit)
    for rows in arguments.rows or (1000, 2000, 5000):
        problem = synthetic(rows, 2 * rows, rows, arguments.seed)
        runs = [
            solve_by_engine(problem, device, arguments.limit)
            for _ in range(1 if rows > 2000 else REPEATS)
        ]
        seconds = statistics.median(run[0] for run in runs)
        _, made, objective = runs[0]
        peer_seconds, peer_made, peer_objective = highs(problem, arguments.limit)
        yield {
            "rows": rows,
            "columns": 2 * rows,
            "seconds": seconds,
            "iterations": made,
            "us per iteration": 1e6 * seconds / max(1, made),
            "HiGHS seconds": peer_seconds,
            "HiGHS iterations": peer_made,
            "HiGHS us per iteration": 1e6 * peer_seconds / max(1, peer_made),
            "times faster": peer_seconds / seconds,
            "difference": abs(objective - peer_objective) / (1.0 + abs(peer_objective)),
        }


def solve_by_engine(problem: Problem, device: Device, limit: float) -> tuple[float, int, float]:
    """Return seconds, iterations and objective of the dense GPU core's solve."""
    where = "cpu" if device.kind == "cpu" else f"cuda:{device.index}"
    began = time.perf_counter()
    outcome = solve(problem, EngineOptions(device=where), Progress(limit))
    seconds = time.perf_counter() - began
    objective = np.nan if outcome.x is None else float(problem.cost @ outcome.x)
    return seconds, int(outcome.statistics["iterations"]), objective


def highs(problem: Problem, limit: float) -> tuple[float, int, float]:
    """Return seconds, iterations and objective of HiGHS's dual simplex, without presolve."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = problem.num_columns, problem.num_rows
    model.col_cost_, model.col_lower_, model.col_upper_ = (
        problem.cost, problem.lower, problem.upper,
    )  # fmt: skip
    model.row_lower_, model.row_upper_ = problem.row_lower, problem.row_upper
    matrix = problem.matrix
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
    model.a_matrix_.value_ = matrix.data
    solver = highspy.Highs()
    for name, value in (
        ("output_flag", False), ("solver", "simplex"), ("presolve", "off"), ("threads", 1),
        ("time_limit", limit),
    ):  # fmt: skip
        solver.setOptionValue(name, value)
    solver.passModel(model)
    began = time.perf_counter()
    solver.run()
    seconds = time.perf_counter() - began
    information = solver.getInfo()
    return seconds, information.simplex_iteration_count, information.objective_function_value


def main() -> None:
    """Run one of the benchmarks, print a table and record it."""
    arguments = _arguments()
    device = find_device(arguments.device)
    titles = ITERATION_COLUMNS if arguments.what == "iterations" else DENSE_COLUMNS
    rows: list[Row] = []
    deadline = time.monotonic() + arguments.stop_after
    source = iterations if arguments.what == "iterations" else dense
    for row in source(arguments, device):
        print(row, flush=True)
        rows.append(row)
        if time.monotonic() > deadline:
            break
    print_table(
        f"Dense GPU simplex on {device.name}",
        [Column(title, 4) for title in titles],
        [[row[title] for title in titles] for row in rows],
    )
    write_record(f"simplex-{arguments.what}", {"rows": rows}, device=device, seed=arguments.seed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("iterations", "dense"))
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--first", type=int, default=300, help="pivots before the clock runs")
    parser.add_argument("--count", type=int, default=2000, help="pivots to time, at most")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each solve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    main()
