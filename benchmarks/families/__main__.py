"""Solve a family by our engines and by others, and check what they answer.

    python -m benchmarks.families NAME ... [--nonzeros 1e6 ...] [--seed 0] [--method auto ...]
        [--tolerance 1e-4 ...] [--time-limit 60] [--device auto] [--peers highs-simplex ...]
        [--hours 365 ...] [--folder DATA --models pds-10 ...]

NAME is a family, ``all``, or a half of them (``halves.py``); without one they are listed. Energy
systems of twelve nodes and so many hours follow, and models from files (see ``lp_sets.py``). Every
solver has a process of its own, which has solved a small program before, and gets the arrays;
seconds are those of the whole call. Residuals are those of ``residuals.py`` on the
program itself, also where a limit ended the solve, and ``memory`` is the most that the call took on
the host, in multiples of the program's size. A process that is not back ``--grace`` seconds after
twice the limit is ended.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import lp_sets, peers
from benchmarks.families import FAMILIES
from benchmarks.families.energy import NODES, energy_system
from benchmarks.halves import HALVES, half_of, members
from benchmarks.linear_programs import LinearProgram, read
from benchmarks.pdlp import print_summaries, to_row
from benchmarks.peers import Solver, Task
from benchmarks.peers.ours import Engine
from benchmarks.record import Column, print_table, write_record
from benchmarks.rows import Row
from benchmarks.worker import GRACE, Worker
from solvers.core.device import find_device

WARM_UP, WARM_UP_SIZE = "supply-chain", 100_000
"""Family and nonzeros of what each solver gets first, so that its libraries are loaded."""

TITLES = (
    *("model", "nonzeros", "solver", "tolerance", "status", "seconds", "its"),
    *("primal", "dual", "gap", "verified", "memory", "by"),
)


def main() -> None:
    """Solve what the command line asks for, print it and record it."""
    arguments = _arguments()
    if not (arguments.name or arguments.hours or arguments.models):
        for name, family in FAMILIES.items():
            print(f"{name:20s} {half_of(name):10s} {family.words}")
        return
    rows: list[Row] = []
    try:
        for row in measure_all(arguments):
            print(line(row), flush=True)
            rows.append(row)
    except KeyboardInterrupt:
        print("Interrupted; what was measured so far is recorded.")
    print_table("Families", [Column(title, 3) for title in TITLES], [_cells(row) for row in rows])
    names = list(dict.fromkeys(row.model for row in rows))
    print_summaries(rows, names, arguments.time_limit)
    content = {
        "nonzeros": arguments.nonzeros,
        "tolerance": arguments.tolerance,
        "time limit": arguments.time_limit,
        "threads": arguments.threads,
        "rows": [row.as_record() for row in rows],
    }
    device = find_device(arguments.device)
    write_record("families", content, device=device, seed=arguments.seed)


def measure_all(arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for every program, solver and tolerance, program by program."""
    makers: list[Callable[[], Solver]] = [
        *(
            functools.partial(Engine, arguments.device, method, arguments.crossover)
            for method in arguments.method
        ),
        *(functools.partial(peers.find, name, arguments.device) for name in arguments.peers),
    ]
    workers = [(make(), Worker(make, trial=False, grace=arguments.grace)) for make in makers]
    try:
        _warm_up(FAMILIES[WARM_UP].make(WARM_UP_SIZE, arguments.seed), workers, arguments)
        for make in _programs(arguments):
            began = time.perf_counter()
            lp = make()
            rows, columns = lp.matrix.shape
            size = f"{rows} rows, {columns} columns, {lp.nonzeros} nonzeros"
            print(f"{lp.name}: {size}, made in {time.perf_counter() - began:.2f} s", flush=True)
            yield from _measure(lp, workers, arguments)
    finally:
        for _, worker in workers:
            worker.stop()


def _programs(arguments: argparse.Namespace) -> Iterator[Callable[[], LinearProgram]]:
    """Yield what makes or reads each program that the command line asks for."""
    groups = {"all": list(FAMILIES), **{half: members(FAMILIES, half) for half in HALVES}}
    for name in (name for given in arguments.name for name in groups.get(given, [given])):
        for nonzeros in arguments.nonzeros:
            yield functools.partial(FAMILIES[name].make, nonzeros, arguments.seed)
    for hours in arguments.hours:
        yield functools.partial(energy_system, hours, NODES, arguments.seed)
    if arguments.models:
        for entry in lp_sets.choose(lp_sets.read_index(arguments.folder), arguments.models):
            yield functools.partial(read, entry.path)


def _warm_up(
    lp: LinearProgram, workers: list[tuple[Solver, Worker]], arguments: argparse.Namespace
) -> None:
    """Let every solver that is there load what it needs."""
    for solver, worker in workers:
        if solver.missing() is None:
            task = Task(arguments.tolerance[0], arguments.time_limit, threads=arguments.threads)
            worker.solve(lp, task)


def _measure(
    lp: LinearProgram, workers: list[tuple[Solver, Worker]], arguments: argparse.Namespace
) -> Iterator[Row]:
    for solver, worker in workers:
        why = solver.missing()
        if why is not None:
            print(f"{type(solver).__name__} is left out: {why}.")
            continue
        for tolerance in arguments.tolerance:
            task = Task(tolerance, arguments.time_limit, threads=arguments.threads)
            yield to_row(lp, solver, tolerance, worker.solve(lp, task))


def line(row: Row) -> str:
    """Return one row as it is printed while the run goes on."""
    words = [f"{title} {Column(title, 3).text(value)}" for title, value in _named(row)]
    return "  ".join(words)


def _named(row: Row) -> list[tuple[str, object]]:
    return [pair for pair in zip(TITLES, _cells(row), strict=True) if pair[1] is not None]


def _cells(row: Row) -> list[object]:
    return [
        *(row.model, row.nonzeros, row.solver, row.tolerance, row.status, row.seconds),
        *(row.iterations, row.primal, row.dual, row.gap),
        {True: "yes", False: "NO" if row.solved else "", None: "?"}[row.verified],
        *(row.host_peak, row.detail),
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="*", choices=[*FAMILIES, "all", *HALVES, []], metavar="NAME")
    parser.add_argument("--nonzeros", type=_integer, nargs="+", default=[1_000_000])
    parser.add_argument("--hours", type=int, nargs="*", default=[], help="of energy systems")
    parser.add_argument("--folder", type=Path, help="with INSTANCES.csv and the files")
    parser.add_argument("--models", nargs="*", default=[], help="sets or models of the folder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", nargs="*", default=["auto"], help="methods of ours")
    parser.add_argument(
        "--crossover", default="auto", choices=("auto", "on", "off"), help="of ours"
    )
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--tolerance", type=float, nargs="+", default=[1e-4])
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--grace", type=float, default=GRACE, metavar="SECONDS")
    parser.add_argument("--threads", type=int, default=0, help="of each solver; 0 for all cores")
    parser.add_argument("--peers", nargs="*", default=[], choices=peers.NAMES)
    return parser.parse_args()


def _integer(text: str) -> int:
    return int(float(text))


if __name__ == "__main__":
    main()
