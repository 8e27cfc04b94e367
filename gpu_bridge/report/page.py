"""A page about a solve: its answer, its story, how exact it is, and what the model looks like.

The page is one file without scripts that shows the same on any machine. Its words come from the
functions that write the log; its form is ``page.html`` beside this file, filled by Jinja, which
escapes every name of the model.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.paths import AnyPath
from gpu_bridge.report import log_text
from gpu_bridge.report.log_text import footer_lines
from gpu_bridge.report.statistics import model_statistics
from gpu_bridge.solution_pool import improvements
from solvers.core.errors import GpuBridgeError
from solvers.core.outcome import SolutionStatus, relative_gap
from solvers.core.problem import FloatArray, Problem

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome

MOST_ROWS = 20
"""Most constraints at their limits, and most improvements, that are listed."""

Table = tuple[tuple[str, ...], ...]

ERRORS = (
    ("primal", "how far a constraint or bound is violated"),
    ("integrality", "how far an integer variable is from an integer"),
    ("dual", "how far a reduced cost has the wrong sign"),
    ("gap", "how far primal and dual objective lie apart"),
)
"""Residuals by name, in words."""


def write_page(outcome: Outcome, path: AnyPath) -> None:
    """Write a page about a solve.

    Parameters
    ----------
    path : path
        An HTML file.

    Raises
    ------
    GpuBridgeError
        Jinja is not installed.
    FileFormatError
        The file cannot be written.
    """
    from gpu_bridge.paths import write_whole

    write_whole(path, page_html(outcome).encode("utf-8", "replace"))


def page_html(outcome: Outcome, *, whole: bool = True) -> str:
    """Return the page as HTML, or only its beginning, which a notebook shows.

    Raises
    ------
    GpuBridgeError
        Jinja is not installed.
    """
    require_jinja()
    from jinja2 import Environment

    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    made = Environment(autoescape=True).from_string(template)
    return made.render(page=make_page(outcome), whole=whole)


def require_jinja() -> None:
    """Raise a :class:`GpuBridgeError` that says what to install unless Jinja is there."""
    if find_spec("jinja2") is None:
        raise GpuBridgeError(
            "Reports need Jinja, which is not installed; install it with: "
            "pip install 'gpu-bridge[plot]'"
        )


def make_page(outcome: Outcome) -> dict[str, Any]:
    """Put into words what is known about a solve; empty parts are left out of the page."""
    problem, conflict = outcome.problem, outcome.conflict
    tight, hidden = _tight_rows(outcome)
    return {
        "title": (problem.name if problem is not None else "") or "A model without a name",
        "answer": outcome.answer,
        "mood": _mood(outcome.solution_status),
        "summary": tuple(_summary(outcome)),
        "picture": _picture(outcome),
        "improvements": _improvements(outcome),
        "contenders": tuple(outcome.contenders.items()),
        "residuals": tuple(_residuals(outcome)),
        "tight": tight,
        "tight_hidden": hidden,
        "conflict": () if conflict is None else conflict.lines,
        "conflict_is_minimal": conflict is not None and conflict.minimal,
        "relaxation": () if outcome.relaxation is None else outcome.relaxation.lines,
        "direction": "" if outcome.primal_ray is None else outcome.explanation,
        "model": () if problem is None else tuple(_model(problem)),
        "log": outcome.log,
    }


def _mood(status: SolutionStatus) -> str:
    if status is SolutionStatus.OPTIMAL:
        return "good"
    return "bad" if status in (SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED) else ""


def _summary(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Return what the log ends with, less what has a place of its own on the page."""
    for label, text in _pairs(footer_lines(outcome)):
        if label not in ("Status", "Residuals", "Direction"):
            yield label, text


def _pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Split lines of the log into their labels and texts."""
    for line in lines:
        yield line[: log_text.LABEL_WIDTH].strip(), line[log_text.LABEL_WIDTH :].strip()


def _model(problem: Problem) -> Iterator[tuple[str, str]]:
    statistics = model_statistics(problem)
    yield from _pairs(log_text.model_lines(statistics)[1:])
    for advice in log_text.range_advice(statistics):
        yield "Advice", advice


def _improvements(outcome: Outcome) -> Table:
    """Return the last improvements of the objective, the first one always among them."""
    found = improvements(outcome.history)
    shown = found if len(found) <= MOST_ROWS else [found[0], *found[1 - MOST_ROWS :]]
    return tuple(
        (
            log_text.clock(event.seconds),
            log_text.number(event.incumbent),
            log_text.number(event.bound),
            log_text.percentage(relative_gap(event.incumbent, event.bound)),
            source,
        )
        for event, source in shown
    )


def _residuals(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    residuals = outcome.residuals
    for name, words in ERRORS:
        largest = getattr(residuals, name)
        relative = getattr(residuals, f"{name}_relative", np.nan)
        if np.isfinite(largest) and not (name == "integrality" and not _is_mip(outcome)):
            allowed = outcome.tolerance if np.isfinite(relative) else np.nan
            yield name, _small(largest), _small(relative), _small(allowed), words


def _is_mip(outcome: Outcome) -> bool:
    return outcome.problem is not None and outcome.problem.is_mip


def _small(value: float) -> str:
    return f"{value:.1e}" if np.isfinite(value) else ""


def _tight_rows(outcome: Outcome) -> tuple[Table, int]:
    """Return the rows at one of their sides that matter most, and how many more there are.

    Rows with the largest duals come first; without duals those with the most entries do.
    """
    problem, activity = outcome.problem, outcome.row_activity
    if problem is None or activity is None or not problem.num_rows:
        return (), 0
    rows = tight_rows(problem, activity, outcome.tolerance)
    dual = outcome.row_dual
    weight = np.diff(problem.entries.indptr) if dual is None else np.abs(dual)
    rows = rows[np.argsort(-weight[rows], kind="stable")]
    table = tuple(
        (
            problem.row_label(int(i)),
            log_text.number(float(activity[i])),
            _side(problem, int(i), float(activity[i])),
            "" if dual is None else log_text.number(float(dual[i])),
        )
        for i in rows[:MOST_ROWS]
    )
    return table, max(0, rows.size - MOST_ROWS)


def tight_rows(problem: Problem, activity: FloatArray, tolerance: float) -> npt.NDArray[np.intp]:
    """Return the inequalities that hold with equality at a point.

    Parameters
    ----------
    activity : (m,) array
        A x.
    tolerance : float
        Relative to the side; 1e-6 where it is not known.
    """
    low, high = problem.row_lower, problem.row_upper
    allowed = tolerance if np.isfinite(tolerance) else 1e-6
    at_side = np.zeros(problem.num_rows, dtype=bool)
    for side in (low, high):
        finite = np.isfinite(side)
        known = np.where(finite, side, 0.0)
        at_side |= finite & (np.abs(activity - known) <= allowed * (1.0 + np.abs(known)))
    return np.flatnonzero(at_side & (low != high))


def _side(problem: Problem, row: int, activity: float) -> str:
    low, high = float(problem.row_lower[row]), float(problem.row_upper[row])
    is_upper = abs(activity - high) <= abs(activity - low)
    return f"<= {log_text.number(high)}" if is_upper else f">= {log_text.number(low)}"


def _picture(outcome: Outcome) -> str:
    """Return the picture of the solve as SVG; a sentence where Matplotlib is not installed."""
    from gpu_bridge.report.plot import has_history, plot_history

    if not has_history(outcome):
        return ""
    if find_spec("matplotlib") is None:
        return "<p>The picture needs Matplotlib: pip install 'gpu-bridge[plot]'</p>"
    drawn = io.StringIO()
    plot_history(outcome).savefig(drawn, format="svg")
    text = drawn.getvalue()
    return text[text.index("<svg") :]
