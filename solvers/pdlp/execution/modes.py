"""The ways of running a window of iterations on a GPU, and which come into question."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from solvers.pdlp.matrix import Coefficients
from solvers.pdlp.settings import Settings


class Kind(Enum):
    """How the threads of one half of an iteration wait for those of the half before."""

    FLOW = "threads that stay wait for each element they read"
    BARRIER = "threads that stay all meet after each half"
    LAUNCHES = "each half is a launch of its own"


@dataclass(frozen=True)
class Way:
    """One way; ``blocks`` of threads stay for a whole window, 0 if none do."""

    kind: Kind
    blocks: int = 0


def ways_of(coefficients: Coefficients, settings: Settings, xp: Any) -> tuple[Way, ...]:
    """Return the ways worth trying for a model of this size, the likeliest first."""
    by_row, by_column = coefficients.by_row, coefficients.by_column
    units = max(by_row.units, by_column.units)
    processors = int(xp.cuda.Device().attributes["MultiProcessorCount"])

    def staying(kind: Kind, units_of_block: int) -> Way:
        return Way(kind, max(1, min(processors, -(-units // units_of_block))))

    found = []
    if by_row.nonzeros <= settings.flow_up_to:
        spread = by_row.nonzeros <= settings.spread_up_to
        found.append(staying(Kind.FLOW, 1 if spread else 2))
    if settings.barrier_from <= by_row.nonzeros <= settings.barrier_up_to:
        found.append(staying(Kind.BARRIER, 4))
    if by_row.nonzeros >= settings.launches_from or not found:
        found.append(Way(Kind.LAUNCHES))
    return tuple(found)
