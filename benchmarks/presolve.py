"""What presolve costs and saves: CPU seconds, sizes, and PDLP's iterations on what is left.

    python -m benchmarks.presolve FILES_OR_FOLDERS... [--kinds none light highs both]
        [--repeat 1] [--iterations 20000] [--tolerance 1e-4] [--device cpu]
        [--max-nonzeros 150000]

Every model's relaxation is reduced by each kind of presolve, solved by PDLP there unless
``--iterations 0``, and brought back; 'verified' says whether the point that came back is optimal
within the tolerance on the original model, by ``gpu_bridge.verify.verify``. PDLP's loops are
loaded by a small model before the first file.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.record import Column, print_table, write_record
from gpu_bridge.verify.verify import verify
from solvers import pdlp, presolve
from solvers.core.device import find_device
from solvers.core.errors import GpuBridgeError
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress

SUFFIXES = (".mps", ".mps.gz", ".lp", ".lp.gz")

SHIFT = 100.0
"""Shift of the geometric mean of iterations."""


def main() -> None:
    """Run every file with every kind and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    pdlp.solve(_small(), EngineOptions(device=device.kind), Progress())
    rows: list[dict[str, Any]] = []
    for path in model_files(arguments.files):
        try:
            problem = gpu_bridge.read(path).relaxation()
        except GpuBridgeError as error:
            print(f"{path.name}: {error}")
            continue
        if arguments.min_nonzeros <= problem.num_nonzeros <= arguments.max_nonzeros:
            name = path.name.partition(".")[0]
            rows += [{"model": name} | run(problem, kind, arguments) for kind in arguments.kinds]
            for row in rows[-len(arguments.kinds) :]:
                print(row, flush=True)
    print_table(
        "Presolve and what is left",
        [Column(title) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    totals = [summary(rows, kind, arguments.iterations) for kind in arguments.kinds]
    print_table(
        "In all",
        [Column(title) for title in totals[0]],
        [list(total.values()) for total in totals],
    )
    asked = {name: value for name, value in vars(arguments).items() if name != "files"}
    content = {"options": asked, "totals": totals, "rows": rows}
    write_record("presolve", content, device=device)


def run(problem: Problem, kind: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Reduce, solve and bring back one model."""
    seconds = np.inf
    for _ in range(arguments.repeat):
        began = time.process_time()
        reduction = presolve.apply(problem, Progress(), kind)
        seconds = min(seconds, time.process_time() - began)
    left = reduction.problem
    row: dict[str, Any] = {
        "presolve": kind,
        "seconds": seconds,
        "rows": left.num_rows,
        "columns": left.num_columns,
        "nonzeros": left.num_nonzeros,
        "settled": reduction.settled is not None,
        "iterations": 0,
        "solve seconds": 0.0,
        "verified": "",
    }
    if arguments.iterations == 0:
        return row
    options = EngineOptions(
        device=arguments.device,
        tolerance=arguments.tolerance,
        iteration_limit=arguments.iterations,
    )
    began = time.perf_counter()
    answer = reduction.settled
    if answer is None:
        norms = pdlp.Norms.of(problem)
        solved = pdlp.solve(left, options, Progress(arguments.time_limit), norms=norms)
        row["iterations"] = int(solved.statistics.get("iterations", 0))
        answer = reduction.undo(solved)
    row["solve seconds"] = time.perf_counter() - began
    row["verified"] = verify(problem, answer, options).solution_status.name.lower()
    return row


def summary(rows: list[dict[str, Any]], kind: str, cap: int) -> dict[str, Any]:
    """Return the totals of a kind; where nothing was verified, iterations count as the cap."""
    own = [row for row in rows if row["presolve"] == kind]
    solved = [row["verified"] in ("optimal", "infeasible", "unbounded") for row in own]
    counts = [row["iterations"] if ok else cap for row, ok in zip(own, solved, strict=True)]
    return {
        "presolve": kind,
        "models": len(own),
        "seconds": sum(row["seconds"] for row in own),
        "nonzeros": sum(row["nonzeros"] for row in own),
        "verified": sum(solved),
        "mean iterations": float(np.exp(np.log(np.array(counts) + SHIFT).mean()) - SHIFT),
    }


def model_files(names: Sequence[str]) -> list[Path]:
    """Return the model files named, folders replaced by the model files in them."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        found += [item for item in inside if item.name.lower().endswith(SUFFIXES)]
    return found


def _small() -> Problem:
    A = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [2.0, 1.0, 3.0]])
    return Problem.from_arrays([1.0, 2.0, 3.0], A, [1.0, 2.0, 3.0], upper=9.0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", help="MPS or LP files, or folders of them")
    parser.add_argument("--kinds", nargs="+", default=list(presolve.KINDS))
    parser.add_argument("--device", default="cpu", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--iterations", type=int, default=20_000, help="cap; 0 solves nothing")
    parser.add_argument("--repeat", type=int, default=1, help="presolves, the fastest counts")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--min-nonzeros", type=int, default=200)
    parser.add_argument("--max-nonzeros", type=int, default=150_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
