"""Families of linear programs that people solve, of any size and by a seed.

    python -m benchmarks.families energy --nonzeros 1e6 --method auto --tolerance 1e-4

``FAMILIES`` has a maker for each: called with a number of nonzeros, which it comes near to, and a
seed, it returns the same program every time. All are feasible and have an optimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.families.energy import energy
from benchmarks.linear_programs import LinearProgram


@dataclass(frozen=True)
class Family:
    """A maker of programs, and in a few words what they are."""

    make: Callable[[int, int], LinearProgram]
    words: str


FAMILIES = {
    "energy": Family(energy, "expansion of an energy system, hourly, with storage and lines"),
}
