"""How fast products with a model's matrix could be on a device, and how fast they are.

A solve by a first-order method is little more than products with A and A'. The report holds, for
every format of either of them, the bytes that a product moves, the time that these bytes take
at the device's bandwidth (the roofline model, :mod:`solvers.papers.sparse_formats.roofline`), and
the time that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_bridge.paths import AnyPath
from gpu_bridge.report.log_text import byte_size, labelled
from gpu_bridge.report.plot import new_figure, save_figure
from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.core.problem import Problem
from solvers.papers.sparse_formats.formats import from_scipy, transposed
from solvers.papers.sparse_formats.machine import Machine, measure_machine
from solvers.papers.sparse_formats.roofline import (
    Candidate,
    MatrixStatistics,
    library_seconds,
    matrix_statistics,
    survey,
)

TITLE = ("", "Format", "Moves", "Flop/B", "Predicted", "Achieved", "Of roofline", "Limited by")
WIDTHS = (4, 26, 11, 8, 11, 11, 13, 0)


@dataclass(frozen=True)
class MatrixReport:
    """One matrix: its figures, every candidate timed, and the vendor's product if there is one."""

    name: str
    figures: MatrixStatistics
    candidates: tuple[Candidate, ...]
    library_seconds: float | None


@dataclass(frozen=True)
class RooflineReport:
    """A machine's roofs, and the products with A and A' of a model below them."""

    model: str
    machine: Machine
    matrices: tuple[MatrixReport, ...]


def roofline_report(problem: Problem, device: Device) -> RooflineReport:
    """Time the products with a problem's matrix and its transpose in every format.

    Raises
    ------
    ProblemError
        The matrix has no entries.
    """
    if not problem.matrix.nnz:
        raise ProblemError("The model's matrix has no entries, so there is no product to time.")
    with device.activate():
        machine = measure_machine(device)
        matrix = from_scipy(problem.matrix, device)
        reports = []
        for name, held in (("A", matrix), ("A'", transposed(matrix))):
            figures, timed = matrix_statistics(held), survey(held, device, machine)
            reports.append(MatrixReport(name, figures, timed, library_seconds(device, held)))
    return RooflineReport(problem.name, machine, tuple(reports))


def roofline_lines(report: RooflineReport) -> list[str]:
    """Return the report as lines of text."""
    lines = [labelled("Roofline", _machine_text(report.machine))]
    lines += [labelled("", _matrix_text(matrix)) for matrix in report.matrices]
    lines += ["", _row(TITLE)]
    for matrix in report.matrices:
        lines += [_row(_cells(matrix.name, candidate)) for candidate in matrix.candidates]
        if matrix.library_seconds is not None:
            time = _microseconds(matrix.library_seconds)
            lines.append(_row((matrix.name, "cuSPARSE, called plainly", "", "", "", time, "", "")))
    return lines


def _machine_text(machine: Machine) -> str:
    return (
        f"{machine.name} reads {machine.memory_bandwidth / 1e9:.4g} GB/s from memory and "
        f"{machine.cache_bandwidth / 1e9:.4g} GB/s from its cache "
        f"({byte_size(machine.cache_bytes)}); a call takes "
        f"{_microseconds(machine.launch_seconds)}"
    )


def _matrix_text(matrix: MatrixReport) -> str:
    figures = matrix.figures
    return (
        f"{matrix.name}: rows of {figures.shortest} to {figures.longest} nonzeros, "
        f"{figures.mean:.3g} on average; padding {100 * figures.ell_padding:.0f}% in "
        f"ELL and {100 * figures.sell_padding:.0f}% in SELL; gathers of "
        f"{figures.row_sectors:.2f} sectors per nonzero"
    )


def _cells(name: str, candidate: Candidate) -> tuple[str, ...]:
    return (
        name,
        candidate.format,
        byte_size(candidate.traffic.bytes),
        f"{candidate.traffic.intensity:.3f}",
        _microseconds(candidate.prediction.seconds),
        _microseconds(candidate.seconds),
        f"{100 * candidate.roofline_share:.0f}%",
        candidate.prediction.limit,
    )


def _row(cells: tuple[str, ...]) -> str:
    texts = [
        f"{cell:<{width}}" if place in (0, 1, 7) else f"{cell:>{width}}  "
        for place, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return "".join(texts).rstrip()


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.4g} us"


# The picture of a roofline report: achieved speed over intensity, below the machine's roofs.


MEMORY_COLOUR = "#39434d"
CACHE_COLOUR = "#9aa5b1"
FORMAT_COLOURS = {"csr": "#1f6fb4", "coo": "#d1631b", "ell": "#2f8f5b", "sell": "#8a4fa3"}
MARKERS = {"A": "o", "A'": "s"}

PLOT_MARGIN = 2.0
"""Factor by which the picture is wider than the points."""


def plot_roofline(report: RooflineReport, path: AnyPath | None = None) -> Any:
    """Draw the products of a report and return the Matplotlib figure.

    Roofs are the bandwidths times the intensity; each product is a point at its intensity and the
    speed achieved, with a thin line up to what the model predicts.

    ``path`` and what is raised are those of :func:`gpu_bridge.report.plot.plot_history`.
    """
    figure, axes = new_figure()
    intensities = _draw_points(axes, report)
    _draw_roofs(
        axes, report, np.array([min(intensities) / PLOT_MARGIN, max(intensities) * PLOT_MARGIN])
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("intensity (flop/byte)")
    axes.set_ylabel("speed (Gflop/s)")
    axes.set_title(f"{report.model or 'model without a name'}: products", parse_math=False)
    axes.grid(alpha=0.3, lw=0.6, which="both")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=True, framealpha=0.85, edgecolor="none", fontsize="small")
    if path is not None:
        save_figure(figure, path)
    return figure


def _draw_points(axes: Any, report: RooflineReport) -> list[float]:
    """Draw every timed product; return their intensities."""
    intensities = []
    for matrix in report.matrices:
        for candidate in matrix.candidates:
            colour = FORMAT_COLOURS[candidate.format]
            label = f"{candidate.format}, {matrix.name}"
            speed = candidate.traffic.flops / candidate.seconds / 1e9
            best = candidate.traffic.flops / candidate.prediction.seconds / 1e9
            intensity = candidate.traffic.intensity
            axes.plot([intensity, intensity], [speed, best], color=colour, lw=0.7, alpha=0.6)
            marker = MARKERS[matrix.name]
            axes.plot(intensity, speed, marker, color=colour, mfc="none", ms=5.0, label=label)
            intensities.append(intensity)
    return intensities


def _draw_roofs(axes: Any, report: RooflineReport, span: Any) -> None:
    machine = report.machine
    for name, bandwidth, colour in (
        ("cache", machine.cache_bandwidth, CACHE_COLOUR),
        ("memory", machine.memory_bandwidth, MEMORY_COLOUR),
    ):
        label = f"{name}, {bandwidth / 1e9:.4g} GB/s"
        axes.plot(span, span * bandwidth / 1e9, color=colour, lw=1.6, label=label, zorder=1)
