"""Times of the simplex solvers by model and size, as in figure 2 of the paper.

    python -m benchmarks.simplex_plot RECORD.json OUTPUT.png

RECORD.json is what ``python -m benchmarks.simplex`` wrote. Models stand in the paper's groups, by
their larger side after presolve, and within a group by HiGHS's time where it was measured; whiskers
go from the fastest to the slowest repeat, and what was not solved stands hollow at the limit.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.simplex_rows import Run

GROUPS = {"small": "at most 1,000", "medium": "at most 10,000", "large": "more"}
COLOURS = {
    "cpu": "#999999",
    "naive": "#b8860b",
    "resident": "#8e5bb5",
    "graphs": "#1f6fb4",
    "dense": "#0b3d66",
    "highs": "#d1631b",
}
MARKS = dict(zip(COLOURS, "XPsoD^", strict=True))
DPI = 150
WIDTH_PER_MODEL = 0.19


def draw(runs: Sequence[Run], limit: float, path: Path) -> None:
    """Draw seconds per model, one panel for each size that there is."""
    groups = {group: _models(runs, group) for group in GROUPS}
    groups = {group: models for group, models in groups.items() if models}
    widths = [max(8, len(models)) for models in groups.values()]
    figure = Figure(
        figsize=(2.0 + WIDTH_PER_MODEL * sum(widths), 5.2), dpi=DPI, layout="constrained"
    )
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False, width_ratios=widths)[0]
    solvers = [name for name in COLOURS if any(run.solver == name for run in runs)]
    for axes, (group, models) in zip(panels, groups.items(), strict=True):
        for solver in solvers:
            _draw_solver(axes, [run for run in runs if run.solver == solver], models, limit)
        axes.set_yscale("log")
        axes.set_xticks(range(len(models)), models, rotation=90, fontsize="x-small")
        axes.grid(True, axis="y", linewidth=0.4, alpha=0.5)
        axes.set_title(f"{group}: {GROUPS[group]} rows and columns", fontsize="small")
    panels[0].set_ylabel("seconds, without presolve")
    for solver in solvers:
        panels[0].plot([], [], MARKS[solver], color=COLOURS[solver], label=solver)
    figure.legend(loc="outside lower center", ncols=len(solvers), fontsize="small", frameon=False)
    figure.savefig(path)


def _draw_solver(axes: Any, runs: Sequence[Run], models: Sequence[str], limit: float) -> None:
    places = {model: place for place, model in enumerate(models)}
    for run in runs:
        if run.model not in places:
            continue
        place, colour = places[run.model], COLOURS[run.solver]
        if run.solved and run.slowest > run.fastest:
            axes.plot([place] * 2, [run.fastest, run.slowest], "-", color=colour, linewidth=0.8)
        axes.plot(
            place,
            run.seconds if run.solved else limit,
            MARKS[run.solver],
            color=colour,
            markersize=4,
            markerfacecolor=colour if run.solved else "none",
        )


def _models(runs: Sequence[Run], group: str) -> list[str]:
    """Return the models of a group by HiGHS's time, or by size where it was not measured."""
    own = [run for run in runs if run.size_class == group]
    times = {run.model: run.seconds for run in own if run.solver == "highs"}
    sizes = {run.model: run.nonzeros for run in own}
    return sorted(sizes, key=lambda model: (times.get(model, 0.0), sizes[model], model))


def runs_of(record: dict[str, Any]) -> list[Run]:
    """Return the rows of a record; what later versions add to them is left out."""
    known = {field.name for field in fields(Run)}
    return [Run(**{k: v for k, v in row.items() if k in known}) for row in record["rows"]]


def main() -> None:
    """Draw the figure of a record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("record", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    record = json.loads(arguments.record.read_text(encoding="utf-8"))
    draw(runs_of(record), record["time_limit"], arguments.output)


if __name__ == "__main__":
    main()
