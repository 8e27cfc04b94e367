"""What heuristics have gained lately, and what they are due for it.

Which heuristic finds better points depends on the model, and on how far the search has come. So
beside its fixed share each kind of heuristic has a part of a common one, in proportion to what it
has gained for a second of its time. Credit and times fade, because what helps at first is not what
helps later; the fixed shares see to it that nobody is left out who has gained nothing yet.
"""

from __future__ import annotations

import threading
from enum import Enum

import numpy as np

from solvers.mip.solutions.incumbents import Pool


class Kind(Enum):
    """Heuristics whose gains are counted together."""

    WALKS = "local search"
    CLAUSES = "lazy clause"
    SWAPS = "swap moves"
    NEIGHBOURHOODS = "neighbourhoods"
    DIVES = "dives"


class Source(str):
    """The name under which points are submitted, with the kind that is credited with them.

    Outside of this process it is a name and no more.
    """

    kind: Kind

    def __new__(cls, name: str, kind: Kind) -> Source:
        """Return the name with its kind."""
        made = super().__new__(cls, name)
        made.kind = kind
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


WALKS = Source("local search", Kind.WALKS)
CLAUSES = Source("lazy clause", Kind.CLAUSES)
SWAPS = Source("swap moves", Kind.SWAPS)
LINEAR_DIVE = Source("linear dive", Kind.DIVES)

EARNED = 6.0
"""What is dealt out by gains: as much as the fixed share of neighbourhoods, the largest one."""

FADING = 0.5
"""What remains of a kind's gain and time from one of its turns to the next: two turns in vain are
enough to doubt one good one."""

GOOD_GAIN = 0.01
"""Relative gain that counts half: the first points are improved by tenths and late ones by
thousandths, and a good turn is to be one early and late."""

POOR = 0.2
"""Good turns in a turn of usual length, of a kind that would take half of what is dealt out if it
were alone: what is left to the fixed shares where everybody's gains are poor."""

SHORT = 0.1
"""Turns of usual length that a kind counts as having had at least."""


class Credit:
    """Counts what each kind gains and spends; safe to use from any thread.

    Parameters
    ----------
    pool : Pool
        Where points, and who has found them, are looked up after each turn.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._version = 0
        self._best = np.inf
        self._at = -np.inf
        self._fresh: dict[Kind, float] = {}
        self._gain: dict[Kind, float] = {}
        self._effort: dict[Kind, float] = {}
        self._lock = threading.Lock()

    def note(self, kind: Kind | None, length: float) -> None:
        """Count a turn, of so many times the usual length, and all that was found by its end."""
        with self._lock:
            self._look()
            if kind is not None:
                fresh = self._fresh.pop(kind, 0.0)
                worth = fresh / (fresh + GOOD_GAIN)
                self._gain[kind] = FADING * self._gain.get(kind, 0.0) + worth
                self._effort[kind] = FADING * self._effort.get(kind, 0.0) + length

    def bonus(self, kind: Kind) -> float:
        """Return what a kind is due beside its share."""
        with self._lock:
            rates = {one: self._gain[one] / max(self._effort[one], SHORT) for one in self._gain}
            return EARNED * rates.get(kind, 0.0) / (sum(rates.values()) + POOR)

    def _look(self) -> None:
        """Credit the improvements since the last look to those who found them."""
        if self._pool.version == self._version:
            return
        self._version = self._pool.version
        news = [found for found in self._pool.points() if found.seconds >= self._at]
        for found in sorted(news, key=lambda one: one.seconds):
            if found.objective < self._best:
                if isinstance(found.source, Source) and np.isfinite(self._best):
                    kind, gain = found.source.kind, relative_gain(self._best, found.objective)
                    self._fresh[kind] = self._fresh.get(kind, 0.0) + gain
                self._best, self._at = found.objective, found.seconds


def relative_gain(before: float, after: float) -> float:
    """Return an improvement relative to the larger objective, at most 1."""
    return min(1.0, (before - after) / max(abs(before), abs(after)))
