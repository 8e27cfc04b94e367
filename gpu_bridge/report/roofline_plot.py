"""The picture of a roofline report: achieved speed over intensity, below the machine's roofs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_bridge.paths import AnyPath
from gpu_bridge.report.plot import require_matplotlib, save_figure
from gpu_bridge.report.roofline import RooflineReport

MEMORY_COLOUR = "#39434d"
CACHE_COLOUR = "#9aa5b1"
FORMAT_COLOURS = {"csr": "#1f6fb4", "coo": "#d1631b", "ell": "#2f8f5b", "sell": "#8a4fa3"}
MARKERS = {"A": "o", "A'": "s"}

MARGIN = 2.0
"""Factor by which the picture is wider than the points."""


def plot_roofline(report: RooflineReport, path: AnyPath | None = None) -> Any:
    """Draw the products of a report and return the Matplotlib figure.

    Roofs are the bandwidths times the intensity; each product is a point at its intensity and the
    speed achieved, compressed forms filled, with a thin line up to what the model predicts.

    Parameters
    ----------
    report : RooflineReport
    path : path, optional
        Also write the picture to this file; its ending (.png, .pdf, .svg) sets the format.

    Raises
    ------
    GpuBridgeError
        Matplotlib is not installed.
    FileFormatError
        The file cannot be written or has an ending that is no picture format.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    intensities = _draw_points(axes, report)
    _draw_roofs(axes, report, np.array([min(intensities) / MARGIN, max(intensities) * MARGIN]))
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
    intensities, named = [], set()
    for matrix in report.matrices:
        for candidate in matrix.candidates:
            if not candidate.seconds:
                continue
            colour = FORMAT_COLOURS[candidate.format]
            packed = candidate.values or candidate.columns
            label = f"{candidate.format}, {matrix.name}"
            speed = candidate.traffic.flops / candidate.seconds / 1e9
            best = candidate.traffic.flops / candidate.prediction.seconds / 1e9
            intensity = candidate.traffic.intensity
            axes.plot([intensity, intensity], [speed, best], color=colour, lw=0.7, alpha=0.6)
            axes.plot(
                intensity,
                speed,
                MARKERS[matrix.name],
                color=colour,
                mfc=colour if packed else "none",
                ms=5.0,
            )
            if label not in named:
                marker = MARKERS[matrix.name]
                axes.plot([], [], marker, color=colour, mfc="none", ms=5.0, label=label)
            named.add(label)
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
