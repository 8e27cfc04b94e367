"""The README's picture and table of how the engines stand beside others, from recorded results.

    python -m benchmarks.plots_readme [--results benchmarks/results] [--readme README.md]

Nothing is measured here: the rows come from the records of ``benchmarks.pdlp``, ``benchmarks.mip``
and ``benchmarks.knapsack``, and each names the command that repeats it. The picture goes to
``docs/images/standing.png`` and the table between the marks in the README.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks import rows as lp_rows
from benchmarks.mip_measures import mean
from benchmarks.plots import read_comparison
from benchmarks.plots_mip import read_groups
from benchmarks.record import RESULTS

ROOT = RESULTS.parent.parent
MARKS = re.compile(r"(<!-- standing -->\n).*?(\n<!-- end of standing -->)", re.S)
OURS, COLOUR, OTHERS = "gpu-bridge", "#00796b", "#b0bec5"
SHORT = re.compile(r" \d+\.[\d.]+|, default|, \d+ threads?| pdlp| spmvop|\+nopresolve")
"""What of a solver's recorded name a table for people leaves out."""

NAMES = {"cuopt": "cuOpt", "cupdlpx": "cuPDLPx, without presolve", "HPR-LP-C": "HPR-LP-C"}
MIP_SETS = (
    ("reporting", 20.0, "cuda", "H100"),
    ("quick", 60.0, "cpu", "2 cores each"),
)
WIDE_MACHINE = "32 cores"
"""Of two records of one set on CPUs the one with all its models."""

CLASSES = "knapsack-classes-*"

HARD_KNAPSACKS = (
    "80 hard knapsack problems of Jooken et al.: proven",
    {OURS: "**80**", "COMBO, by their study": "60"},
    "2 cores, 22 November 2026; [more](docs/knapsack.md#measured)",
    "python -m benchmarks.knapsack files FILE...",
)
"""Told on the page on knapsack problems; their files are not ours to keep a record with."""


@dataclass(frozen=True)
class Standing:
    """One comparison: what was measured, each solver's figure (less is better), where, and how."""

    title: str
    figures: dict[str, float]
    words: dict[str, str]
    place: str
    command: str


def linear(results: Path, tolerance: float) -> Standing:
    """Return the mean seconds to a verified answer of linear programs on a GPU."""
    found = read_comparison(results, "cuda")
    assert found is not None
    summaries = lp_rows.summarise(found.rows, found.models, found.limit)
    figures, words = {}, {}
    for one in summaries:
        if one.tolerance == tolerance and one.honest_mean is not None:
            name = short(one.solver)
            figures[name] = one.honest_mean
            words[name] = f"{one.honest_mean:.2f} s, {one.verified} verified"
    digits = f"{tolerance:.0e}".replace("e-0", "e-")
    return Standing(
        f"{len(found.models)} linear programs to {digits}, {found.limit:g} s each: mean time",
        figures,
        words,
        f"H200, {day(results, 'pdlp-peers-nvidia-*')}; [more](docs/pdlp-results.md)",
        "python -m benchmarks.pdlp --folder DATA",
    )


def integer(results: Path, name: str, limit: float, kind: str, place: str) -> Standing:
    """Return the mean primal gap of the solvers over the models that all of them have run."""
    groups = [one for one in read_groups(results) if (one.name, one.limit) == (name, limit)]
    group = next(
        one for one in groups if one.kind == kind and (kind == "cuda" or WIDE_MACHINE in one.device)
    )
    gaps: dict[str, dict[str, list[float]]] = {}
    for row in group.rows:
        gaps.setdefault(row.solver, {}).setdefault(row.model, []).append(row.gap)
    models = set.intersection(*(set(by) for by in gaps.values()))
    figures = {
        short(solver): mean([mean(by[model]) for model in models]) for solver, by in gaps.items()
    }
    return Standing(
        f"{len(models)} mixed-integer programs, {limit:g} s each: mean gap",
        figures,
        {solver: f"{figure:.3f}" for solver, figure in figures.items()},
        f"{place}, {day(results, f'mip-{name}-{limit:g}s-*')}; [more](docs/mip-results.md)",
        f"python -m benchmarks.mip DATA --set {name} --time-limit {limit:g}",
    )


def knapsack(results: Path) -> tuple[str, dict[str, str], str, str]:
    """Return how many of Pisinger's classes are proven optimal."""
    path = max(results.glob(f"{CLASSES}.json"))
    record = json.loads(path.read_text(encoding="utf-8"))
    words = {}
    for key, name in (("ours", OURS), ("HiGHS", "HiGHS")):
        counts = [row[f"{key} proven"].split("/") for row in record["rows"]]
        words[name] = f"{sum(int(done) for done, _ in counts)}"
        given = sum(int(of) for _, of in counts)
    return (
        f"{given} knapsack problems of Pisinger's classes, {record['time limit']:g} s each: proven",
        words | {OURS: f"**{words[OURS]}**"},
        f"2 cores, {day(results, CLASSES)}; [more](docs/knapsack.md#measured)",
        "python -m benchmarks.knapsack classes --time-limit 2",
    )


def day(results: Path, pattern: str) -> str:
    """Return the day of the newest record of a name."""
    times = (
        json.loads(path.read_text("utf-8"))["time"] for path in results.glob(f"{pattern}.json")
    )
    newest = datetime.fromisoformat(max(times))
    return f"{newest.day} {newest:%B %Y}"


def short(solver: str) -> str:
    """Return a solver's name without version and settings."""
    if solver.startswith(OURS):
        return OURS
    name = SHORT.sub("", solver.partition(" (")[0])
    return NAMES.get(name, name)


def standings(results: Path) -> list[Standing]:
    """Return what is drawn, in the order of the table."""
    return [linear(results, 1e-4), linear(results, 1e-8)] + [
        integer(results, *chosen) for chosen in MIP_SETS
    ]


def table(results: Path) -> str:
    """Return the table in Markdown."""
    lines = [
        "| problems, and what is told | gpu-bridge | beside it | where, when | repeat it |",
        "|---|---|---|---|---|",
    ]
    told = [(one.title, bold(one.words), one.place, one.command) for one in standings(results)]
    for title, words, place, command in [*told, knapsack(results), HARD_KNAPSACKS]:
        others = "; ".join(f"{name} {word}" for name, word in words.items() if name != OURS)
        lines.append(f"| {title} | {words[OURS]} | {others} | {place} | `{command}` |")
    return "\n".join(lines)


def bold(words: dict[str, str]) -> dict[str, str]:
    """Return the words with our own set off."""
    return words | {OURS: f"**{words[OURS]}**"}


def draw(found: list[Standing], path: Path) -> None:
    """Draw a panel of bars for each comparison; shorter bars are better."""
    figure = Figure(figsize=(9.0, 4.4), dpi=110, layout="constrained")
    for axes, one in zip(figure.subplots(2, 2).flat, found, strict=True):
        ordered = sorted(one.figures.items(), key=lambda item: -item[1])
        names, values = zip(*ordered, strict=True)
        bars = axes.barh(names, values, color=[COLOUR if n == OURS else OTHERS for n in names])
        axes.bar_label(bars, [one.words[name] for name in names], padding=3, fontsize=7)
        axes.set_xlim(0.0, 1.45 * max(values))
        axes.set_title(one.title, fontsize=8)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    given = parser.parse_args()
    draw(standings(given.results), given.readme.parent / "docs" / "images" / "standing.png")
    made = table(given.results)
    text = given.readme.read_text(encoding="utf-8")
    given.readme.write_text(
        MARKS.sub(lambda marks: marks[1] + made + marks[2], text), encoding="utf-8"
    )
    print(made)


if __name__ == "__main__":
    main()
