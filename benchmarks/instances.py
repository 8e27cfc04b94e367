"""Solve every model of an index and compare with its known optimum.

    python -m benchmarks.instances INDEX.csv [--folder netlib] [--method auto] [--time-limit 300]

INDEX.csv has the columns ``name, file, kind, best_objective, optimal_known``; files are relative
to it. Each model is solved in a process of its own, so that a crash costs one line and not the
run. An optimum counts when it is within ``--accuracy`` of the known one; models of the kinds
``infeasible`` and ``unbounded`` must get that status.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.record import Column, print_table, write_record


@dataclass(frozen=True)
class Row:
    """One model's line in the table."""

    name: str
    nonzeros: int
    status: str
    objective: float | None
    relative_error: float | None
    seconds: float
    engine: str
    right: bool
    detail: str


def judge(entry: dict[str, str], found: dict[str, object], accuracy: float) -> Row:
    """Compare one answer with the index."""
    known = float(entry["best_objective"]) if entry["best_objective"] else None
    status = str(found["status"])
    objective = found.get("objective")
    error = None
    if known is not None and isinstance(objective, float):
        error = abs(objective - known) / max(1.0, abs(known))
    if entry["kind"] in ("infeasible", "unbounded"):
        right = status.lower() == entry["kind"]
    else:
        right = status == "OPTIMAL" and (error is None or error <= accuracy)
    return Row(
        entry["name"],
        int(entry["nonzeros"]),
        status,
        objective if isinstance(objective, float) else None,
        error,
        float(str(found.get("seconds", 0.0))),
        str(found.get("engine", "")),
        right,
        str(found.get("detail", "")),
    )


def solve_one(path: str, options: dict[str, object]) -> dict[str, object]:
    """Solve one model in this process, after a small one that loads the engine."""
    import gpu_bridge

    small = gpu_bridge.Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], [1.0])
    method = str(options["method"])
    gpu_bridge.solve(small, method=method, device=str(options["device"]), presolve=False)
    outcome = gpu_bridge.solve(path, explain=False, **options)  # type: ignore[arg-type]
    value = outcome.objective
    return {
        "status": outcome.solution_status.name,
        "objective": None if value != value else value,
        "seconds": outcome.seconds,
        "engine": outcome.engine,
        "detail": outcome.stop_reason.name,
    }


def run_child(path: Path, options: dict[str, object], guard: float) -> dict[str, object]:
    """Solve one model in a child process that may crash or hang."""
    command = [sys.executable, "-m", "benchmarks.instances", "--one", str(path)]
    started = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, json.dumps(options)], capture_output=True, text=True, timeout=guard
        )
    except subprocess.TimeoutExpired:
        return {"status": "HANG", "seconds": guard}
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            return {**json.loads(line[7:]), "wall": time.perf_counter() - started}
    last = (done.stderr.strip().splitlines() or ["no output"])[-1]
    return {"status": "CRASH", "detail": f"exit {done.returncode}: {last[:120]}"}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("--folder", default="", help="only files below this folder of the index")
    parser.add_argument("--kind", default="", help="only models of this kind")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--time-limit", type=float, default=300.0)
    parser.add_argument("--max-nonzeros", type=int, default=2**62)
    parser.add_argument("--accuracy", type=float, default=1e-9)
    parser.add_argument("--name", default="instances", help="name of the record in results/")
    parser.add_argument("--option", action="append", default=[], metavar="K=V")
    arguments = parser.parse_args()
    options: dict[str, object] = {
        "method": arguments.method,
        "device": arguments.device,
        "time_limit": arguments.time_limit,
    }
    for item in arguments.option:
        key, _, text = item.partition("=")
        options[key] = json.loads(text)
    rows = []
    index = Path(arguments.index)
    with index.open(newline="") as file:
        entries = [entry for entry in csv.DictReader(file) if _wanted(entry, arguments)]
    for entry in entries:
        found = run_child(index.parent / entry["file"], options, 2 * arguments.time_limit + 60)
        rows.append(judge(entry, found, arguments.accuracy))
        print(f"{'ok   ' if rows[-1].right else 'WRONG'} {rows[-1]}", flush=True)
    _report(rows, arguments.name, options)
    return 0 if all(row.right for row in rows) else 1


def _wanted(entry: dict[str, str], arguments: argparse.Namespace) -> bool:
    return (
        entry["file"].startswith(arguments.folder)
        and entry["kind"] in ("lp", "mip", "infeasible", "unbounded")
        and (not arguments.kind or entry["kind"] == arguments.kind)
        and int(entry["nonzeros"] or 0) <= arguments.max_nonzeros
    )


def _report(rows: list[Row], name: str, options: dict[str, object]) -> None:
    right = sum(row.right for row in rows)
    print_table(
        f"{name}: {right} of {len(rows)} right",
        [Column(field) for field in ("name", "status", "objective", "error", "seconds", "engine")],
        [
            [row.name, row.status, row.objective, row.relative_error, row.seconds, row.engine]
            for row in rows
        ],
    )
    write_record(name, {"options": options, "right": right, "rows": [asdict(row) for row in rows]})


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        print("RESULT " + json.dumps(solve_one(sys.argv[2], json.loads(sys.argv[3]))))
        sys.exit(0)
    sys.exit(main())
