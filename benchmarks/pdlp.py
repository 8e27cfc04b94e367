"""PDLP on model files: time and iterations to a verified answer, with HiGHS in the same run.

    python -m benchmarks.pdlp FILES_OR_FOLDERS... [--device auto] [--tolerance 1e-4 1e-6]
        [--time-limit 60] [--no-presolve] [--peers simplex pdlp]

All engines get the same problem, by default after HiGHS's presolve (whose time is not counted)
and with their own presolve off. Every answer, ours and the peers', goes through
``gpu_bridge.verify`` at the tolerance of its row: 'optimal' means that it passed there. Our
kernels are loaded and compiled by a small problem before the first file.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from gpu_bridge import presolve
from gpu_bridge.verify import verify
from solvers import highs, pdlp
from solvers.device import Device, find_device
from solvers.errors import GpuBridgeError
from solvers.options import EngineOptions
from solvers.outcome import Outcome
from solvers.problem import Problem
from solvers.progress import Progress

SUFFIXES = (".mps", ".mps.gz", ".lp", ".lp.gz")

Engine = Callable[[Problem, EngineOptions, Progress], Outcome]


def main() -> None:
    """Run every file with every engine and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    warm_up(device)
    rows = []
    for path in model_files(arguments.files):
        problem = load(path, arguments.presolve)
        if problem is None:
            continue
        for tolerance in arguments.tolerance:
            rows += run_all(path, problem, tolerance, device, arguments)
    if not rows:
        print("Nothing was left to solve.")
        return
    print_table(
        f"PDLP and its peers on {device.name}",
        [Column(title) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    content = {
        "tolerance": arguments.tolerance,
        "time limit": arguments.time_limit,
        "presolve": arguments.presolve,
        "rows": rows,
    }
    write_record("pdlp", content, device=device, seed=arguments.seed)


def run_all(
    path: Path, problem: Problem, tolerance: float, device: Device, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return a row for our engine and one for each peer."""
    ours = EngineOptions(device=device.kind, tolerance=tolerance, seed=arguments.seed)
    runs: list[tuple[str, Engine, EngineOptions]] = [("gpu-bridge pdlp", pdlp.solve, ours)]
    for algorithm in arguments.peers:
        options = EngineOptions(
            tolerance=tolerance, presolve=False, lp_algorithm=algorithm, crossover="off"
        )
        runs.append((f"highs {algorithm}", highs.solve, options))
    return [
        {"model": path.name.partition(".")[0], "tolerance": tolerance, "engine": name}
        | run(problem, engine, options, arguments.time_limit)
        for name, engine, options in runs
    ]


def run(
    problem: Problem, engine: Engine, options: EngineOptions, time_limit: float
) -> dict[str, Any]:
    """Solve once and return what came of it, verified."""
    began = time.perf_counter()
    outcome = engine(problem, options, Progress(time_limit))
    seconds = time.perf_counter() - began
    checked = verify(problem, outcome, options)
    return {
        "status": checked.solution_status.name.lower(),
        "stopped": outcome.stop_reason.name.lower(),
        "seconds": seconds,
        "iterations": _iterations(outcome),
        "objective": checked.objective,
        "primal": checked.residuals.primal_relative,
        "dual": checked.residuals.dual_relative,
        "gap": checked.residuals.gap_relative,
    }


def load(path: Path, reduce: bool) -> Problem | None:
    """Read a model's relaxation, reduced if asked for; None if nothing is left to solve."""
    try:
        problem = gpu_bridge.read(path).relaxation()
    except GpuBridgeError as error:
        print(f"{path.name}: {error}")
        return None
    if not reduce:
        return problem
    reduction = presolve.apply(problem, Progress())
    return None if reduction.settled is not None else reduction.problem


def model_files(names: Sequence[str]) -> list[Path]:
    """Return the model files named, folders replaced by the model files in them."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        found += [item for item in inside if item.name.lower().endswith(SUFFIXES)]
    return found


def warm_up(device: Device) -> None:
    """Load and compile what the first solve would otherwise pay for."""
    problem = Problem.from_arrays(np.ones(3), np.eye(3), 1.0, 2.0)
    pdlp.solve(problem, EngineOptions(device=device.kind), Progress())


def _iterations(outcome: Outcome) -> int:
    found = [int(v) for k, v in outcome.statistics.items() if "iterations" in k]
    return max(found, default=0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", help="MPS or LP files, or folders of them")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--tolerance", type=float, nargs="+", default=[1e-4, 1e-6])
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--peers", nargs="*", default=["simplex", "pdlp"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--presolve", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
