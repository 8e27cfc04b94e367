"""Figures of other solvers on mixed-integer models that were recorded earlier, from a CSV file.

Columns: ``instance, solver, work, status, objective, bound, seconds, first_feasible_seconds``;
rows whose ``work`` does not begin with ``mip`` are left out. No points are at hand, so that these
objectives are as the solvers claimed them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.mip_measures import primal_gap
from benchmarks.mip_rows import MipRow

DEFAULT = Path(__file__).parent / "mip_h200.csv"
"""Figures recorded on one NVIDIA H200 with 16 cores."""


def instances(path: Path = DEFAULT) -> list[str]:
    """Return the names of the models with recorded figures."""
    return list(dict.fromkeys(line["instance"] for line in _lines(path)))


def read_recorded(
    path: Path, best: Mapping[str, float], senses: Mapping[str, float]
) -> list[MipRow]:
    """Return the rows about the models in ``senses``, as runs of seed 0.

    Parameters
    ----------
    path : Path
    best, senses : mapping
        Best known objective, and 1 or -1 for the sense, by model.
    """
    return [_row(line, best, senses) for line in _lines(path) if line["instance"] in senses]


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [line for line in csv.DictReader(file) if line["work"].startswith("mip")]


def _row(line: dict[str, str], best: Mapping[str, float], senses: Mapping[str, float]) -> MipRow:
    name, objective = line["instance"], _number(line["objective"])
    limit = re.search(r"([\d.]+) s", line["work"])
    return MipRow(
        model=name,
        solver=f"{line['solver']} (recorded)",
        seed=0,
        limit=float(limit.group(1)) if limit else 0.0,
        status=line["status"].lower().replace(" limit reached", "_limit"),
        feasible=objective is not None,
        sense=senses[name],
        objective=objective,
        bound=_number(line["bound"]),
        gap=primal_gap(objective, best.get(name), senses[name]),
        seconds=float(line["seconds"]),
        first=_number(line["first_feasible_seconds"]),
        recorded=True,
    )


def _number(text: str | None) -> float | None:
    return float(text) if text else None
