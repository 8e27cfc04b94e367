"""The paper's four variants on Netlib, beside our simplex engines and HiGHS.

    python -m benchmarks.simplex FOLDER [MODEL...] [--solvers graphs resident highs ...]
        [--no-presolve] [--time-limit 240] [--repeats 1] [--sample MODEL... --sample-repeats 20]
        [--measure solve batches update] [--rows-file ROWS.jsonl] [--stop-after SECONDS]

FOLDER holds INSTANCES.csv (see ``lp_sets.py``); without MODEL its set "netlib" is solved. As in
"GPU Accelerated Simplex Solver" (Tissier et al.) every solver gets what HiGHS's presolve leaves of
a model, 240 s for it, and its objective is compared with that of HiGHS on the model as it was. All
shares in the table have one denominator, the models a solver was given; the paper's "correct" is
relative to "solved". Each solver lives in a process of its own, loaded and warmed up before the
clock runs, and only the engine is timed, without presolve.

*batches* repeats the paper's figure 1: 100 iterations of "resident" and of "graphs" on
``--batch-model`` (woodw). *update* measures the bytes per second of the kernel that streams over
the inverse, beside a copy within the device (the paper: 90.5 % of the memory's throughput).

Every row is added to ``--rows-file`` at once, and a run that finds rows there goes on after them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.linear_programs import LinearProgram, read
from benchmarks.lp_sets import Entry, choose, read_index
from benchmarks.peers.solver import Answer, Solver, Task
from benchmarks.record import Column, print_table, write_record
from benchmarks.simplex_engines import NAMES, make
from benchmarks.simplex_kernels import batches, updates
from benchmarks.simplex_rows import SOLVED, SUMMARY, Run, append, load, summarise
from benchmarks.worker import Timed, Worker
from solvers.core.device import find_device

REFERENCE = "highs"

TITLES = ("model", "solver", "status", "repeats", "seconds", "iterations", "it/s", "error")


class Bench:
    """The workers of a run, the rows it has, and the clock by which it stops between two rows."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.runs = load(arguments.rows_file)
        self._done = {(run.model, run.solver) for run in self.runs}
        self._end = time.monotonic() + arguments.stop_after
        self._workers: dict[str, Worker] = {}
        self._references: dict[str, float | None] = {}
        self._latest: tuple[str, LinearProgram | None] = ("", None)

    def solve(self, entries: Sequence[Entry]) -> None:
        """Run every solver on every model that has no row yet."""
        for entry, name in self._open(entries):
            lp = self._model(entry)
            if lp is None:
                continue
            run = self._run(entry, lp, name)
            self.runs.append(run)
            append(self.arguments.rows_file, run)
            print(_line(run), flush=True)
        for worker in self._workers.values():
            worker.stop()

    def _open(self, entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
        for entry in entries:
            for name in self.arguments.solvers:
                if time.monotonic() > self._end:
                    print("the time to stop has come; run again to go on")
                    return
                if (entry.name, name) not in self._done:
                    yield entry, name

    def _model(self, entry: Entry) -> LinearProgram | None:
        """Return what the solvers get; the model read last is kept for the next of them."""
        name, lp = self._latest
        if name != entry.name:
            try:
                lp = read(entry.path, presolved=not self.arguments.no_presolve)
            except ValueError as error:
                print(f"{entry.name}: {error}", flush=True)
                lp = None
            self._latest = entry.name, lp
        return lp

    def _worker(self, name: str) -> Worker:
        if name not in self._workers:
            made: partial[Solver] = partial(make, name, self.arguments.device)
            self._workers[name] = Worker(made, trial=False)
        return self._workers[name]

    def _reference(self, entry: Entry) -> float | None:
        """Return HiGHS's objective of the whole model."""
        if entry.name not in self._references:
            lp = read(entry.path)
            task = Task(1e-6, self.arguments.time_limit)
            answer = self._worker(REFERENCE).solve(lp, task).answer
            found = objective(lp, answer) if answer.status == "optimal" else None
            self._references[entry.name] = found
        return self._references[entry.name]

    def _run(self, entry: Entry, lp: LinearProgram, name: str) -> Run:
        arguments = self.arguments
        sampled = entry.name in arguments.sample
        repeats = arguments.sample_repeats if sampled else arguments.repeats
        task = Task(1e-6, arguments.time_limit, presolve=False)
        timed = []
        for _ in range(repeats):
            timed.append(self._worker(name).solve(lp, task))
            if timed[-1].answer.status not in SOLVED:
                break  # the others would take the whole limit each
        return run_of(lp, name, timed, repeats, self._reference(entry))


def run_of(
    lp: LinearProgram, solver: str, timed: Sequence[Timed], repeats: int, reference: float | None
) -> Run:
    """Return the row of a solver's repeats on a model whose objective is ``reference``."""
    answers = [one.answer for one in timed]
    seconds = [one.seconds for one in timed]
    bad = [answer for answer in answers if answer.status not in SOLVED]
    last = (bad or answers)[0]
    errors = [_error(lp, answer, reference) for answer in answers]
    return Run(
        model=lp.name,
        solver=solver,
        rows=lp.matrix.shape[0],
        columns=lp.matrix.shape[1],
        nonzeros=lp.nonzeros,
        status=last.status,
        repeats=repeats,
        solved_repeats=len(answers) - len(bad),
        seconds=statistics.median(seconds),
        fastest=min(seconds),
        slowest=max(seconds),
        iterations=last.iterations,
        loop_seconds=last.loop_seconds,
        error=None if None in errors else max(error for error in errors if error is not None),
        detail=last.detail,
    )


def objective(lp: LinearProgram, answer: Answer) -> float | None:
    """Return the minimised objective at the point of an answer."""
    return None if answer.x is None else float(lp.cost @ answer.x) + lp.offset


def _error(lp: LinearProgram, answer: Answer, reference: float | None) -> float | None:
    found = objective(lp, answer)
    if found is None or reference is None or answer.status != "optimal":
        return None
    return abs(found - reference) / max(1.0, abs(reference))


def _cells(run: Run) -> list[Any]:
    repeats = f"{run.solved_repeats}/{run.repeats}"
    rate = run.iterations_per_second
    return [
        run.model,
        run.solver,
        run.status,
        repeats,
        run.seconds,
        run.iterations,
        rate,
        run.error,
    ]


def _line(run: Run) -> str:
    pairs = zip(TITLES, _cells(run), strict=True)
    return "  ".join(f"{title} {Column(title).text(cell)}" for title, cell in pairs)


def main() -> None:
    """Measure what was asked for, print tables and record them."""
    arguments = _arguments()
    device = find_device(arguments.device)
    record: dict[str, Any] = {
        "presolve": not arguments.no_presolve,
        "time_limit": arguments.time_limit,
    }
    entries = read_index(arguments.folder)
    if "update" in arguments.measure:
        record["update"] = updates(device, arguments.update_rows)
    if "batches" in arguments.measure:
        (entry,) = choose(entries, [arguments.batch_model])
        record["batches"] = batches(device, read(entry.path, presolved=True))
    if "solve" in arguments.measure:
        bench = Bench(arguments)
        bench.solve(choose(entries, arguments.models or ["netlib"]))
        runs = bench.runs
        print_table("Models", [Column(title) for title in TITLES], [_cells(run) for run in runs])
        table = summarise(runs, arguments.time_limit)
        print_table("Simplex solvers", [Column(title) for title in SUMMARY], table)
        record["summary"] = [dict(zip(SUMMARY, row, strict=True)) for row in table]
        record["rows"] = [asdict(run) | {"size": run.size_class} for run in runs]
    write_record("simplex", record, device=device)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--solvers", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--measure", nargs="+", choices=("solve", "batches", "update"),
                        default=["solve"])  # fmt: skip
    parser.add_argument("--no-presolve", action="store_true")
    parser.add_argument("--time-limit", type=float, default=240.0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--sample", nargs="*", default=[])
    parser.add_argument("--sample-repeats", type=int, default=20)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch-model", default="woodw")
    parser.add_argument("--update-rows", nargs="+", type=int, default=[500, 2000, 10_000])
    parser.add_argument("--rows-file", type=Path, default=Path("simplex-rows.jsonl"))
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    main()
