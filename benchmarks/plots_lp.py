"""Pictures of linear programming results: times by model, profiles, and costs of iterations.

Figures are made without pyplot, so that no display is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.per_iteration import Cost, plain_bytes
from benchmarks.rows import Row

OURS = "gpu-bridge"
OUR_COLOURS = ("#1f6fb4", "#0b3d66")
COLOURS = ("#d1631b", "#3a923a", "#8e5bb5", "#b8860b", "#c44e6e", "#5f7f7f", "#444444", "#99731a")
MARKS = "osD^vPX<>"
DPI = 150
FACTORS = 100.0
"""How many times slower than the best the profiles reach to the right."""


def draw_times(rows: Sequence[Row], models: Sequence[str], tolerance: float, path: Path) -> None:
    """Draw each solver's seconds per model; none means unsolved.

    Hollow marks failed the check, pale ones could not be checked.
    """
    chosen = [row for row in rows if row.model in models and row.tolerance == tolerance]
    figure = Figure(figsize=(8.0, 1.6 + 0.28 * len(models)), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    places = {model: place for place, model in enumerate(models)}
    for solver, (colour, mark) in styles(chosen).items():
        solved = [row for row in chosen if row.solver == solver and row.solved]
        for good in (True, None, False):
            part = [row for row in solved if row.verified is good]
            axes.plot(
                [max(row.seconds, 1e-4) for row in part],
                [places[row.model] for row in part],
                linestyle="none",
                marker=mark,
                markersize=7 if solver.startswith(OURS) else 5,
                color=colour,
                markerfacecolor="none" if good is False else colour,
                alpha=0.4 if good is None else 1.0,
                zorder=3 if solver.startswith(OURS) else 2,
                label=solver if part and part[0] is solved[0] else None,
            )
    axes.set_yticks(range(len(models)), models, fontsize="small")
    axes.set_ylim(len(models) - 0.5, -0.5)
    _finish(axes, "seconds, presolve and transfers included", "")
    axes.set_title(
        f"Time to an answer called optimal at {tolerance:g} (hollow: it is not; pale: not known)"
    )
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.savefig(path)


def draw_profiles(
    rows: Sequence[Row],
    models: Sequence[str],
    tolerances: Sequence[float],
    limit: float,
    path: Path,
) -> None:
    """Draw the share of models that each solver solves within a factor of the best time."""
    figure = Figure(figsize=(4.2 * len(tolerances), 4.6), dpi=DPI, layout="constrained")
    panels = figure.subplots(1, len(tolerances), squeeze=False)[0]
    for axes, tolerance in zip(panels, tolerances, strict=True):
        chosen = [row for row in rows if row.model in models and row.tolerance == tolerance]
        for solver, (colour, _) in styles(rows).items():
            ratios = profile(chosen, solver, models, limit)
            if ratios is None:
                continue
            steps = np.r_[1.0, ratios[ratios <= FACTORS], FACTORS]
            shares = np.r_[0.0, np.arange(1, len(steps) - 1), len(steps) - 2] / len(models)
            axes.step(
                steps,
                shares,
                where="post",
                color=colour,
                linewidth=2.2 if solver.startswith(OURS) else 1.3,
                label=solver if axes is panels[0] else None,
            )
        _finish(axes, "times slower than the fastest solver", "share of the models")
        axes.set_xlim(1.0, FACTORS)
        axes.set_ylim(0.0, 1.02)
        axes.set_title(f"tolerance {tolerance:g}")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.savefig(path)


def profile(rows: Sequence[Row], solver: str, models: Sequence[str], limit: float) -> Any:
    """Return the sorted ratios of a solver's time to the best; None without a row of it.

    Answers that failed the check do not count, those that could not be checked do.
    """
    if not any(row.solver == solver for row in rows):
        return None
    good = [
        row for row in rows if row.solved and row.verified is not False and row.seconds <= limit
    ]
    best = {
        model: min((row.seconds for row in good if row.model == model), default=np.nan)
        for model in models
    }
    return np.sort([row.seconds / best[row.model] for row in good if row.solver == solver])


def draw_iterations(costs: Sequence[Cost], bandwidth: float, path: Path) -> None:
    """Draw microseconds per iteration against nonzeros, with the roofline of plain CSR."""
    figure = Figure(figsize=(7.0, 5.0), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    for solver, (colour, mark) in styles(costs).items():
        for shape, filled in (("banded", True), ("random", False), ("", True)):
            part = [c for c in costs if c.solver == solver and _shape(c) == shape]
            if not part:
                continue
            axes.plot(
                [cost.nonzeros for cost in part],
                [cost.microseconds for cost in part],
                linestyle={"banded": "-", "random": ":", "": "none"}[shape],
                marker=mark if shape else "x",
                markersize=5,
                color=colour,
                markerfacecolor=colour if filled else "none",
                label=f"{solver}, {shape or 'models from files'}",
            )
    sizes = np.geomspace(min(c.nonzeros for c in costs), max(c.nonzeros for c in costs), 50)
    plain = np.array([plain_bytes(int(s) // 8, int(s) // 8, int(s)) for s in sizes])
    axes.plot(sizes, 1e6 * plain / bandwidth, color="#888888", linestyle="--", label=_plain_label())
    stated = sorted((c.nonzeros, c.bytes) for c in costs if _states_bytes(c))
    if stated:
        sizes, moved = np.array(stated, dtype=float).T
        axes.plot(
            sizes, 1e6 * moved / bandwidth, color="#bbbbbb", linestyle="none", marker="_",
            markersize=14, label="roofline of our compressed format",
        )  # fmt: skip
    axes.set_yscale("log")
    _finish(axes, "nonzeros", "microseconds per iteration")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    figure.savefig(path)


def styles(items: Sequence[Row] | Sequence[Cost]) -> dict[str, tuple[str, str]]:
    """Return a colour and a mark for each solver; ours come first."""
    solvers = sorted({item.solver for item in items}, key=lambda s: (not s.startswith(OURS), s))
    ours = [solver for solver in solvers if solver.startswith(OURS)]
    found = {}
    for place, solver in enumerate(solvers):
        palette = OUR_COLOURS if solver in ours else COLOURS
        number = place if solver in ours else place - len(ours)
        found[solver] = (palette[number % len(palette)], MARKS[place % len(MARKS)])
    return found


def _shape(cost: Cost) -> str:
    word = cost.program.partition("-")[0]
    return word if word in ("banded", "random") else ""


def _states_bytes(cost: Cost) -> bool:
    plain = plain_bytes(cost.rows, cost.columns, cost.nonzeros)
    return cost.solver.startswith(OURS) and abs(cost.bytes - plain) > 1e-3 * plain


def _plain_label() -> str:
    return "roofline of plain CSR, 8 entries per row"


def _finish(axes: Any, x: str, y: str) -> None:
    axes.set_xscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
