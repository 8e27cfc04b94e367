"""What heuristics have gained lately, and what they are due for it.

Which heuristic finds better points depends on the model, and on how far the search has come. So
beside its fixed share each kind of heuristic has a part of a common one, in proportion to what it
has gained for a second of its time. Credit and times fade, because what helps at first is not what
helps later; the fixed shares see to it that nobody is left out who has gained nothing yet.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from solvers.mip.solutions.incumbents import Pool

WALKS, CLAUSES, SWAPS = "local search", "lazy clause", "swap moves"
"""Kinds of heuristics whose gains are counted, and the names under which they submit points."""

NEIGHBOURHOODS, DIVES, LINEAR_DIVE = "neighbourhoods", "dives", "linear dive"
"""Kinds whose points have other names than they; the last is that of dives that solve LPs."""

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
    kind_of : callable
        Returns the kind of heuristic that submits points under a name; empty for others.
    """

    def __init__(self, pool: Pool, kind_of: Callable[[str], str]) -> None:
        self._pool = pool
        self._kind_of = kind_of
        self._version = 0
        self._best = np.inf
        self._at = -np.inf
        self._fresh: dict[str, float] = {}
        self._gain: dict[str, float] = {}
        self._effort: dict[str, float] = {}
        self._lock = threading.Lock()

    def note(self, kind: str, length: float) -> None:
        """Count a turn, of so many times the usual length, and all that was found by its end."""
        with self._lock:
            self._look()
            if kind:
                fresh = self._fresh.pop(kind, 0.0)
                worth = fresh / (fresh + GOOD_GAIN)
                self._gain[kind] = FADING * self._gain.get(kind, 0.0) + worth
                self._effort[kind] = FADING * self._effort.get(kind, 0.0) + length

    def bonus(self, kind: str) -> float:
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
                kind = self._kind_of(found.source)
                if kind and np.isfinite(self._best):
                    gain = relative_gain(self._best, found.objective)
                    self._fresh[kind] = self._fresh.get(kind, 0.0) + gain
                self._best, self._at = found.objective, found.seconds


def relative_gain(before: float, after: float) -> float:
    """Return an improvement relative to the larger objective, at most 1."""
    return min(1.0, (before - after) / max(abs(before), abs(after)))
