"""Figures of other solvers that were recorded earlier, read from a CSV file.

Columns: ``instance, solver, work, tolerance, status, objective, seconds, iterations,
microseconds_per_iteration, relative_primal, relative_dual, relative_gap``,
and ``nonzeros`` where they are known. Rows about
mixed-integer work are left out. Residuals are those of an independent recheck, and empty where
no point was at hand.
"""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.rows import Row, relative_error

WORK = ("lp", "lp relaxation")
DEFAULT = Path(__file__).parent / "h200.csv"
"""Figures recorded on one NVIDIA H200."""


def read_recorded(path: Path, optima: dict[str, float]) -> list[Row]:
    """Return the rows of a file; ``optima`` are the known optimal objectives by model."""
    with path.open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["work"] in WORK]
    return [_row(line, optima) for line in lines]


def _row(line: dict[str, str], optima: dict[str, float]) -> Row:
    objective = _number(line["objective"])
    residuals = [_number(line[f"relative_{name}"]) for name in ("primal", "dual", "gap")]
    iterations = _number(line["iterations"])
    return Row(
        model=line["instance"],
        solver=line["solver"].replace("cupdlpx", "cuPDLPx").replace("cuopt", "cuOpt"),
        tolerance=float(line["tolerance"]),
        status=line["status"].lower().replace(" limit reached", "_limit"),
        seconds=float(line["seconds"]),
        iterations=None if iterations is None else int(iterations),
        microseconds=_number(line["microseconds_per_iteration"]),
        primal=residuals[0],
        dual=residuals[1],
        gap=residuals[2],
        objective=objective,
        objective_error=relative_error(objective, optima.get(line["instance"])),
        nonzeros=int(line["nonzeros"]) if line.get("nonzeros") else None,
        recorded=True,
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
