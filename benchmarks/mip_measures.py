"""What a mixed-integer run is worth: primal gap, primal integral, and means over many.

The definitions are those of Berthold, "Measuring the impact of primal heuristics" (2013). The
primal gap of an objective f to the best known one f* is |f - f*| / max(|f|, |f*|), 0 where both
are zero, and 1 where their signs differ or there is no point; a point better than the best known
one has gap 0. The primal integral P(T) adds the gap of the incumbent up over the time limit T, with
gap 1 until the first point; tables show P(T)/T, a number between 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Events = Sequence[tuple[float, float]]
"""Seconds and objectives of better and better points, in order."""

SHIFT = 1.0
"""Seconds added in shifted geometric means."""

SAME = 1e-9
"""Relative difference up to which objectives are the same number."""

AS_GOOD = 1e-4
"""Integrals (as parts of the limit) this close to the best share the first place."""


def primal_gap(objective: float | None, best: float | None, sense: float = 1.0) -> float:
    """Return the primal gap; ``sense`` is -1 for a maximisation, 1 for a minimisation."""
    if objective is None or best is None or not math.isfinite(objective):
        return 1.0
    if sense * objective <= sense * best:
        return 0.0
    if objective * best < 0.0:
        return 1.0
    size = max(abs(objective), abs(best))
    gap = abs(objective - best) / size if size > 0.0 else 0.0
    return 0.0 if gap <= SAME else min(1.0, gap)


def primal_integral(events: Events, best: float | None, limit: float, sense: float = 1.0) -> float:
    """Return P(T) in seconds for T = ``limit``; what came after the limit does not count."""
    total, gap, at = 0.0, 1.0, 0.0
    for seconds, objective in events:
        if seconds >= limit:
            break
        moment = max(at, seconds)
        total += gap * (moment - at)
        at, gap = moment, min(gap, primal_gap(objective, best, sense))
    return total + gap * (limit - at)


def improvements(events: Events, sense: float = 1.0) -> list[tuple[float, float]]:
    """Return the events that are better than all before them."""
    kept: list[tuple[float, float]] = []
    for seconds, objective in events:
        if math.isfinite(objective) and (
            not kept or sense * objective < sense * kept[-1][1] - SAME * max(1.0, abs(objective))
        ):
            kept.append((seconds, objective))
    return kept


def shifted_mean(values: Sequence[float], shift: float = SHIFT) -> float:
    """Return the shifted geometric mean; NaN of nothing."""
    if not values:
        return math.nan
    return math.exp(sum(math.log(value + shift) for value in values) / len(values)) - shift


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean; NaN of nothing."""
    return sum(values) / len(values) if values else math.nan
