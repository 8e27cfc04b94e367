"""What leaving columns out could save PDLP: how many stay at a bound, and from when on.

    python -m benchmarks.pdlp_idle FOLDER MODEL... [--tolerance 1e-4] [--iteration-limit 50000]

FOLDER holds INSTANCES.csv (see ``lp_sets.py``), and MODEL is a name or a set of it. A column that
has come to its bound and stays there until the end takes no part in what follows; an iteration
without its entries would move fewer bytes. For every model this counts, at each check, the entries
of columns that are at the bound at which they end, and never leave it again: the *idle* entries.
Their mean share over the whole solve is what a perfect oracle could leave out, and thereby a
bound on what any rule for compaction could. Nothing is timed.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

import gpu_bridge
from benchmarks.lp_sets import choose, read_index
from benchmarks.record import Column, print_table, write_record
from solvers import pdlp, presolve
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress

SIDES = npt.NDArray[np.int8]
WITHOUT = pdlp.Settings().changed(shrinking={"enabled": False})
"""The engine without what this is to judge."""

TITLES = ("model", "nonzeros", "iterations", "checks", "at a bound", "idle at half", "idle in mean")


class _Watch:
    """Notes at each check on which bound every column is: -1, 1, or 0 for neither."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original
        self.sides: list[SIDES] = []

    def __call__(self, loop: Any) -> Any:
        outcome = self.original(loop)
        loop.blocks.drain()
        there = loop.state.problem
        x = there.columns_to_host(loop.state.x.projection)
        low, high = there.original.lower, there.original.upper
        self.sides.append((x >= high).astype(np.int8) - (x <= low).astype(np.int8))
        return outcome


def measure(name: str, problem: Problem, tolerance: float, limit: int) -> dict[str, Any] | None:
    """Return the shares of idle entries of one model; None if it is not solved in time."""
    reduction = presolve.apply(problem, Progress(), "light")
    if reduction.settled is not None:
        return None
    reduced = reduction.problem
    loop = importlib.import_module("solvers.pdlp.loop")
    watch = _Watch(loop._after_check)
    options = EngineOptions(device="cpu", tolerance=tolerance, iteration_limit=limit)
    with mock.patch.object(loop, "_after_check", watch):
        outcome = pdlp.solve(reduced, options, Progress(), settings=WITHOUT)
    if outcome.stop_reason.name != "CONVERGED" or not watch.sides:
        return None
    sides = np.array(watch.sides)
    stays = np.logical_and.accumulate((sides == sides[-1])[::-1], axis=0)[::-1]
    entries = np.diff(reduced.matrix_csc.indptr) / max(1, reduced.num_nonzeros)
    idle = (stays & (sides[-1] != 0)) @ entries
    return {
        "model": name,
        "nonzeros": reduced.num_nonzeros,
        "iterations": int(outcome.statistics["iterations"]),
        "checks": len(sides),
        "at a bound": float((sides[-1] != 0) @ entries),
        "idle at half": float(idle[len(idle) // 2]),
        "idle in mean": float(idle.mean()),
    }


def main() -> None:
    """Measure every model, print a table and record it."""
    arguments = _arguments()
    rows = []
    for entry in choose(read_index(arguments.folder), arguments.models):
        problem = gpu_bridge.read(entry.path).relaxation()
        row = measure(entry.name, problem, arguments.tolerance, arguments.iteration_limit)
        print(row or f"{entry.name}: not solved within the limit", flush=True)
        rows += [] if row is None else [row]
    print_table(
        "Shares of the entries", [Column(title, 3) for title in TITLES],
        [[row[title] for title in TITLES] for row in rows],
    )  # fmt: skip
    mean = float(np.mean([row["idle in mean"] for row in rows])) if rows else None
    print(f"idle in mean over {len(rows)} models: {mean}")
    write_record("pdlp-idle", {"tolerance": arguments.tolerance, "rows": rows, "mean": mean})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--iteration-limit", type=int, default=50_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
