"""From an engine's point on a reduced model to a vertex of the original."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from gpu_bridge.options import Options
from solvers.core.outcome import Outcome
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from solvers.presolve import Reduction

HELD_FROM_SECONDS = 1.0
"""Seconds of a solve from which the point is held meanwhile: what ends sooner needs none."""


def crossed(reduction: Reduction, answer: Outcome, options: Options, progress: Progress) -> Outcome:
    """Move a point to a vertex of the original; it is held in case that takes too long."""
    from solvers.highs import crossover

    held: Outcome | None = None
    if progress.seconds >= HELD_FROM_SECONDS:
        held = reduction.undo(answer)
        progress.hold(held)
    found = crossover.to_vertex(reduction.problem, answer, options, progress)
    if progress.abandoned:
        return found
    if held is not None and found.x is answer.x and found.candidate is answer.candidate:
        return dataclasses.replace(held, message=found.message)
    return reduction.undo(found)
