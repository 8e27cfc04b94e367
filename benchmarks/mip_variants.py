"""What constants of the mixed-integer heuristics are worth: models with other values of them.

    python -m benchmarks.mip_variants FOLDER --instances a b
        --variants "" solvers.mip.portfolio.credit.EARNED=0
        [--time-limit 20] [--seeds 0 1] [--threads 2] [--at-once 1] [--device auto]

A variant is a list of ``module.NAME=value``, separated by commas; an empty one is the program as it
is. FOLDER holds INSTANCES.csv (see ``mip_sets.py``). Each run has a process of its own, begins with
a small solve to load what it needs, and may be beside others; variants of one model run close to
each other, so that what else happens on the machine meets all of them. Points are those of
``gpu_bridge.solve``, which checks them; measures are in ``mip_measures.py``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mip_measures import mean, primal_gap, primal_integral, shifted_mean
from benchmarks.mip_sets import Entry, read_index
from benchmarks.record import Column, print_table, write_record

PATIENCE = 60.0
"""Seconds beyond the limit after which a run is killed: loading and reading are in them."""


@dataclass(frozen=True)
class Run:
    """What came of one run; ``objective`` is None where there is no point."""

    model: str
    variant: str
    seed: int
    objective: float | None
    gap: float
    integral: float
    seconds: float
    proven: bool


def main() -> int:
    """Run all variants, print the means and write a record."""
    arguments = _parser().parse_args()
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
    stop_at = time.monotonic() + arguments.stop_after
    with ThreadPoolExecutor(arguments.at_once) as pool:
        found = pool.map(lambda job: _run(*job, arguments, stop_at), jobs)
        runs = [run for run in found if run is not None]
    rows = [_summary(variant, runs) for variant in arguments.variants]
    columns = [Column(name, 4) for name in rows[0]]
    print_table("Variants", columns, [list(row.values()) for row in rows])
    content = {"rows": [vars(run) for run in runs], "summary": rows}
    settings = {"time_limit": arguments.time_limit, "threads": arguments.threads}
    write_record(
        "mip-variants", {**content, "settings": {**settings, "at_once": arguments.at_once}}
    )
    return 0


def _run(
    entry: Entry, variant: str, seed: int, arguments: argparse.Namespace, stop_at: float
) -> Run | None:
    """Run one model in a process of its own; None once the time for all is up."""
    if time.monotonic() > stop_at:
        return None
    limit = arguments.time_limit
    task = {
        "path": str(entry.path),
        "variant": variant,
        "options": {
            "time_limit": limit,
            "threads": arguments.threads,
            "seed": seed,
            "device": arguments.device,
        },
    }
    command = [sys.executable, "-m", "benchmarks.mip_variants", ".", "--child", json.dumps(task)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit + PATIENCE)
        told = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError):
        told = {"objective": None, "events": [], "sense": 1.0, "seconds": limit, "proven": False}
    gap = primal_gap(told["objective"], entry.best, told["sense"])
    integral = primal_integral(told["events"], entry.best, limit, told["sense"]) / limit
    run = Run(
        *(entry.name, variant, seed, told["objective"], gap, integral),
        *(told["seconds"], told["proven"]),
    )
    print(
        f"{run.model:34s} {variant or 'as it is':34s} seed {seed} gap {gap:.4f} P/T {integral:.4f} "
        f"{run.seconds:.1f} s{' proven' if run.proven else ''}",
        flush=True,
    )
    return run


def _child(task: dict[str, object]) -> None:
    """Solve one model with other constants, and tell of it in a line."""
    import numpy as np

    import gpu_bridge as gb

    for change in filter(None, str(task["variant"]).split(",")):
        name, _, value = change.partition("=")
        module, _, constant = name.strip().rpartition(".")
        setattr(importlib.import_module(module), constant, float(value))
    options = dict(task["options"])  # type: ignore[call-overload]
    problem = gb.read(str(task["path"]))
    small = gb.Problem.from_arrays(
        -np.arange(1.0, 41.0), np.ones((2, 40)), -np.inf, 20.5, upper=1.0, integrality=True
    )
    gb.solve(small, **{**options, "time_limit": 3.0})
    outcome = gb.solve(problem, **options)
    events = [[one.seconds, one.incumbent] for one in outcome.history if one.incumbent is not None]
    has_point = bool(np.isfinite(outcome.objective))
    told = {
        "objective": outcome.objective if has_point else None,
        "events": [event for event in events if np.isfinite(event[1])],
        "sense": -1.0 if problem.maximize else 1.0,
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--instances", nargs="+", default=[])
    parser.add_argument("--variants", nargs="+", default=[""])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--stop-after", type=float, default=float("inf"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
