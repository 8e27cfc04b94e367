"""Pictures and tables of the mixed-integer benchmark, made from records in ``benchmarks/results``.

    python -m benchmarks.plots_mip [--results benchmarks/results] [--docs docs]

Records of one device with the same set and time limit are joined; of two runs of a solver on a
model with the same seed the newer one counts. For each group ``docs/images/mip-SET-LIMIT-KIND.png``
shows the mean primal gap over time, the share of models with a point over time, and a profile of
primal integrals; ``docs/mip-results.md`` is written anew with the pictures and a table for each.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.mip_check import FloatArray
from benchmarks.mip_measures import primal_gap
from benchmarks.mip_rows import MipRow, MipSummary, common_models, summarise
from benchmarks.record import RESULTS

DOCS = RESULTS.parent.parent / "docs"
PAGE = "mip-results.md"
OURS = "gpu-bridge"
OUR_COLOURS = ("#1f6fb4", "#0b3d66")
COLOURS = ("#d1631b", "#3a923a", "#8e5bb5", "#b8860b", "#c44e6e", "#5f7f7f")
DPI = 150
MOMENTS = 400
"""Points of time at which gaps are averaged."""

EARLIEST = 0.05
"""Seconds at which the axes of time begin."""

FACTORS = 100.0
"""How many times larger than the best integral the profiles reach to the right."""

INTEGRAL_SHIFT = 1e-3
"""Added to primal integrals (as parts of the limit) before they are compared as ratios, so that
milliseconds on easy models do not count as multiples."""


HEAD = """# Mixed-integer models measured

<!-- Written by `python -m benchmarks.plots_mip`; changes made by hand are lost. -->

How [heuristics beside branch and bound](mip.md) stand beside other solvers, from the records in
`benchmarks/results`. `python -m benchmarks.mip` repeats the measurements. Every point is checked on
the model of the file, absolutely to 1e-6. Figures are means over models of means over seeds.

| word | meaning |
|---|---|
| mean gap | primal gap to the best known objective at the limit; 1 without a point |
| P/T | primal integral over the limit: the mean gap over time |
| P mean | shifted geometric mean of the primal integral, in seconds |
| first point | shifted geometric mean of the time to a point; the limit where there is none |
| best P on | models on which no other solver of the table has a smaller primal integral |
| refuted claims | bounds or infeasibility that a known point contradicts |
| recorded | as that solver told it: on an H100 beside ours, on an H200 in other runs |
| peers | models for which figures of other solvers were recorded |
| mipcc26 | the public models of the Land-Doig MIP Competition 2026 |
| reporting | 17 models, open after 20 s of an earlier version; heuristics were tried on 13 |
| quick | about thirty, each of another family, 500 to 100,000 nonzeros |
| survey, harder | 259 models of MIPLIB and others; the harder ones of them |"""


@dataclass(frozen=True)
class Group:
    """The runs of one set with one limit on one device, over all its records."""

    name: str
    limit: float
    kind: str
    device: str
    commits: tuple[str, ...]
    best: dict[str, float]
    rows: tuple[MipRow, ...]
    conditions: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """Name of the picture's file without its ending."""
        named = re.search(r"\d+ cores" if self.kind == "cpu" else r"[A-Z]\d{2,}", self.device)
        suffix = "" if named is None else f"-{named[0].lower().replace(' ', '-')}"
        return f"mip-{self.name}-{self.limit:g}s-{self.kind}{suffix}"

    @property
    def compared(self) -> tuple[MipRow, ...]:
        """The rows of models that all solvers have run, without figures recorded elsewhere."""
        models = set(common_models(self.rows))
        return tuple(row for row in self.rows if row.model in models and not row.recorded)


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
    """Write pictures and page below ``docs``, and return their paths; nothing without records."""
    groups = read_groups(results)
    if not groups:
        return []
    images = docs / "images"
    images.mkdir(parents=True, exist_ok=True)
    written = [draw(group, images / f"{group.stem}.png") for group in groups]
    page = docs / PAGE
    page.write_text(page_text(groups), encoding="utf-8")
    return [*written, page]


def read_groups(results: Path) -> list[Group]:
    """Return the runs by set, limit and device, oldest record first."""
    documents: dict[tuple[str, float, str, str], list[dict[str, Any]]] = {}
    for path in results.glob("mip-*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        if "rows" not in document or "best" not in document or "settings" not in document:
            continue  # a record of another benchmark whose name begins alike
        machine = document["machine"]
        key = (
            document["set"] or "chosen",
            float(document["settings"]["time_limit"]),
            machine["kind"],
            machine["device"],
        )
        documents.setdefault(key, []).append(document)
    return [_group(key, found) for key, found in sorted(documents.items())]


def _group(key: tuple[str, float, str, str], documents: list[dict[str, Any]]) -> Group:
    rows: dict[tuple[str, str, int], MipRow] = {}
    best: dict[str, float] = {}
    for document in sorted(documents, key=lambda one: str(one["time"])):
        best |= document["best"]
        for record in document["rows"]:
            row = MipRow.from_record(record)
            rows[row.model, row.solver, row.seed] = row
    commits = tuple(dict.fromkeys(str(one["commit"]) for one in documents))
    conditions = tuple(dict.fromkeys(_conditions(one["settings"]) for one in documents))
    return Group(*key, commits, best, tuple(rows.values()), conditions)


def _conditions(settings: dict[str, Any]) -> str:
    """Return under what conditions the runs of a record were made."""
    words = [f"{settings['threads']} threads each"] if settings.get("threads") else []
    if "cores_each" in settings:
        words.append(f"{settings['cores_each']} cores each, {settings['runs_at_once']} at once")
    if "processes_sharing_the_gpu" in settings:
        words.append(f"{settings['processes_sharing_the_gpu']} processes sharing the GPU")
    if "other_runs_on_the_machine" in settings:
        words.append(f"beside {settings['other_runs_on_the_machine']} other runs on one machine")
    return ", ".join(words)


def draw(group: Group, path: Path) -> Path:
    """Draw one group's three panels."""
    figure = Figure(figsize=(13.0, 4.6), dpi=DPI, layout="constrained")
    panels = figure.subplots(1, 3)
    rows = group.compared
    moments = np.geomspace(min(EARLIEST, group.limit / 2), group.limit, MOMENTS)
    for solver, colour in colours(rows).items():
        own = [row for row in rows if row.solver == solver]
        width = 2.2 if solver.startswith(OURS) else 1.3
        style = {"color": colour, "linewidth": width}
        panels[0].plot(moments, mean_gaps(own, group.best, moments), label=solver, **style)
        panels[1].plot(moments, shares_with_point(own, moments), **style)
        ratios = integral_ratios(rows, solver)
        shown = ratios[ratios <= FACTORS]
        shares = np.r_[np.arange(shown.size + 1), shown.size] / ratios.size
        panels[2].step(np.r_[1.0, shown, FACTORS], shares, where="post", **style)
    titles = (
        ("seconds", "mean primal gap"),
        ("seconds", "share of runs with a feasible point"),
        ("times the smallest primal integral", "share of the models"),
    )
    for axes, (across, up) in zip(panels, titles, strict=True):
        axes.set_xscale("log")
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_ylim(0.0, 1.02)
        axes.grid(alpha=0.3, lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    panels[2].set_xlim(1.0, FACTORS)
    figure.suptitle(
        f"{len(common_models(group.rows))} models ({group.name}), {group.limit:g} s, {group.device}"
    )
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    figure.savefig(path)
    return path


def mean_gaps(rows: Sequence[MipRow], best: dict[str, float], moments: FloatArray) -> FloatArray:
    """Return the mean primal gap over all runs at each moment."""
    total = np.zeros(moments.size)
    for row in rows:
        times = np.array([seconds for seconds, _ in row.events])
        gaps = [1.0] + [
            primal_gap(objective, best.get(row.model), row.sense) for _, objective in row.events
        ]
        lowest = np.minimum.accumulate(gaps)
        total += lowest[np.searchsorted(times, moments, side="right")]
    return total / max(1, len(rows))


def shares_with_point(rows: Sequence[MipRow], moments: FloatArray) -> FloatArray:
    """Return the share of runs that have a feasible point at each moment."""
    firsts = np.array([np.inf if row.first is None else row.first for row in rows])
    return np.array([float(np.mean(firsts <= moment)) for moment in moments])


def integral_ratios(rows: Sequence[MipRow], solver: str) -> FloatArray:
    """Return a solver's primal integrals over the best of all, sorted, one for each model."""
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        integral = 1.0 if row.integral is None else row.integral
        values.setdefault(row.model, {}).setdefault(row.solver, []).append(integral)
    ratios = []
    for by in values.values():
        means = {name: float(np.mean(found)) + INTEGRAL_SHIFT for name, found in by.items()}
        ratios.append(means[solver] / min(means.values()))
    return np.sort(np.array(ratios))


def colours(rows: Sequence[MipRow]) -> dict[str, str]:
    """Return a colour for each solver, ours in blue."""
    names = list(dict.fromkeys(row.solver for row in rows))
    ours, others = iter(OUR_COLOURS), iter(COLOURS * len(names))
    return {name: next(ours if name.startswith(OURS) else others) for name in sorted(names)}


def page_text(groups: Sequence[Group]) -> str:
    """Return the page with pictures and tables."""
    parts = [HEAD]
    for group in groups:
        made = [f"Commit {', '.join(group.commits)}", *filter(None, group.conditions)]
        parts += [
            f"## {group.name}, {group.limit:g} s, {group.device}",
            f"![Gap over time and profiles](images/{group.stem}.png)",
            _table(summarise(group.rows)),
            "; ".join(made) + ".",
        ]
    return "\n\n".join(parts) + "\n"


def _table(lines: Sequence[MipSummary]) -> str:
    head = "| solver | models | runs | feasible | mean gap | P/T | P mean (s) | first point (s) "
    head += "| proven optimal | best P on | refuted claims |\n" + "|---" * 11 + "|\n"
    return head + "\n".join(
        f"| {s.solver} | {s.models} | {s.runs} | {s.feasible:.2f} | {s.gap:.4f} "
        f"| {_cell(s.integral, '.4f')} | {_cell(s.integral_mean, '.2f')} "
        f"| {_cell(s.first, '.2f')} | {s.optimal:.2f} | {_cell(s.best, '.0%')} | {s.wrong} |"
        for s in lines
    )


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


if __name__ == "__main__":
    main()
