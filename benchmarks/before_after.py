"""Engines before and after a change: one checkout's benchmarks beside those of another.

    python -m benchmarks.before_after --before CHECKOUT --after CHECKOUT
        [--pythons BEFORE AFTER] [--cases "PDLP iterations" ...] [--models FILES...]
        [--repeat 5] [--scale 1.0] [--folder benchmarks/results]

Each checkout runs its own benchmarks in its own environment, by default ``.venv`` in it, one after
the other and each first in every second round, so that both meet the same machine. Every figure is
the median over the rounds. ``times as fast`` is the quotient of both, above one where the change
has made it faster; that of a case is the geometric mean over its figures. What only one of the two
checkouts measures is left out and counted. ``--scale`` multiplies the sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, Column, print_table, write_record
from solvers.core.device import cpu

MODELS = Path(__file__).parent.parent / "tests" / "data"

LAUNCHER = """
import pathlib, runpy, sys
import benchmarks.record
benchmarks.record.write_record.__kwdefaults__["folder"] = pathlib.Path(sys.argv.pop(1))
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""Runs a benchmark of any version, with its record in another folder than its results."""


@dataclass(frozen=True)
class Case:
    """One benchmark, its command line, and where its record has the figures.

    ``rows`` names the list or mapping of rows; a row is known by its cells ``names``, and holds a
    time, or a rate where ``is_rate``, in each of its cells ``figures``.
    """

    title: str
    command: tuple[str, ...]
    rows: str
    names: tuple[str, ...]
    figures: tuple[str, ...]
    is_rate: bool = False

    def measured(self, record: dict[str, Any]) -> Iterator[tuple[str, float]]:
        """Yield the figures of a record with what they are of."""
        rows = record[self.rows]
        if isinstance(rows, dict):
            rows = [{"name": name, **row} for name, row in rows.items()]
        for row in rows:
            name = " ".join(str(row[cell]) for cell in self.names)
            for figure in self.figures:
                if row.get(figure):
                    yield f"{name}: {figure}", float(row[figure])


def all_cases(scale: float, models: list[str]) -> list[Case]:
    """Return what is compared, at sizes times ``scale``."""

    def sized(*sizes: float) -> list[str]:
        return [str(max(1, round(scale * size))) for size in sizes]

    ours = ("pdlp", "--per-iteration", "--solvers", "ours", "--device", "cpu")
    pdlp = (*ours, "--nonzeros", *sized(2e4, 2e5, 1e6))
    light = ("presolve", *models, "--kinds", "light", "--iterations", "0", "--repeat", "5")
    knapsack = ("knapsack", "classes", "--device", "cpu", "--items", *sized(1e3))
    rates = ("moves_per_second", "entries_per_second")
    walks = ("mip_search", "--work", *sized(1e8))
    return [
        Case("PDLP iterations", pdlp, "rows", ("program", "nonzeros"), ("microseconds",)),
        Case("presolve", light, "rows", ("model",), ("seconds",)),
        Case("local search", walks, "speed", ("model", "preset"), rates, is_rate=True),
        Case("knapsack", knapsack, "rows", ("class", "n"), ("ours ms",)),
        Case(
            "conversion",
            ("convert", "--nonzeros", *sized(2e5)),
            "microseconds_per_nonzero",
            ("name",),
            ("convert", "load"),
        ),
    ]


def run(case: Case, checkout: Path, python: Path) -> tuple[str, dict[str, float]]:
    """Run a benchmark of a checkout; return its commit and figures."""
    module, *arguments = case.command
    with tempfile.TemporaryDirectory() as folder:
        program = [str(python), "-c", LAUNCHER, folder, f"benchmarks.{module}", *arguments]
        paths = os.environ | {"PYTHONPATH": str(checkout)}
        done = subprocess.run(program, cwd=checkout, env=paths, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{case.title} failed in {checkout}:\n{done.stdout}{done.stderr}")
        (path,) = Path(folder).glob("*.json")
        record = json.loads(path.read_text(encoding="utf-8"))
    return record["commit"], dict(case.measured(record))


def compare(case: Case, measured: list[dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Return a row for each figure that was measured both before and after."""
    before, after = measured
    rows = []
    for what in [what for what in before if what in after]:
        old, new = statistics.median(before[what]), statistics.median(after[what])
        rows.append(
            {
                "case": case.title,
                "figure": what,
                "before": old,
                "after": new,
                "times as fast": new / old if case.is_rate else old / new,
            }
        )
    return rows


def main() -> None:
    arguments = _arguments()
    checkouts = [arguments.before.resolve(), arguments.after.resolve()]
    pythons = arguments.pythons or [one / ".venv" / "bin" / "python" for one in checkouts]
    models = [str(path.resolve()) for path in arguments.models]
    commits = ["", ""]
    rows: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    for case in all_cases(arguments.scale, models):
        if arguments.cases and case.title not in arguments.cases:
            continue
        measured: list[dict[str, list[float]]] = [defaultdict(list), defaultdict(list)]
        for number in range(arguments.repeat):
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                commits[side], figures = run(case, checkouts[side], pythons[side])
                for what, value in figures.items():
                    measured[side][what].append(value)
        own = compare(case, measured)
        mean = statistics.geometric_mean(row["times as fast"] for row in own)
        unmatched = len(measured[0].keys() ^ measured[1].keys())
        rows += own
        totals.append({"case": case.title, "times as fast": mean, "figures": len(own)})
        totals[-1]["of one checkout only"] = unmatched
        print(totals[-1], flush=True)
    for title, table in (("Figures", rows), ("In all", totals)):
        columns = [Column(name, 3) for name in table[0]]
        print_table(
            f"{title}, {commits[0]} and {commits[1]}", columns, [[*row.values()] for row in table]
        )
    options = {"repeat": arguments.repeat, "scale": arguments.scale, "commits": commits}
    content = options | {"totals": totals, "rows": rows}
    write_record("before-after", content, device=cpu(), folder=arguments.folder)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    titles = [case.title for case in all_cases(1.0, [])]
    parser.add_argument("--before", type=Path, required=True, help="a checkout, built")
    parser.add_argument("--after", type=Path, required=True, help="a checkout, built")
    parser.add_argument("--pythons", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--cases", nargs="+", choices=titles, default=[])
    parser.add_argument("--models", nargs="+", type=Path, default=[MODELS], help="for presolve")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, default=RESULTS, help="of the record")
    return parser.parse_args()


if __name__ == "__main__":
    main()
