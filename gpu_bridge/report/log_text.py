"""The words and columns of the log, as pure functions from data to text.

Nothing here prints; :mod:`gpu_bridge.report.progress` does. The text is plain ASCII without
markup, so that it reads the same on a terminal, in a file and in a notebook.
"""

from __future__ import annotations

import dataclasses
import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

import gpu_bridge
from gpu_bridge.solution_pool import found_by, improvements
from solvers.core.outcome import Event, Residuals, relative_gap

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome
    from gpu_bridge.report.statistics import ModelStatistics, Range


# Versions that a report about a solve should name.


@cache
def versions() -> dict[str, str]:
    """Return versions by name, without importing any engine."""
    from importlib.metadata import version  # takes longer than a small solve

    return {
        "gpu-bridge": gpu_bridge.__version__,
        "HiGHS": version("highspy"),
        "Python": platform.python_version(),
    }


def version_line() -> str:
    """Return the versions on one line."""
    return ", ".join(f"{name} {text}" for name, text in versions().items())


Figures = Mapping[str, float | int | str]

LABEL_WIDTH = 12
TIME_WIDTH = 9
VALUE_WIDTH = 16
FIGURE_WIDTH = 12
STANDING_WIDTH = 20

WIDE_RANGE = 1e9
"""Ratio of largest to smallest coefficient from which the log advises to choose other units."""

OBJECTIVE_FIGURES = frozenset({"objective", "primal_objective", "dual_objective", "bound"})
"""Figures of an iteration that change their sign with the sense of the model."""

EVENT_TITLE = (
    f"{'Time':>{TIME_WIDTH}}{'Incumbent':>{VALUE_WIDTH}}{'Bound':>{VALUE_WIDTH}}"
    f"{'Gap':>9}  Found by"
)


def labelled(label: str, text: str) -> str:
    """Return ``text`` behind a label of fixed width, further lines indented below it."""
    lines = text.splitlines() or [""]
    first = f"{label:<{LABEL_WIDTH}}{lines[0]}"
    return "\n".join([first, *(" " * LABEL_WIDTH + line for line in lines[1:])])


def number(value: float) -> str:
    """Return a value with up to ten digits; a dash where it is unknown or infinite."""
    if not np.isfinite(value):
        return "-"
    if 1e4 < abs(value) < 1e10 and value == int(value):
        return f"{int(value)}"
    return f"{value + 0.0:.10g}"  # adding zero turns -0 into 0


def percentage(gap: float) -> str:
    """Return a relative gap in per cent, short; a dash where it is unknown."""
    if not np.isfinite(gap):
        return "-"
    share = 100.0 * gap
    if share >= 1000.0:
        return "large"
    if share >= 0.01 or share == 0.0:
        return f"{share:.2f}%"
    return f"{share:.4f}%" if share >= 1e-4 else "<0.0001%"


def clock(seconds: float) -> str:
    """Return a time of a solve: tenths of seconds below a minute, then as h:mm:ss."""
    if seconds < 60.0:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def byte_size(count: float) -> str:
    """Return a number of bytes with a fitting unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024.0:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024.0
    return f"{count:.1f} TiB"


def model_lines(statistics: ModelStatistics) -> list[str]:
    """Describe a model: its name, sizes, kinds of rows and columns and coefficient ranges."""
    s = statistics
    columns = {kind: n for kind, n in s.column_kinds.items() if kind not in ("boxed", "empty")}
    sense = "maximize" if s.maximize else "minimize"
    return [
        labelled("Model", f"{s.name or '(no name)'}, {sense}"),
        labelled("Rows", _counted(s.rows, s.row_kinds)),
        labelled("Columns", _counted(s.columns, columns)),
        labelled("Nonzeros", f"{s.nonzeros} ({100.0 * s.density:.3g}% of the matrix)"),
        labelled("Ranges", range_text(s)),
    ]


def range_text(statistics: ModelStatistics) -> str:
    """Return the coefficient ranges of matrix, cost, bounds and sides on one line."""
    return "  ".join(f"{name} {_interval(extent)}" for name, extent in statistics.ranges.items())


def range_advice(statistics: ModelStatistics) -> list[str]:
    """Return a sentence for each group of coefficients whose sizes differ too much."""
    groups = (("matrix", statistics.ranges["matrix"]), ("objective", statistics.ranges["cost"]))
    return [
        f"The {name} coefficients reach from {extent[0]:.0e} to {extent[1]:.0e}; other units for "
        "variables or rows would make the answer more exact."
        for name, extent in groups
        if extent is not None and extent[1] > WIDE_RANGE * extent[0]
    ]


def changed_options(options: object) -> str:
    """Name the options that differ from their defaults; empty when none does."""
    changed = []
    for item in dataclasses.fields(options):  # type: ignore[arg-type]
        value = getattr(options, item.name)
        if value != item.default and item.name not in ("log", "log_file", "notes"):
            changed.append(f"{item.name}={value}")
    return ", ".join(changed)


def event_line(event: Event, is_better: bool = False) -> str:
    """Return one row of the table of improvements, for an event in the model's sense.

    A star marks a better incumbent; other rows tell of a bound.
    """
    gap = percentage(relative_gap(event.incumbent, event.bound))
    mark = "*" if is_better else " "
    return (
        f"{mark}{clock(event.seconds):>{TIME_WIDTH - 1}}{number(event.incumbent):>{VALUE_WIDTH}}"
        f"{number(event.bound):>{VALUE_WIDTH}}{gap:>9}  {event.source}"
    ).rstrip()


def standing_title(runners: Iterable[str]) -> str:
    """Return the heading of the table of engines that race."""
    names = "".join(f"{name:>{STANDING_WIDTH}}" for name in runners)
    return f"{'Time':>{TIME_WIDTH}}{names}   iterations (relative error)"


def standing_line(seconds: float, words: Iterable[str]) -> str:
    """Return one row of the table of engines that race."""
    cells = "".join(f"{text:>{STANDING_WIDTH}}" for text in words)
    return f"{clock(seconds):>{TIME_WIDTH}}{cells}"


def figure_text(name: str, value: float | int | str) -> str:
    """Return a figure of an iteration: counts in full, objectives exact, the rest short."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if name in OBJECTIVE_FIGURES:
        return number(value)
    return f"{float(value) + 0.0:.3e}"


def iteration_title(names: Iterable[str]) -> str:
    """Return the heading of the table of iterations for figures of these names."""
    titles = "".join(f"{name.replace('_', ' '):>{figure_width(name)}}" for name in names)
    return f"{'Time':>{TIME_WIDTH}}{'Iteration':>{FIGURE_WIDTH}}{titles}"


def iteration_line(seconds: float, count: int, figures: Figures) -> str:
    """Return one row of the table of iterations."""
    cells = "".join(
        f"{figure_text(name, value):>{figure_width(name)}}" for name, value in figures.items()
    )
    return f"{clock(seconds):>{TIME_WIDTH}}{count:>{FIGURE_WIDTH}}{cells}"


def figure_width(name: str) -> int:
    """Return the width of a figure's column: that of its title or a value."""
    least = VALUE_WIDTH if name in OBJECTIVE_FIGURES else FIGURE_WIDTH
    return max(least, len(name) + 2)


def figure_list(count: int, figures: Figures) -> str:
    """Return an iteration's figures as words, for a row of the table of improvements."""
    parts = [f"iteration {count}"]
    parts += [
        f"{name.replace('_', ' ')} {figure_text(name, value)}"
        for name, value in figures.items()
        if name not in OBJECTIVE_FIGURES
    ]
    return ", ".join(parts)


def in_model_sense(event: Event) -> Event:
    """Turn an event of the minimised problem into one of a model that maximises."""
    return Event(event.seconds, -event.incumbent, -event.bound, event.source)


def figures_in_model_sense(figures: Figures) -> dict[str, float | int | str]:
    """Turn the objective figures of an iteration into those of a model that maximises."""
    return {
        name: -value if name in OBJECTIVE_FIGURES and not isinstance(value, str) else value
        for name, value in figures.items()
    }


def _counted(total: int, kinds: Mapping[str, int]) -> str:
    named = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    return f"{total} ({named})" if named else str(total)


def _interval(extent: Range | None) -> str:
    return "[-]" if extent is None else f"[{extent[0]:.0e}, {extent[1]:.0e}]"


# The words at the end of a log: what the answer is, who found it, and how exact it is.


def footer_lines(outcome: Outcome) -> list[str]:
    """Describe an answer: status, values, residuals, engine and time, in the model's sense."""
    is_mip = outcome.problem is None or outcome.problem.is_mip
    counts = (f"{name.replace('_', ' ')} {_plain(n)}" for name, n in outcome.statistics.items())
    known = {
        "Status": outcome.answer,
        "Stopped": str(outcome.stop_reason),
        "Note": outcome.message,
        "Direction": "" if outcome.primal_ray is None else outcome.explanation,
        "Objective": _exact(outcome.objective),
        "Bound": _exact(outcome.bound),
        "Gap": percentage(outcome.gap) if np.isfinite(outcome.gap) else "",
        **attribution(outcome),
        "Residuals": residual_text(outcome.residuals, with_integrality=is_mip),
        "Counts": ", ".join(counts),
        "Engine": f"{outcome.engine or 'none needed'} on {outcome.device}",
        "Time": f"{outcome.seconds:.2f} s",
    }
    return [labelled(label, text) for label, text in known.items() if text]


def _exact(value: float) -> str:
    return f"{value + 0.0:.12g}" if np.isfinite(value) else ""


def attribution(outcome: Outcome) -> dict[str, str]:
    """Say who found the point of a mixed-integer program, and whose points came before it."""
    found = found_by(outcome)
    if found is None or (outcome.problem is not None and not outcome.problem.is_mip):
        return {}
    seconds, source = found
    known = {"Found by": f"{source} after {clock(seconds)}"}
    counts = Counter(source for _, source in improvements(outcome.history))
    if len(counts) > 1:
        words = (f"{name} {count}" for name, count in counts.most_common())
        known["Improved by"] = ", ".join(words)
    if len(outcome.pool) > 1:
        worst = number(outcome.pool[-1].objective)
        known["Pool"] = f"{len(outcome.pool)} points, the last worth {worst}"
    return known


def residual_text(residuals: Residuals, *, with_integrality: bool = True) -> str:
    """Return the known residuals, absolute and relative; empty when none is known."""
    pairs = (
        ("primal", residuals.primal, residuals.primal_relative),
        ("integrality", residuals.integrality if with_integrality else np.nan, np.nan),
        ("dual", residuals.dual, residuals.dual_relative),
        ("gap", residuals.gap, residuals.gap_relative),
    )
    parts = []
    for name, absolute, relative in pairs:
        if np.isfinite(absolute):
            share = f" (relative {relative:.1e})" if np.isfinite(relative) else ""
            parts.append(f"{name} {absolute:.1e}{share}")
    return ", ".join(parts)


def _plain(value: float | int | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
