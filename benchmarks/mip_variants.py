"""What constants of the mixed-integer heuristics are worth: models with other values of them.

    python -m benchmarks.mip_variants FOLDER --instances a b
        --variants "" -improve solvers.mip.portfolio.credit.EARNED=0
        [--time-limit 20] [--seeds 0 1] [--threads 2] [--at-once 1] [--device auto] [--work W]
        [--heuristic FOLDER]

A variant is a list of ``module.NAME=value``, a constant's other value, and ``-NAME``, a heuristic
left out of the table (``-kind:NAME`` for all of a kind, ``-neighbourhood:NAME`` for one
neighbourhood), separated by commas; an empty one is the program as it is. FOLDER holds
INSTANCES.csv (see ``mip_sets.py``). Each run has a process of its own, begins with a small solve to
load what it needs, and may be beside others; variants of one model run close to each other, so that
what else happens on the machine meets all of them. Points are those of ``gpu_bridge.solve``, which
checks them; measures are in ``mip_measures.py``.

With ``--work`` heuristics run alone, one after the other, and visit so many billions of matrix
entries: then points, and gaps, are the same however busy the machine is. The time limit only ends
runs that hang, and what else is measured over the time is measured over the work, in millions of
entries. ``--heuristic`` names the folder of one heuristic that has all turns but for what it needs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.mip_changed import WORK_UNIT, PointsByWork, change, give_turns
from benchmarks.mip_measures import mean, primal_gap, primal_integral, shifted_mean
from benchmarks.mip_sets import Entry, read_index
from benchmarks.record import Column, print_table, write_record

PATIENCE = 60.0
"""Seconds beyond the limit after which a run is killed: loading and reading are in them."""


@dataclass(frozen=True)
class Run:
    """What came of one run; without a point ``objective`` is None and ``first`` the limit.

    ``first`` and ``integral`` are over the time, or over the work in millions of entries.
    """

    model: str
    variant: str
    seed: int
    objective: float | None
    first: float
    gap: float
    integral: float
    seconds: float
    proven: bool


@dataclass(frozen=True)
class Settings:
    """How models are run."""

    time_limit: float
    threads: int
    device: str
    at_once: int
    stop_after: float
    work: float | None = None
    heuristic: str = ""

    @property
    def limit(self) -> float:
        """Seconds, or millions of entries."""
        return self.time_limit if self.work is None else 1e9 * self.work / WORK_UNIT

    def options(self, seed: int) -> dict[str, object]:
        """Return the options of a run."""
        if self.work is None:
            where = {"threads": self.threads, "device": self.device}
            return {**where, "time_limit": self.time_limit, "seed": seed}
        alone = {"deterministic": True, "heuristics_only": True, "device": "cpu"}
        return {**alone, "work_limit": self.work, "seed": seed}


def main() -> int:
    """Run all variants, print the means and write a record."""
    arguments = parse(make_parser(), sys.argv[1:])
    if arguments.child:
        _child(json.loads(arguments.child))
        return 0
    index = {entry.name: entry for entry in read_index(arguments.folder)}
    jobs = [
        (index[name], variant, seed)
        for name in arguments.instances
        for seed in arguments.seeds
        for variant in arguments.variants
    ]
    settings = settings_of(arguments)
    runs = run_all(jobs, settings)
    rows = [_summary(variant, runs) for variant in arguments.variants]
    columns = [Column(name, 4) for name in rows[0]]
    print_table("Variants", columns, [list(row.values()) for row in rows])
    content = {"rows": [vars(run) for run in runs], "summary": rows, "settings": vars(settings)}
    write_record("mip-variants", content)
    return 0


def run_all(
    jobs: Sequence[tuple[Entry, str, int]],
    settings: Settings,
    tell: Callable[[Run], object] = lambda run: None,
) -> list[Run]:
    """Run models with variants and seeds, some at once, and return what ended in time.

    ``tell`` is called after each run.
    """
    stop_at = time.monotonic() + settings.stop_after
    with ThreadPoolExecutor(settings.at_once) as pool:
        found = [pool.submit(_run, *job, settings, stop_at, tell) for job in jobs]
        return [run for one in found if (run := one.result()) is not None]


def _run(
    entry: Entry,
    variant: str,
    seed: int,
    settings: Settings,
    stop_at: float,
    tell: Callable[[Run], object],
) -> Run | None:
    """Run one model in a process of its own; None once the time for all is up."""
    if time.monotonic() > stop_at:
        return None
    limit = settings.limit
    task = {"path": str(entry.path), "variant": variant, "options": settings.options(seed)}
    task["heuristic"] = settings.heuristic
    command = [sys.executable, "-m", "benchmarks.mip_variants", ".", "--child", json.dumps(task)]
    try:
        longest = settings.time_limit + PATIENCE
        done = subprocess.run(command, capture_output=True, text=True, timeout=longest)
        told = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError):
        hung = settings.time_limit
        told = {"objective": None, "events": [], "sense": 1.0, "seconds": hung, "proven": False}
    gap = primal_gap(told["objective"], entry.best, told["sense"])
    integral = primal_integral(told["events"], entry.best, limit, told["sense"]) / limit
    first = min([limit, *(seconds for seconds, _ in told["events"])])
    run = Run(
        *(entry.name, variant, seed, told["objective"], first, gap, integral),
        *(told["seconds"], told["proven"]),
    )
    print(
        f"{run.model:34s} {variant or 'as it is':34s} seed {seed} gap {gap:.4f} P/T {integral:.4f} "
        f"{run.seconds:.1f} s{' proven' if run.proven else ''}",
        flush=True,
    )
    tell(run)
    return run


def _child(task: dict[str, Any]) -> None:
    """Solve one model with other constants, and tell of it in a line."""
    import numpy as np

    import gpu_bridge as gb

    # some variants import it to change it, which must not save them time that the others spend
    importlib.import_module("solvers.mip.table")
    for text in filter(None, task["variant"].split(",")):
        change(text.strip())
    options = task["options"]
    by_work = PointsByWork() if options.get("deterministic") else None
    if task["heuristic"]:
        give_turns(task["heuristic"])
    problem = gb.read(task["path"])
    small = gb.Problem.from_arrays(
        -np.arange(1.0, 41.0), np.ones((2, 40)), -np.inf, 20.5, upper=1.0, integrality=True
    )
    gb.solve(small, **{**options, "time_limit": 3.0})
    sense = -1.0 if problem.maximize else 1.0
    if by_work is not None:
        by_work.begin()
    outcome = gb.solve(problem, **options)
    if by_work is not None:
        events = [(work, sense * objective) for work, objective in by_work.events]
    else:
        told_of = [one for one in outcome.history if one.incumbent is not None]
        events = [(one.seconds, one.incumbent) for one in told_of]
    has_point = bool(np.isfinite(outcome.objective))
    told = {
        "objective": outcome.objective if has_point else None,
        "events": [event for event in events if np.isfinite(event[1])],
        "sense": sense,
        "seconds": outcome.seconds,
        "proven": str(outcome.solution_status.name) == "OPTIMAL",
    }
    print(json.dumps(told))


def _summary(variant: str, runs: Sequence[Run]) -> dict[str, object]:
    """Return the means of one variant over the runs that all variants have."""
    mine = [run for run in runs if run.variant == variant]
    return {
        "variant": variant or "as it is",
        "runs": len(mine),
        "mean gap": mean([run.gap for run in mine]),
        "P/T": mean([run.integral for run in mine]),
        "seconds": shifted_mean([run.seconds for run in mine]),
        "proven": sum(run.proven for run in mine),
    }


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return how models are run, from the command line."""
    return Settings(
        arguments.time_limit,
        arguments.threads,
        arguments.device,
        arguments.at_once,
        arguments.stop_after,
        arguments.work,
        arguments.heuristic,
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of :func:`settings_of`."""
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--stop-after", type=float, default=float("inf"))
    parser.add_argument("--work", type=float, help="billions of matrix entries, in place of time")
    parser.add_argument("--heuristic", default="", help="folder of the one that has all turns")


def parse(parser: argparse.ArgumentParser, given: Sequence[str]) -> argparse.Namespace:
    """Return arguments among which variants may begin with a dash.

    ``argparse`` takes such a text for an option unless a space is before it, which
    ``type=str.strip`` takes away again.
    """
    return parser.parse_args([f" {one}" if re.match("-[^-].", one) else one for one in given])


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--instances", nargs="+", default=[])
    parser.add_argument("--variants", nargs="+", type=str.strip, default=[""])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    add_settings(parser)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
