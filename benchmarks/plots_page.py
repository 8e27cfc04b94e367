"""The page of results in the documentation, written from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.comparison import Comparison, Iterations, SideBySide
from benchmarks.halves import HALVES, half_of, members
from benchmarks.rows import Row, Summary, shifted_geometric_mean, summarise

HEAD = """# PDLP measured

<!-- Written by `python -m benchmarks.plots`; changes made by hand are lost. -->

How the first-order engine stands beside others. [Linear programs by PDLP](pdlp.md) says what it
does and [how this is measured](pdlp.md#measuring-it).

Anything may be tried on the models for *choosing* constants, nothing on those for *reporting*.
Which is which follows from a model's name (`benchmarks/halves.py`). All models below were at hand
when the first constants were chosen, before there were halves; the split holds from then on.
"""

PLACES = {"cuda": "GPU", "cpu": "CPU"}
OURS = "gpu-bridge pdlp"
"""What the others are compared with, by its label in records."""

ITERATIONS_SHIFT = 100.0
"""Iterations added to each count in their shifted geometric mean."""
NOTHING = "\nNothing has been recorded yet.\n"


def text(
    comparisons: Sequence[Comparison],
    iterations: Sequence[Iterations],
    side_by_side: Sequence[SideBySide] = (),
) -> str:
    """Return the page in Markdown."""
    parts = [HEAD]
    if not comparisons and not iterations and not side_by_side:
        parts.append(NOTHING)
    for kind in PLACES:
        parts += [_comparison(one) for one in comparisons if one.kind == kind]
        parts += [_iterations(one) for one in iterations if one.kind == kind]
    parts += [_side_by_side(one) for one in side_by_side]
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
        those = [row for row in rows if row.tolerance == tolerance]
        solvers = list(dict.fromkeys(row.solver for row in those))
        lines += [*_model_table(those, models, solvers), ""]
    lines += [
        f"### {place}, profile",
        "",
        f"![Performance profile]({_image(f'pdlp-{kind}-profile')})",
        "",
    ]
    return "\n".join(lines)


def _side_by_side(one: SideBySide) -> str:
    """Return the part of a run of several solvers, with seconds and iterations of each."""
    solvers = sorted({row.solver for row in one.rows}, key=lambda name: (name != OURS, name))
    halves = [half for half in HALVES if members(one.models, half)]
    lines = [
        f"## {one.words}: tolerance {one.tolerance:g}, {one.limit:g} s, {one.device}",
        "",
        f"{_programs(len(one.models))}, each by all solvers in one run on one GPU"
        f"{_commit_words(one.commits)}. Means are honest ones, over the programs that a solver was "
        "given.",
        "",
        "| solver | programs | solved | verified | mean, s | gpu-bridge there, s | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(_against_ours(one, solver) for solver in solvers),
        "",
        *(line for half in halves for line in _half_line(one, half)),
        *_model_table(one.rows, one.models, solvers),
    ]
    return "\n".join([*lines, ""])


def _programs(number: int) -> str:
    return "1 program" if number == 1 else f"{number} programs"


def _against_ours(one: SideBySide, solver: str) -> str:
    given = [row.model for row in one.rows if row.solver == solver]
    by_solver = {summary.solver: summary for summary in summarise(one.rows, given, one.limit)}
    its, ours = by_solver[solver], by_solver.get(OURS)
    words = f"| {solver} | {its.models} | {its.solved} | {its.verified} | "
    words += f"{_number(its.honest_mean)} | "
    if ours is None or not ours.honest_mean or its.honest_mean is None:
        return f"{words} | |"
    return f"{words}{_number(ours.honest_mean)} | {ours.honest_mean / its.honest_mean:.2f} |"


def _half_line(one: SideBySide, half: str) -> list[str]:
    """Say in a line what a half's models took each solver that was given them."""
    models = members(one.models, half)
    summaries, words = [], []
    for solver in dict.fromkeys(row.solver for row in one.rows if row.model in models):
        own = [row for row in one.rows if row.solver == solver and row.model in models]
        summaries += summarise(own, [row.model for row in own], one.limit)
    for summary in sorted(summaries, key=lambda summary: summary.mean):
        took = [
            float(row.iterations)
            for row in one.rows
            if row.solver == summary.solver and row.model in models and row.iterations
        ]
        mean = shifted_geometric_mean(took, ITERATIONS_SHIFT)
        iterations = f", {mean:,.0f} iterations" if took else ""
        of = "" if summary.models == len(models) else f" ({summary.models})"
        words.append(f"{summary.solver}{of} {_number(summary.honest_mean)} s{iterations}")
    return [f"*{half.capitalize()}* ({len(models)}): {'; '.join(words)}.", ""]


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


def _model_table(rows: Sequence[Row], models: Sequence[str], solvers: Sequence[str]) -> list[str]:
    cells = {(row.model, row.solver): row for row in rows}
    lines = [
        "Seconds, iterations; † marks an answer called optimal that is not within the tolerance.",
        "",
        f"| model | half | nonzeros | {' | '.join(solvers)} |",
        "|---|---|---:|" + "---:|" * len(solvers),
    ]
    for model in models:
        found = [cells.get((model, solver)) for solver in solvers]
        size = next((row.nonzeros for row in found if row and row.nonzeros), "")
        words = " | ".join(map(_cell, found))
        lines.append(f"| {model} | {half_of(model)} | {size} | {words} |")
    return lines


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row.solved:
        words = f"{row.seconds:.3g}" + ("†" if row.verified is False else "")
    else:
        words = row.status.replace("_", " ")
    return f"{words}, {row.iterations:,}" if row.iterations else words


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
