"""Pictures and tables of the documentation, made from the records in ``benchmarks/results``.

    python -m benchmarks.plots [--results benchmarks/results] [--docs docs]

Records of one device that measure the same are joined; of two results for the same model, solver
and tolerance the newer one counts. Pictures go to ``docs/images/pdlp-*.png`` and the page
``docs/pdlp-results.md`` is written anew, with what there are records for. Where there are records
of a GPU they are taken, otherwise those of a CPU.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import pdlp, per_iteration, plots_lp, plots_page
from benchmarks.per_iteration import Cost
from benchmarks.record import RESULTS
from benchmarks.rows import Row

DOCS = RESULTS.parent.parent / "docs"
PAGE = "pdlp-results.md"


@dataclass(frozen=True)
class Comparison:
    """All rows of one device, over the models and under the limit of its newest record."""

    device: str
    commits: tuple[str, ...]
    models: tuple[str, ...]
    limit: float
    rows: tuple[Row, ...]

    @property
    def tolerances(self) -> list[float]:
        """The tolerances of our own rows, loosest first."""
        return sorted({row.tolerance for row in self.rows if not row.recorded}, reverse=True)


@dataclass(frozen=True)
class Iterations:
    """All costs of iterations measured on one device, and its bandwidth in bytes per second."""

    device: str
    commits: tuple[str, ...]
    bandwidth: float
    cache: int
    costs: tuple[Cost, ...]


def main() -> None:
    """Draw what there are records for and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=DOCS)
    arguments = parser.parse_args()
    for path in draw_all(arguments.results, arguments.docs):
        print(f"written: {path}")


def draw_all(results: Path, docs: Path) -> list[Path]:
    """Write the pictures and the page below ``docs``, and return their paths."""
    images = docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    comparison, iterations = read_comparison(results), read_iterations(results)
    written = []
    if comparison is not None:
        for tolerance in comparison.tolerances:
            path = images / f"pdlp-time-{tolerance:.0e}.png"
            plots_lp.draw_times(comparison.rows, comparison.models, tolerance, path)
            written.append(path)
        path = images / "pdlp-profile.png"
        plots_lp.draw_profiles(
            comparison.rows, comparison.models, comparison.tolerances, comparison.limit, path
        )
        written.append(path)
    if iterations is not None:
        path = images / "pdlp-iteration.png"
        plots_lp.draw_iterations(iterations.costs, iterations.bandwidth, path)
        written.append(path)
    page = docs / PAGE
    page.write_text(plots_page.text(comparison, iterations), encoding="utf-8")
    return [*written, page]


def read_comparison(results: Path) -> Comparison | None:
    """Join the records of :mod:`benchmarks.pdlp`; None if there is none."""
    records = _of_one_device(results, pdlp.NAME)
    if not records:
        return None
    rows: dict[tuple[str, str, float], Row] = {}
    models: dict[str, None] = {}
    for record in records:
        models.update(dict.fromkeys(record["models"]))
        for item in record["rows"]:
            row = Row.from_record(item)
            rows[(row.model, row.solver, row.tolerance)] = row
    sizes = {row.model: row.nonzeros or 0 for row in rows.values()}
    return Comparison(
        device=records[-1]["machine"]["device"],
        commits=_commits(records),
        models=tuple(sorted(models, key=lambda model: (sizes.get(model, 0), model))),
        limit=float(records[-1]["time limit"]),
        rows=tuple(rows.values()),
    )


def read_iterations(results: Path) -> Iterations | None:
    """Join the records of :mod:`benchmarks.per_iteration`; None if there is none."""
    records = _of_one_device(results, per_iteration.NAME)
    if not records:
        return None
    costs: dict[tuple[str, str], Cost] = {}
    for record in records:
        for item in record["rows"]:
            cost = Cost(**item)
            costs[(cost.program, cost.solver)] = cost
    return Iterations(
        device=records[-1]["machine"]["device"],
        commits=_commits(records),
        bandwidth=float(records[-1]["copy bytes per second"]),
        cache=int(records[-1]["cache bytes"]),
        costs=tuple(sorted(costs.values(), key=lambda cost: (cost.nonzeros, cost.program))),
    )


def _of_one_device(results: Path, name: str) -> list[dict[str, Any]]:
    """Return the records of that name from one device, oldest first; a GPU's before a CPU's."""
    paths = sorted(results.glob(f"{name}-*.json"))
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    records = sorted(
        (record for record in records if record["benchmark"] == name),
        key=lambda record: (record["machine"]["kind"] == "cuda", record["time"]),
    )
    if not records:
        return []
    device = records[-1]["machine"]["device"]
    return [record for record in records if record["machine"]["device"] == device]


def _commits(records: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record["commit"] for record in records))


if __name__ == "__main__":
    main()
