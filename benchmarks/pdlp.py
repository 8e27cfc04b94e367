"""PDLP and its peers on linear programs: time to a verified answer, and the cost of iterations.

    python -m benchmarks.pdlp --folder DATA [--set peers] [--half reporting]
        [--solvers ours ours-auto cuopt ...]
        [--tolerance 1e-4 1e-8] [--time-limit 15] [--recorded benchmarks/peers/h200.csv]
    python -m benchmarks.pdlp --per-iteration [--folder DATA --set ...] [--nonzeros 8e3 1e6]

DATA holds an index INSTANCES.csv (see ``lp_sets.py``). Every solver gets the same program in
memory, in a process of its own, after an unmeasured run; its time is wall time until it hands
back a point, presolve and transfers included. What it calls optimal is checked by
``residuals.py`` on the program of the file. Solvers that are not installed are left out with a
line that says so. With ``--stop-after`` a long run ends in time and records what it has; further
records add to it (``python -m benchmarks.plots`` joins them).
"""

from __future__ import annotations

import argparse
import functools
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks import lp_sets, peers, per_iteration, residuals
from benchmarks.halves import HALVES, half_of
from benchmarks.linear_programs import LinearProgram, read
from benchmarks.peers import Task, hprlp, recorded
from benchmarks.record import Column, print_table, write_record
from benchmarks.rows import Row, relative_error, summarise
from benchmarks.worker import Timed, Worker
from solvers.core.device import find_device

NAME = "pdlp-peers"
"""Of the records."""

EXACT = 1e-7
"""Residuals up to which an exact solver's objective serves as the optimum of a relaxation."""


ROW_TITLES = (
    *("model", "solver", "status", "seconds", "its", "us/it"),
    *("primal", "dual", "gap", "verified", "error"),
)
SUMMARY_TITLES = (
    *("tolerance", "solver", "models", "solved", "verified", "SGM", "honest", "us/it"),
)


def main() -> None:
    """Measure what the command line asks for, and record it."""
    arguments = _arguments()
    if arguments.hprlp:
        os.environ[hprlp.VARIABLE] = arguments.hprlp
    entries = _entries(arguments)
    if arguments.per_iteration:
        per_iteration.measure_all(entries, arguments)
        return
    rows: list[Row] = []
    try:
        for row in measure_all(entries, arguments):
            print(line(row), flush=True)
            rows.append(row)
    except KeyboardInterrupt:
        print("Interrupted; what was measured so far is recorded.")
    report(rows, entries, arguments)


def measure_all(entries: list[lp_sets.Entry], arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for every solver, model and tolerance, solver by solver."""
    deadline = time.monotonic() + arguments.stop_after
    for name in arguments.solvers:
        solver = peers.find(name, arguments.device)
        why = solver.missing()
        if why is not None:
            print(f"{name} is left out: {why}.")
            continue
        with Worker(
            functools.partial(peers.find, name, arguments.device), arguments.trial
        ) as worker:
            for entry in entries:
                if time.monotonic() > deadline:
                    print(f"Time is up; {name} stopped before {entry.name}.")
                    return
                yield from _measure(worker, solver, entry, arguments)


def _measure(
    worker: Worker, solver: peers.Solver, entry: lp_sets.Entry, arguments: argparse.Namespace
) -> Iterator[Row]:
    try:
        lp = _program(entry.path, arguments.presolved)
    except ValueError as error:
        print(error)
        return
    timed: Timed | None = None
    for tolerance in arguments.tolerance:
        if timed is None or not solver.exact:
            task = Task(
                tolerance,
                arguments.time_limit,
                presolve=not arguments.presolved,
                threads=arguments.threads,
            )
            runs = [worker.solve(lp, task) for _ in range(arguments.repeat)]
            timed = sorted(runs, key=lambda run: run.seconds)[len(runs) // 2]
        row = to_row(lp, solver, tolerance, timed, entry.optimum)
        yield replace(row, model=entry.name)


@functools.lru_cache(maxsize=64)
def _program(path: Path, presolved: bool) -> LinearProgram:
    return read(path, presolved)


def to_row(
    lp: LinearProgram,
    solver: peers.Solver,
    tolerance: float,
    timed: Timed,
    optimum: float | None = None,
) -> Row:
    """Check an answer against the program and make it a row."""
    answer = timed.answer
    quality = None
    if answer.x is not None and answer.y is not None:
        check = residuals.measure_either_sign if solver.own_signs else residuals.measure
        quality = check(lp, answer.x, answer.y)
    objective = None if answer.objective is None else lp.sense * answer.objective
    if quality is not None:
        objective = quality.objective
    return Row(
        model=lp.name,
        solver=solver.label,
        tolerance=tolerance,
        status=answer.status,
        seconds=timed.seconds,
        iterations=answer.iterations,
        microseconds=per_iteration.simple_cost(timed) if solver.first_order else None,
        primal=None if quality is None else quality.primal,
        dual=None if quality is None else quality.dual,
        gap=None if quality is None else quality.gap,
        objective=objective,
        objective_error=relative_error(objective, optimum),
        nonzeros=lp.nonzeros,
        host_peak=timed.host_peak,
        detail=answer.detail,
    )


def report(rows: list[Row], entries: list[lp_sets.Entry], arguments: argparse.Namespace) -> None:
    """Print models and summaries, ours beside what was recorded, and write a record."""
    optima = known_optima(rows, entries)
    rows = [_with_error(row, optima) for row in rows]
    models = [entry.name for entry in entries]
    earlier = [
        row
        for path in arguments.recorded
        for row in recorded.read_recorded(path, optima)
        if row.model in models
    ]
    everything = rows + earlier
    for tolerance in arguments.tolerance:
        print_rows([row for row in everything if row.tolerance == tolerance], tolerance)
    print_summaries(everything, models, arguments.time_limit)
    content = {
        "tolerance": arguments.tolerance,
        "time limit": arguments.time_limit,
        "threads": arguments.threads,
        "repeat": arguments.repeat,
        "models": models,
        "rows": [row.as_record() for row in everything],
        "summaries": [asdict(one) for one in summarise(everything, models, arguments.time_limit)],
    }
    name = f"{NAME}-presolved" if arguments.presolved else NAME
    write_record(name, content, device=find_device(arguments.device))


def known_optima(rows: list[Row], entries: list[lp_sets.Entry]) -> dict[str, float]:
    """Return optima from the index, or from the most exact answer of this run."""
    optima = {entry.name: entry.optimum for entry in entries if entry.optimum is not None}
    best: dict[str, tuple[float, float]] = {}
    for row in rows:
        found = (row.primal, row.dual, row.gap)
        if row.model in optima or row.objective is None or None in found:
            continue
        worst = max(value for value in found if value is not None)
        if worst <= EXACT and worst < best.get(row.model, (EXACT * 2, 0.0))[0]:
            best[row.model] = (worst, row.objective)
    return {name: objective for name, (_, objective) in best.items()} | optima


def _with_error(row: Row, optima: dict[str, float]) -> Row:
    error = relative_error(row.objective, optima.get(row.model))
    return Row.from_record({**asdict(row), "objective_error": error})


def line(row: Row) -> str:
    """Return one row as it is printed while the run goes on."""
    residual = "" if row.primal is None else f"  {row.primal:.1e} {row.dual:.1e} {row.gap:.1e}"
    verdict = {True: "verified", False: "NOT verified", None: "not checked"}[row.verified]
    return (
        f"{row.solver:28s} {row.model:20s} {row.tolerance:.0e} {row.status:16s}"
        f"{row.seconds:9.3f} s {row.iterations or 0:8d} its{residual}"
        + (f"  {verdict}" if row.solved else "")
        + (f"  {row.detail}" if row.status in ("failed", "crash") else "")
    )


def print_rows(rows: list[Row], tolerance: float) -> None:
    """Print a table with all solvers' rows, model by model."""
    rows = sorted(rows, key=lambda row: (row.nonzeros or 0, row.model, row.solver))
    cells = [
        [
            *(row.model, row.solver, row.status, row.seconds, row.iterations, row.microseconds),
            *(row.primal, row.dual, row.gap),
            {True: "yes", False: "NO" if row.solved else "", None: "?"}[row.verified],
            row.objective_error,
        ]
        for row in rows
    ]
    print_table(f"Tolerance {tolerance:g}", [Column(title, 3) for title in ROW_TITLES], cells)


def print_summaries(rows: list[Row], models: list[str], limit: float) -> None:
    """Print one line per tolerance and solver."""
    cells = [list(_in_order(one)) for one in summarise(rows, models, limit)]
    print_table(
        f"Shifted geometric mean (1 s), unsolved at {limit:g} s; honest: unverified, too",
        [Column(title, 3) for title in SUMMARY_TITLES],
        cells,
    )


def _in_order(one: Any) -> tuple[Any, ...]:
    return (
        *(one.tolerance, one.solver, one.models, one.solved, one.verified),
        *(one.mean, one.honest_mean, one.microseconds),
    )


def _entries(arguments: argparse.Namespace) -> list[lp_sets.Entry]:
    if arguments.folder is None:
        return []
    chosen = lp_sets.choose(lp_sets.read_index(arguments.folder), arguments.set)
    halves = HALVES if arguments.half is None else (arguments.half,)
    return [
        entry
        for entry in chosen
        if entry.nonzeros <= arguments.max_nonzeros and half_of(entry.name) in halves
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    integer: Callable[[str], int] = lambda text: int(float(text))  # noqa: E731
    parser.add_argument("--folder", type=Path, help="with INSTANCES.csv and the files")
    parser.add_argument("--set", nargs="+", default=["peers"], help="sets or models")
    parser.add_argument("--half", choices=HALVES, help="of the models; see halves.py")
    parser.add_argument("--solvers", nargs="+", default=list(peers.NAMES), choices=peers.NAMES)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--tolerance", type=float, nargs="+", default=[1e-4, 1e-8])
    parser.add_argument("--time-limit", type=float, default=15.0)
    parser.add_argument("--threads", type=int, default=2, help="CPU threads of each solver")
    parser.add_argument("--repeat", type=int, default=1, help="runs, of which the median counts")
    parser.add_argument("--max-nonzeros", type=integer, default=2**62)
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--trial", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--presolved",
        action="store_true",
        help="give every solver what HiGHS's presolve leaves, check there, and let none presolve",
    )
    parser.add_argument("--recorded", type=Path, nargs="*", default=[], metavar="CSV")
    parser.add_argument("--hprlp", metavar="PROGRAM", help="HPR-LP-C's solve_mps_file")
    parser.add_argument("--per-iteration", action="store_true")
    parser.add_argument(
        "--nonzeros", type=integer, nargs="*", default=[int(size) for size in per_iteration.SIZES]
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # record what there is, then end
    main()
