"""Who found what: the improvements in a history, and whose the answer is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from solvers.core.outcome import Event

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome

SAME_VALUE = 1e-9
"""Relative difference up to which two objectives are the same value, rounded differently."""


def same_value(one: float, other: float) -> bool:
    """Whether two objectives differ by rounding alone; False where one is NaN."""
    return math.isclose(one, other, rel_tol=SAME_VALUE, abs_tol=SAME_VALUE)


def found_by(outcome: Outcome) -> tuple[float, str] | None:
    """Return when and by whom the point was found; None where the history does not tell."""
    for event, source in improvements(outcome.history):
        same = same_value(event.incumbent, outcome.objective)
        if same and outcome.solution_status.has_point:
            return event.seconds, source
    return None


def improvements(history: Sequence[Event]) -> list[tuple[Event, str]]:
    """Return the events that brought a better incumbent, beyond rounding, and their sources."""
    found: list[tuple[Event, str]] = []
    before = np.nan
    for event in history:
        if np.isfinite(event.incumbent) and not same_value(event.incumbent, before):
            found.append((event, event.source))
            before = event.incumbent
    return found
