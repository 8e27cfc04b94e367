"""Pictures and tables of the documentation, made from the records in ``benchmarks/results``.

    python -m benchmarks.plots [--results benchmarks/results] [--docs docs]

Records of one device that measure the same are joined; of two results for the same model, solver
and tolerance the newer one counts. Pictures go to ``docs/images/pdlp-*.png`` and the page
``docs/pdlp-results.md`` is written anew, with what there are records for: a part for the GPU with
the newest record, where the figures of other solvers recorded earlier stand beside ours, and one
for the CPU with the newest record. Runs of several solvers side by side follow: families, and
models for reporting. There all solvers' figures for a model come from the newest run that had it,
on whichever GPU, and each GPU has a part.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import pdlp, per_iteration, plots_lp, plots_page
from benchmarks.comparison import Comparison, Iterations, SideBySide
from benchmarks.peers import recorded
from benchmarks.per_iteration import Cost
from benchmarks.record import RESULTS
from benchmarks.rows import Row

KINDS = ("cuda", "cpu")
DOCS = RESULTS.parent.parent / "docs"
PAGE = "pdlp-results.md"
LIMIT = 15.0
"""Time limit of the figures recorded earlier, in seconds."""

NEARLY_ALL = 0.9
"""Part of the models that a solver must have run to be compared: a benchmark that ran out of time
says nothing about the rest."""


SIDE_BY_SIDE = {
    "families": "Families, made on the spot",
    "pdlp-held-out": "Linear programs for reporting",
    "pdlp-relaxations": "Relaxations of mixed-integer models for reporting",
}
"""Benchmarks whose records have solvers side by side, and what they were run on."""


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
    comparisons = [found for kind in KINDS if (found := read_comparison(results, kind))]
    iterations = [costs for kind in KINDS if (costs := read_iterations(results, kind))]
    written = [path for one in comparisons for path in _draw_comparison(one, images)]
    for measured in iterations:
        path = images / f"pdlp-{measured.kind}-iteration.png"
        plots_lp.draw_iterations(measured.costs, measured.bandwidth, path)
        written.append(path)
    page = docs / PAGE
    page.write_text(
        plots_page.text(comparisons, iterations, read_side_by_side(results)), encoding="utf-8"
    )
    return [*written, page]


def _draw_comparison(one: Comparison, images: Path) -> list[Path]:
    paths = []
    for tolerance in one.tolerances:
        path = images / f"pdlp-{one.kind}-time-{tolerance:.0e}.png"
        plots_lp.draw_times(one.rows, one.models, tolerance, path)
        paths.append(path)
    path = images / f"pdlp-{one.kind}-profile.png"
    plots_lp.draw_profiles(one.rows, one.models, one.tolerances, one.limit, path)
    return [*paths, path]


def _completed(
    rows: dict[tuple[str, str, float], Row], models: dict[str, None]
) -> tuple[dict[tuple[str, str, float], Row], dict[str, None]]:
    """Leave out models that nobody ran, and solvers that time did not allow to run nearly all."""
    if not rows:
        return rows, models
    run = {model for model, _, _ in rows}
    models = {model: None for model in models if model in run}
    per_solver: dict[str, set[str]] = {}
    for model, solver, _ in rows:
        per_solver.setdefault(solver, set()).add(model)
    enough = {name for name, ran in per_solver.items() if len(ran) >= NEARLY_ALL * len(models)}
    return {key: row for key, row in rows.items() if key[1] in enough}, models


def read_comparison(results: Path, kind: str) -> Comparison | None:
    """Join the records of :mod:`benchmarks.pdlp` on a kind of device; None if there is none.

    Figures recorded earlier join those of a GPU, and stand alone where there are none.
    """
    records = _of_one_device(results, pdlp.NAME, kind)
    rows: dict[tuple[str, str, float], Row] = {}
    models: dict[str, None] = {}
    earlier = recorded.read_recorded(recorded.DEFAULT, {}) if kind == "cuda" else []
    if not records:
        models = dict.fromkeys(row.model for row in earlier)
    for record in records:
        models.update(dict.fromkeys(record["models"]))
        for item in record["rows"]:
            row = Row.from_record(item)
            rows[(row.model, row.solver, row.tolerance)] = row
    rows, models = _completed(rows, models)
    for row in earlier:
        if row.model in models:
            rows.setdefault((row.model, row.solver, row.tolerance), row)
    if not rows:
        return None
    sizes = {row.model: row.nonzeros or 0 for row in rows.values()}
    return Comparison(
        kind=kind,
        device=records[-1]["machine"]["device"] if records else "one NVIDIA H200",
        commits=_commits(records),
        models=tuple(sorted(models, key=lambda model: (sizes.get(model, 0), model))),
        limit=float(records[-1]["time limit"]) if records else LIMIT,
        rows=tuple(rows.values()),
    )


def read_side_by_side(results: Path) -> list[SideBySide]:
    """Return the runs of several solvers on a GPU, loosest tolerance first."""
    found = [
        one
        for name, words in SIDE_BY_SIDE.items()
        for one in _side_by_side(_records(results, name, "cuda"), words)
    ]
    order = list(SIDE_BY_SIDE.values())
    return sorted(found, key=lambda one: (order.index(one.words), -one.tolerance, one.limit))


def _side_by_side(records: list[dict[str, Any]], words: str) -> Iterator[SideBySide]:
    """Join records of one GPU, size and limit; of a model the rows of the newest record count."""
    newest: dict[Any, tuple[dict[str, Any], list[Row]]] = {}
    for record in records:
        rows = [Row.from_record(item) for item in record["rows"]]
        for tolerance, model in dict.fromkeys((row.tolerance, row.model) for row in rows):
            here = [row for row in rows if (row.tolerance, row.model) == (tolerance, model)]
            if any(not row.solver.startswith("gpu-bridge") for row in here):
                size = tuple(record.get("nonzeros", ()))
                newest[tolerance, size, model] = record, here
    groups: dict[Any, dict[str, tuple[dict[str, Any], list[Row]]]] = {}
    for (tolerance, size, model), (record, here) in newest.items():
        key = tolerance, size, float(record["time limit"]), record["machine"]["device"]
        groups.setdefault(key, {})[model] = record, here
    for (tolerance, _, limit, device), found in groups.items():
        rows = [row for _, here in found.values() for row in here]
        sizes = {row.model: row.nonzeros or 0 for row in rows}
        yield SideBySide(
            words=words,
            device=device,
            commits=_commits([record for record, _ in found.values()]),
            models=tuple(sorted(found, key=lambda model: (sizes[model], model))),
            limit=limit,
            tolerance=tolerance,
            rows=tuple(rows),
        )


def read_iterations(results: Path, kind: str) -> Iterations | None:
    """Join the records of :mod:`benchmarks.per_iteration` on a kind of device, if any."""
    records = _of_one_device(results, per_iteration.NAME, kind)
    costs: dict[tuple[str, str], Cost] = {}
    for record in records:
        for item in record["rows"]:
            cost = Cost(**item)
            costs[(cost.program, cost.solver)] = cost
    if not costs:
        return None
    return Iterations(
        kind=kind,
        device=records[-1]["machine"]["device"],
        commits=_commits(records),
        bandwidth=float(records[-1]["copy bytes per second"]),
        cache=int(records[-1]["cache bytes"]),
        costs=tuple(sorted(costs.values(), key=lambda cost: (cost.nonzeros, cost.program))),
    )


def _of_one_device(results: Path, name: str, kind: str) -> list[dict[str, Any]]:
    """Return the records of that name from the device with the newest one, oldest first."""
    records = _records(results, name, kind)
    device = records[-1]["machine"]["device"] if records else None
    return [record for record in records if record["machine"]["device"] == device]


def _records(results: Path, name: str, kind: str) -> list[dict[str, Any]]:
    """Return the records of that name from all devices of a kind, oldest first."""
    paths = sorted(results.glob(f"{name}-*.json"))
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return sorted(
        (one for one in records if one["benchmark"] == name and one["machine"]["kind"] == kind),
        key=lambda record: str(record["time"]),
    )


def _commits(records: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(record["commit"] for record in records))


if __name__ == "__main__":
    main()
