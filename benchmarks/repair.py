"""What the repair of answers is worth that presolve's undoing moves off the tolerance.

    python -m benchmarks.repair FILES... [--tolerance 1e-4 1e-6] [--device auto]

Takes answers that are optimal after presolve and miss the tolerance on the model itself, and
compares ``solvers.pdlp.repair`` with going on with PDLP. It counts and does not time: without a
time limit in its way its figures are the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpu_bridge
from benchmarks.presolve import model_files
from benchmarks.record import Column, print_table, write_record
from gpu_bridge.verify.verify import verify
from solvers import pdlp, presolve
from solvers.core.device import Device, find_device
from solvers.core.errors import GpuBridgeError
from solvers.core.options import EngineOptions
from solvers.core.outcome import Outcome, SolutionStatus, Start
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import repair

Row = dict[str, Any]


def main() -> None:
    """Repair the files' answers and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    rows = list(repairs(arguments, device))
    if not rows:
        print("There was nothing to do.")
        return
    title = f"Repair of answers on {device.name}"
    print_table(title, [Column(name) for name in rows[0]], [list(row.values()) for row in rows])
    content = {"time limit": arguments.time_limit, "rows": rows}
    write_record("repair", content, device=device, seed=0)


def repairs(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Compare repair with more iterations where a postsolved answer misses the tolerance."""
    for tolerance in arguments.tolerance or [1e-4, 1e-6]:
        options = EngineOptions(device=device.kind, tolerance=tolerance)
        solved = 0
        for path in model_files(arguments.files):
            problem = read(path)
            if problem is None:
                continue
            outcome = _postsolved(problem, options, arguments.time_limit)
            if outcome is None:
                continue
            solved += 1
            checked = verify(problem, outcome, options)
            if checked.solution_status is SolutionStatus.OPTIMAL:
                continue
            yield _repair_row(path, problem, outcome, options, arguments.time_limit)
        print(f"{solved} answers at {tolerance:g}; the table has those that missed it.")


def _postsolved(problem: Problem, options: EngineOptions, limit: float) -> Outcome | None:
    """Return PDLP's optimum of the presolved problem, brought back; None without one."""
    reduction = presolve.apply(problem, Progress())
    if reduction.settled is not None:
        return None
    outcome = pdlp.solve(reduction.problem, options, Progress(limit))
    if outcome.solution_status is not SolutionStatus.OPTIMAL:
        return None
    return reduction.undo(outcome)


def _repair_row(
    path: Path, problem: Problem, outcome: Outcome, options: EngineOptions, limit: float
) -> Row:
    x = outcome.candidate if outcome.x is None else outcome.x
    found = verify(problem, outcome, options).residuals
    mended = repair.repaired(problem, outcome, options, Progress())
    further = pdlp.solve(problem, options, Progress(limit), Start(x, outcome.row_dual))
    row = {
        "model": path.name.partition(".")[0],
        "tolerance": options.tolerance,
        "primal": found.primal_relative,
        "dual": found.dual_relative,
        "gap": found.gap_relative,
        "repaired": verify(problem, mended, options).solution_status is SolutionStatus.OPTIMAL,
        "cg iterations": mended.statistics.get("repair_iterations"),
        "pdlp further": further.statistics.get("iterations"),
        "pdlp": further.solution_status.name.lower(),
    }
    print(row, flush=True)
    return row


def read(path: Path) -> Problem | None:
    """Read a model's relaxation; None, with a word on it, if it cannot be read."""
    try:
        return gpu_bridge.read(path).relaxation()
    except GpuBridgeError as error:
        print(f"{path.name}: {error}")
        return None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="MPS or LP files, or folders of them")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--tolerance", type=float, nargs="*")
    parser.add_argument("--time-limit", type=float, default=40.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
