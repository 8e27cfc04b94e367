"""What the repair of answers is worth that presolve's undoing moves off the tolerance.

    python -m benchmarks.repair FILES... [--tolerance 1e-4 1e-6] [--device auto] [--constants]

Takes answers that are optimal after presolve and miss the tolerance on the model itself, and
compares ``solvers.pdlp.repair`` with going on with PDLP. It counts and does not time: without a
time limit in its way its figures are the same on every machine. ``--constants`` repairs them with
half and twice of each constant of the repair instead, and says how many answers are repaired so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gpu_bridge
from benchmarks.constants import FACTORS
from benchmarks.constants_gpu import changed
from benchmarks.constants_in_source import find
from benchmarks.constants_page import WORDS
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

FILE, TABLE = "solvers/pdlp/repair.py", "pdlp-repair"


def main() -> None:
    """Repair the files' answers and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    if arguments.constants:
        write_record(f"constants-{TABLE}", of_constants(arguments, device), device=device)
        return
    rows = list(repairs(arguments, device))
    if not rows:
        print("There was nothing to do.")
        return
    title = f"Repair of answers on {device.name}"
    print_table(title, [Column(name) for name in rows[0]], [list(row.values()) for row in rows])
    content = {"time limit": arguments.time_limit, "rows": rows}
    write_record("repair", content, device=device, seed=0)


def of_constants(arguments: argparse.Namespace, device: Device) -> Row:
    """Return a record of what half and twice of each constant change of the repaired answers."""
    answers = [one[1:] for one in missed(arguments, device)]
    usual = [_tried(*one) for one in answers]
    constants = [one for one in find("solvers/pdlp") if one.file == FILE or one.name == "AIM"]
    own = [one for one in constants if not one.name.startswith("GPU")]
    rows: list[Row] = []
    for constant in own:
        row = {"constant": constant.key, "value": str(constant.value), "models": len(answers)}
        for factor, word in zip(FACTORS, WORDS, strict=True):
            with changed(constant, factor):
                found = [_tried(*one) for one in answers]
            differ = sum(a != b for a, b in zip(found, usual, strict=True))
            repaired, spent = (sum(column) for column in zip(*found, strict=True))
            row[word] = differ
            row[f"{word}: more"] = f"{repaired} repaired, {spent} iterations" if differ else ""
        print(*row.values(), flush=True)
        rows.append(row)
    repaired, spent = (sum(column) for column in zip(*usual, strict=True))
    print(f"As it is {repaired} of {len(answers)} are repaired, in {spent} iterations.")
    command = "python -m benchmarks.repair FILES --constants --device cpu"
    return {"table": TABLE, "command": command, "rows": rows, "noise": []}


def _tried(problem: Problem, outcome: Outcome, options: EngineOptions) -> tuple[bool, int]:
    """Return whether an answer is repaired, and the iterations it took."""
    mended = repair.repaired(problem, outcome, options, Progress())
    is_good = verify(problem, mended, options).solution_status is SolutionStatus.OPTIMAL
    return is_good, int(mended.statistics.get("repair_iterations", 0))


def repairs(arguments: argparse.Namespace, device: Device) -> Iterator[Row]:
    """Compare repair with more iterations where a postsolved answer misses the tolerance."""
    for path, problem, outcome, options in missed(arguments, device):
        yield _repair_row(path, problem, outcome, options, arguments.time_limit)


def missed(
    arguments: argparse.Namespace, device: Device
) -> Iterator[tuple[Path, Problem, Outcome, EngineOptions]]:
    """Yield the answers that miss the tolerance on the model itself."""
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
            yield path, problem, outcome, options
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
    parser.add_argument("--constants", action="store_true", help="half and twice of each")
    parser.add_argument("--time-limit", type=float, default=40.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
