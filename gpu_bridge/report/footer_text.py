"""The words at the end of a log: what the answer is, who found it, and how exact it is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gpu_bridge.attribution import found_by, improvements
from gpu_bridge.report.log_text import clock, labelled, number, percentage
from solvers.core.outcome import Residuals

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome


def footer_lines(outcome: Outcome) -> list[str]:
    """Describe an answer: status, values, residuals, engine and time, in the model's sense."""
    lines = [
        labelled("Status", outcome.answer),
        labelled("Stopped", str(outcome.stop_reason)),
    ]
    if outcome.message:
        lines.append(labelled("Note", outcome.message))
    if outcome.primal_ray is not None:
        lines.append(labelled("Direction", outcome.explanation))
    if np.isfinite(outcome.objective):
        lines.append(labelled("Objective", f"{outcome.objective + 0.0:.12g}"))
    if np.isfinite(outcome.bound):
        lines.append(labelled("Bound", f"{outcome.bound + 0.0:.12g}"))
    if np.isfinite(outcome.gap):
        lines.append(labelled("Gap", percentage(outcome.gap)))
    lines += attribution_lines(outcome)
    is_mip = outcome.problem is None or outcome.problem.is_mip
    residuals = residual_text(outcome.residuals, with_integrality=is_mip)
    if residuals:
        lines.append(labelled("Residuals", residuals))
    counts = ", ".join(
        f"{name.replace('_', ' ')} {_plain(value)}" for name, value in outcome.statistics.items()
    )
    if counts:
        lines.append(labelled("Counts", counts))
    where = f"{outcome.engine or 'none needed'} on {outcome.device}"
    lines.append(labelled("Engine", where))
    lines.append(labelled("Time", f"{outcome.seconds:.2f} s"))
    return lines


def attribution_lines(outcome: Outcome) -> list[str]:
    """Say who found the point of a mixed-integer program, and whose points came before it."""
    found = found_by(outcome)
    if found is None or (outcome.problem is not None and not outcome.problem.is_mip):
        return []
    seconds, source = found
    lines = [labelled("Found by", f"{source} after {clock(seconds)}")]
    counts = Counter(source for _, source in improvements(outcome.history))
    if len(counts) > 1:
        words = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        lines.append(labelled("Improved by", words))
    if len(outcome.pool) > 1:
        worst = outcome.pool[-1].objective
        lines.append(
            labelled("Pool", f"{len(outcome.pool)} points, the last worth {number(worst)}")
        )
    return lines


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
