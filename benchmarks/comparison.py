"""What the records of one device say, joined: for the pictures and the page of results."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.per_iteration import Cost
from benchmarks.rows import Row

TOLERANCES = frozenset({1e-4, 1e-8})
"""Tolerances that first-order solvers were asked for then."""


@dataclass(frozen=True)
class Comparison:
    """All rows of one device, over all models of its records."""

    kind: str
    device: str
    commits: tuple[str, ...]
    models: tuple[str, ...]
    limit: float
    rows: tuple[Row, ...]

    @property
    def tolerances(self) -> list[float]:
        """The tolerances of our own rows, or else of all, loosest first."""
        ours = {row.tolerance for row in self.rows if not row.recorded}
        return sorted(ours or {row.tolerance for row in self.rows} & TOLERANCES, reverse=True)


@dataclass(frozen=True)
class SideBySide:
    """Rows of runs in which several solvers had the same programs, at one tolerance."""

    words: str
    device: str
    commits: tuple[str, ...]
    models: tuple[str, ...]
    limit: float
    tolerance: float
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Iterations:
    """All costs of iterations measured on one device, and its bandwidth in bytes per second."""

    kind: str
    device: str
    commits: tuple[str, ...]
    bandwidth: float
    cache: int
    costs: tuple[Cost, ...]
