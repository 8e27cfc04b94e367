"""The page of results in the documentation, written from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.comparison import Comparison, Iterations
from benchmarks.halves import HALVES, members
from benchmarks.rows import Row, Summary, summarise

HEAD = """# PDLP measured

<!-- Written by `python -m benchmarks.plots`; changes made by hand are lost. -->

How the first-order engine stands beside others. [Linear programs by PDLP](pdlp.md) says what it
does and [how this is measured](pdlp.md#measuring-it).

Anything may be tried on the models for *choosing* constants, nothing on those for *reporting*.
Which is which follows from a model's name (`benchmarks/halves.py`). All models below were at hand
when the first constants were chosen, before there were halves; the split holds from then on.
"""

PLACES = {"cuda": "GPU", "cpu": "CPU"}
NOTHING = "\nNothing has been recorded yet.\n"


def text(comparisons: Sequence[Comparison], iterations: Sequence[Iterations]) -> str:
    """Return the page in Markdown."""
    parts = [HEAD]
    if not comparisons and not iterations:
        parts.append(NOTHING)
    for kind in PLACES:
        parts += [_comparison(one) for one in comparisons if one.kind == kind]
        parts += [_iterations(one) for one in iterations if one.kind == kind]
    return "\n".join(parts)


def _comparison(comparison: Comparison) -> str:
    models, rows, kind = comparison.models, comparison.rows, comparison.kind
    place = PLACES[kind]
    earlier = any(row.recorded for row in rows)
    lines = [
        f"## {PLACES[comparison.kind]}: time to an answer",
        "",
        f"{len(models)} linear programs on {comparison.device}, {comparison.limit:g} s "
        f"each{_commit_words(comparison.commits)}. *Solved* counts answers that the solver calls "
        "optimal, *verified* those of them whose three residuals hold at the tolerance on the "
        "program of the file. *Mean* is the shifted geometric mean of the seconds (shift 1 s) "
        "with what is not solved counted at the limit; *honest mean* counts there what is not "
        "verified.",
        "",
        *(["Solvers marked * were recorded earlier on an NVIDIA H200.", ""] if earlier else []),
    ]
    recorded = {row.solver for row in rows if row.recorded}
    summaries = summarise(rows, models, comparison.limit)
    for tolerance in comparison.tolerances:
        here = [one for one in summaries if one.tolerance == tolerance]
        lines += [f"### {place}, tolerance {tolerance:g}", "", *_summary_table(here, recorded), ""]
        lines += [*_halves_table(comparison, tolerance), ""]
        lines += [f"![Time per model]({_image(f'pdlp-{kind}-time-{tolerance:.0e}')})", ""]
        lines += [*_model_table(rows, models, tolerance), ""]
    lines += [
        f"### {place}, profile",
        "",
        f"![Performance profile]({_image(f'pdlp-{kind}-profile')})",
        "",
    ]
    return "\n".join(lines)


def _summary_table(summaries: Iterable[Summary], recorded: set[str]) -> list[str]:
    lines = [
        "| solver | solved | verified | mean, s | honest mean, s | us per iteration (median) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for one in summaries:
        star = " *" if one.solver in recorded else ""
        lines.append(
            f"| {one.solver}{star} | {one.solved} of {one.models} | "
            f"{'' if one.verified is None else one.verified} | {one.mean:.3g} | "
            f"{_number(one.honest_mean)} | {_number(one.microseconds)} |"
        )
    return lines


def _halves_table(comparison: Comparison, tolerance: float) -> list[str]:
    """Return what the solvers come to on either half of the models."""
    rows = [row for row in comparison.rows if row.tolerance == tolerance]
    found = {
        half: {
            one.solver: one
            for one in summarise(rows, members(comparison.models, half), comparison.limit)
        }
        for half in HALVES
    }
    titles = [f"{words}, {half}" for half in HALVES for words in ("solved", "mean, s")]
    lines = [f"| solver | {' | '.join(titles)} |", "|---|" + "---:|" * len(titles)]
    for solver in dict.fromkeys(row.solver for row in rows):
        halves = [found[half].get(solver) for half in HALVES]
        cells = [
            cell
            for one in halves
            for cell in (
                ("", "") if one is None else (f"{one.solved} of {one.models}", _number(one.mean))
            )
        ]
        lines.append(f"| {solver} | {' | '.join(cells)} |")
    return lines


def _model_table(rows: Sequence[Row], models: Sequence[str], tolerance: float) -> list[str]:
    solvers = list(dict.fromkeys(row.solver for row in rows if row.tolerance == tolerance))
    cells = {(row.model, row.solver): row for row in rows if row.tolerance == tolerance}
    lines = [
        "Seconds; † marks an answer called optimal that is not within the tolerance.",
        "",
        "| model | nonzeros | " + " | ".join(solvers) + " |",
        "|---|---:|" + "---:|" * len(solvers),
    ]
    for model in models:
        found = [cells.get((model, solver)) for solver in solvers]
        size = next((row.nonzeros for row in found if row and row.nonzeros), "")
        lines.append(f"| {model} | {size} | " + " | ".join(map(_cell, found)) + " |")
    return lines


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if not row.solved:
        return row.status.replace("_", " ")
    return f"{row.seconds:.3g}" + ("†" if row.verified is False else "")


def _iterations(iterations: Iterations) -> str:
    picture = _image(f"pdlp-{iterations.kind}-iteration")
    lines = [
        f"## {PLACES[iterations.kind]}: cost of an iteration",
        "",
        f"On {iterations.device}, whose memory copies at {iterations.bandwidth / 1e9:,.0f} GB/s"
        f"{_commit_words(iterations.commits)}. *Roofline* is the time that the bytes of an "
        "iteration would take at that speed over the time it took; programs marked ° fit the "
        f"cache of {iterations.cache / 2**20:.0f} MiB, which is faster than memory.",
        "",
        f"![Microseconds per iteration against nonzeros]({picture})",
        "",
        "| program | nonzeros | solver | us per iteration | GB/s | roofline |",
        "|---|---:|---|---:|---:|---:|",
    ]
    for cost in iterations.costs:
        lines.append(
            f"| {cost.program} | {cost.nonzeros} | {cost.solver} | {cost.microseconds:.3g} | "
            f"{cost.bytes / cost.microseconds / 1e3:.3g} | {100 * cost.share:.0f} %"
            f"{'°' if cost.in_cache else ''} |"
        )
    return "\n".join([*lines, ""])


def _commit_words(commits: Sequence[str]) -> str:
    names = ", ".join(f"`{commit}`" for commit in commits)
    return f" (commit{'s' * (len(commits) > 1)} {names})" if commits else ""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _image(stem: str) -> str:
    return f"images/{stem}.png"
