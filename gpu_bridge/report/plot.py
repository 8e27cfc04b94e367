"""Pictures of a solve: incumbent and bound over time, or the residuals of an iterative engine.

Figures are made without pyplot, so that no display and no global state is needed; Matplotlib is
imported when the first picture is drawn.
"""

from __future__ import annotations

import io
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_bridge.paths import AnyPath, as_path, printable
from gpu_bridge.report.log_text import number, percentage
from gpu_bridge.solution_pool import improvements
from solvers.core.errors import FileFormatError, GpuBridgeError
from solvers.core.problem import FloatArray

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome

INCUMBENT_COLOUR = "#1f6fb4"
BOUND_COLOUR = "#d1631b"
GAP_COLOUR = "#9aa5b1"
FINDER_COLOURS = (INCUMBENT_COLOUR, "#2f8f5b", "#8a4fa3", "#c23b57", "#b08a1e")
OTHERS_COLOUR = "#39434d"
RESIDUAL_WORDS = ("residual", "infeasibility", "gap")
"""Figures of an iteration with one of these in their names go to zero, and are drawn."""

SAME_VALUE = 1e-9
"""Relative difference up to which two objectives are one, written differently."""

LATE_SHARE = 2.0 / 3.0
"""The last part of the time, whose values must be readable in the picture."""

WILD_RATIO = 8.0
"""Where early values span this many times the range of the late ones, they leave the picture."""


def plot_history(outcome: Outcome, path: AnyPath | None = None) -> Any:
    """Draw how a solve went and return the Matplotlib figure.

    Incumbent and bound are drawn as steps with the gap between them shaded. For a linear program
    solved by an iterative engine, which has no incumbents on its way, the residuals are drawn
    instead; where nothing was recorded, the picture says so.

    Parameters
    ----------
    path : path, optional
        Also write the picture to this file; its ending (.png, .pdf, .svg) sets the format.

    Raises
    ------
    GpuBridgeError
        Matplotlib is not installed.
    FileFormatError
        The file cannot be written or has an ending that is no picture format.
    """
    figure, axes = new_figure()
    seconds, incumbent, bound = history_arrays(outcome)
    if outcome.iterations and np.unique(incumbent[np.isfinite(incumbent)]).size <= 1:
        _draw_residuals(axes, outcome)
    elif has_history(outcome):
        _draw_steps(axes, outcome, seconds, incumbent, bound)
    else:
        _draw_message(axes, outcome)
    axes.set_title(_title(outcome), parse_math=False)
    if path is not None:
        save_figure(figure, path)
    return figure


def new_figure() -> tuple[Any, Any]:
    """Return an empty figure and its axes; raises where Matplotlib is not installed."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), dpi=150, layout="constrained")
    return figure, figure.add_subplot()


def has_history(outcome: Outcome) -> bool:
    """Whether something was recorded on the way that can be drawn."""
    _, incumbent, bound = history_arrays(outcome)
    known = np.isfinite(incumbent).any() or np.isfinite(bound).any()
    return bool(outcome.iterations or known)


def require_matplotlib() -> None:
    """Raise a :class:`GpuBridgeError` that says what to install unless Matplotlib is there."""
    if find_spec("matplotlib") is None:
        raise GpuBridgeError(
            "Pictures need Matplotlib, which is not installed; install it with: "
            "pip install 'gpu-bridge[plot]'"
        )


def check_picture_format(path: AnyPath) -> None:
    """Raise a :class:`FileFormatError` unless the file's ending is a picture format."""
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if picture_ending(path) not in known:
        raise FileFormatError(
            f"The picture '{printable(path)}' needs an ending that names its format: "
            f"{', '.join(known)}."
        )


def picture_ending(path: AnyPath) -> str:
    """Return the ending of a file's name in small letters, which is a picture's format."""
    return as_path(path).name.rpartition(".")[2].lower()


def history_arrays(outcome: Outcome) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return times, incumbents and bounds, with the state at the end of the solve as last."""
    events = outcome.history
    last = (outcome.seconds, outcome.objective, outcome.bound)
    rows = [(event.seconds, event.incumbent, event.bound) for event in events]
    if events and outcome.seconds > events[-1].seconds:
        settled = [
            end if np.isfinite(end) else before for end, before in zip(last, rows[-1], strict=True)
        ]
        rows.append((settled[0], settled[1], settled[2]))
    data = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return data[:, 0], data[:, 1], data[:, 2]


def _draw_steps(
    axes: Any, outcome: Outcome, seconds: FloatArray, incumbent: FloatArray, bound: FloatArray
) -> None:
    for values, name, colour in (
        (bound, "bound", BOUND_COLOUR),
        (incumbent, "incumbent", INCUMBENT_COLOUR),
    ):
        known = np.isfinite(values)
        if not known.any():
            continue
        label = f"{name} {number(float(values[known][-1]))}"
        axes.step(seconds[known], values[known], where="post", color=colour, lw=1.8, label=label)
        if name == "incumbent":
            _draw_finders(axes, outcome)
        elif np.ptp(values[known]) <= SAME_VALUE * (1.0 + np.abs(values[known]).max()):
            axes.plot(seconds[known][:1], values[known][:1], "s", color=colour, ms=3.5)
    both = np.isfinite(incumbent) & np.isfinite(bound)
    if both.any():
        label = f"gap {percentage(outcome.gap)}" if np.isfinite(outcome.gap) else "gap"
        axes.fill_between(
            seconds[both],
            incumbent[both],
            bound[both],
            step="post",
            color=GAP_COLOUR,
            alpha=0.25,
            lw=0,
            label=label,
        )
    axes.set_ylim(*_value_limits(seconds, incumbent, bound))
    _finish_axes(axes, outcome, "objective")


def _draw_finders(axes: Any, outcome: Outcome) -> None:
    """Draw a dot for each better incumbent, in a colour for who found it where there are several.

    The finders of most get a colour each, all others one together.
    """
    found = improvements(outcome.history)
    counts = Counter(source for _, source in found)
    first = [source for source, _ in counts.most_common(len(FINDER_COLOURS))]
    for source in [*first, None]:
        dots = [event for event, by in found if (by if by in first else None) == source]
        if not dots:
            continue
        colour = OTHERS_COLOUR if source is None else FINDER_COLOURS[first.index(source)]
        label = f"{source or 'others'} ({len(dots)})" if len(counts) > 1 else None
        seconds, values = [event.seconds for event in dots], [event.incumbent for event in dots]
        axes.plot(seconds, values, "o", color=colour, ms=3.5, label=label)


def _value_limits(
    seconds: FloatArray, incumbent: FloatArray, bound: FloatArray
) -> tuple[float, float]:
    """Return limits that show everything, or what holds later where the start was wild."""
    late = np.append(seconds[1:], np.inf) > (1.0 - LATE_SHARE) * seconds[-1]
    low, high = _extent(incumbent, bound)
    late_low, late_high = _extent(incumbent[late], bound[late])
    late_range = late_high - late_low
    if late_range > 0.0 and high - low > WILD_RATIO * late_range:
        low = max(low, late_low - late_range)
        high = min(high, late_high + late_range)
    margin = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _extent(*arrays: FloatArray) -> tuple[float, float]:
    values = np.concatenate(arrays)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _draw_residuals(axes: Any, outcome: Outcome) -> None:
    records = outcome.iterations
    names = dict.fromkeys(name for record in records for name in record.figures)
    for name in names:
        points = [
            (record.seconds, record.figures[name])
            for record in records
            if isinstance(record.figures.get(name), float)
        ]
        if points and any(word in name for word in RESIDUAL_WORDS):
            times, values = np.array(points, dtype=np.float64).T
            axes.plot(times, values, lw=1.6, label=name.replace("_", " "))
    axes.set_yscale("log", nonpositive="mask")
    _finish_axes(axes, outcome, "residual")


def _draw_message(axes: Any, outcome: Outcome) -> None:
    sentence = f"No incumbent or bound was recorded.\n\n{outcome.solution_status}"
    axes.text(0.5, 0.5, sentence, ha="center", va="center", wrap=True, transform=axes.transAxes)
    axes.set_axis_off()


def _finish_axes(axes: Any, outcome: Outcome, quantity: str) -> None:
    axes.set_xlabel("time (s)")
    axes.set_ylabel(quantity)
    axes.set_xlim(0.0, max(outcome.seconds, axes.get_xlim()[1]))
    axes.grid(alpha=0.3, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=True, framealpha=0.85, edgecolor="none")


def _title(outcome: Outcome) -> str:
    problem = outcome.problem
    name = (problem.name if problem is not None else "") or "model without a name"
    name = name.encode("utf-8", "replace").decode()  # fonts have no lone surrogates
    if len(name) > 40:
        name = f"{name[:37]}..."
    sense = "" if problem is None else " (maximize)" if problem.maximize else " (minimize)"
    return f"{name}{sense}: {outcome.solution_status.name.lower()}"


def save_figure(figure: Any, path: AnyPath) -> None:
    """Write a picture in the format of the file's ending.

    Raises
    ------
    FileFormatError
        The file cannot be written or has an ending that is no picture format.
    """
    from gpu_bridge.paths import write_whole

    check_picture_format(path)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=picture_ending(path))
    write_whole(path, drawn.getvalue())
