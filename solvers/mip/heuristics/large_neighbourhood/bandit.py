"""Which neighbourhood to search next, and how large: by what each has gained per second so far.

An arm is a neighbourhood in one of two sizes, whose share of free columns then adapts: it shrinks
where time runs out without success and grows where the search ends with a proof. Arms are picked
by an upper confidence bound (Auer, Cesa-Bianchi, Fischer 2002) on gain per second; old gains
fade, because what helps at first is not what helps later.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHRINK, SHRINK_FAST, GROW = 0.7, 0.5, 1.3
"""Factors of the free share: after running out of time without a better point, the same before the
root node was through (the inverse after a proof in a small part of the time), and after any other
proof that nothing better is there. In between lies what pays."""

MOST_FREED, NEARLY_NOTHING = 0.5, 0.05
"""Part of the fixed columns that stays fixed at least when a neighbourhood grows, and the share of
all columns up to which none does: a step from three fifths to everything is a leap in the dark."""

AMBITION, LEAST_AMBITION = 0.02, 1e-3
"""Part of the gap that an arm's next point has to close at first; it is halved whenever that was
too much, down to the second, below which any better point will do."""

PATIENCE, MOST_PATIENCE = 1.5, 8.0
"""Factor of an arm's time after running out of it at its smallest size, and its limit."""


@dataclass(eq=False)
class Arm:
    """A neighbourhood in one size; changed by :class:`Bandit` only.

    ``free`` is the share of columns left free, ``patience`` multiplies the time of its searches;
    ``gain`` and ``effort`` fade, ``spent`` is all the effort there was; ``failed`` is the share of
    the last search that ran out of time without a better point, and ``proven_at`` the version of
    the pool of which the last proof was.
    """

    name: str
    size: int
    free: float
    patience: float = 1.0
    plays: int = 0
    pending: int = 0
    gain: float = 0.0
    effort: float = 0.0
    spent: float = 0.0
    failed: float = np.inf
    proven_at: int = -1
    ambition: float = AMBITION

    @property
    def rate(self) -> float:
        """Share of columns to fix."""
        return 1.0 - self.free


@dataclass(frozen=True)
class Play:
    """What came of one search."""

    gain: float
    """Relative improvement of the best objective, at most 1."""
    effort: float
    """Seconds, or units of work where time has no say."""
    proven: bool
    """Whether the neighbourhood holds nothing better any more."""
    quick: bool = False
    """Whether that took a small part of the time allowed."""
    hopeless: bool = False
    """Whether time ran out at the root node."""


def resize(arm: Arm, play: Play, least: float) -> None:
    """Let an arm's next neighbourhood be larger or smaller, and more or less ambitious.

    ``least`` is the smallest free share that says anything.
    """
    if play.gain > 0:
        arm.ambition = min(AMBITION, max(2.0 * arm.ambition, LEAST_AMBITION))
    else:
        arm.ambition = 0.5 * arm.ambition if arm.ambition > LEAST_AMBITION else 0.0
    if play.proven:
        arm.free = _grown(arm, play)
        arm.patience = max(1.0, arm.patience / PATIENCE)
    elif play.gain <= 0:
        arm.failed = arm.free
        if arm.free <= least:
            arm.patience = min(MOST_PATIENCE, arm.patience * PATIENCE)
        arm.free = max(least, arm.free * (SHRINK_FAST if play.hopeless else SHRINK))


def _grown(arm: Arm, play: Play) -> float:
    """Return the free share after a proof."""
    if play.gain > 0:
        return arm.free  # what pays goes on
    factor = 1.0 / SHRINK_FAST if play.quick else GROW
    fixed = arm.rate * MOST_FREED
    larger = min(arm.free * factor, 1.0 - fixed if fixed > NEARLY_NOTHING else 1.0)
    if arm.free < arm.failed <= larger:
        # what has failed is not tried again at once, but between the two
        larger = float(np.sqrt(arm.free * arm.failed))
        arm.failed *= GROW
    return larger


START_FREE = (0.3, 0.1)
"""Share of free columns that the two sizes of a neighbourhood begin with."""

MOST_FREE_AT_FIRST = 30_000
"""Free columns to begin with, at the most, so that a large model's first sub-MIPs end in time."""

FEWEST_FREE = 5
"""Free columns below which a neighbourhood says nothing."""

FADING = 0.6
"""What remains of an arm's gains and efforts when a new one is counted: five times without success
leave less than a tenth of an early stroke of luck."""

EXPLORATION = 0.5
"""Weight of the confidence term beside gains that are scaled to at most one."""

PRIOR = 0.7
"""Gain of an arm not tried yet, beside the best arm's one: it comes before a poor arm, but a good
one may go on for a few searches first, which counts where time is short."""

LEAST_TRIED = 1e-3
"""Typical plays that an arm counts at least, however quick its searches were."""


class Bandit:
    """Picks arms and learns from what they gain; safe to share between threads.

    Parameters
    ----------
    names : sequence of str
        The neighbourhoods, most promising first.
    columns : int
        Columns that they may free.
    """

    def __init__(self, names: Sequence[str], columns: int) -> None:
        most = min(1.0, MOST_FREE_AT_FIRST / max(1, columns))
        self._least = min(1.0, FEWEST_FREE / max(1, columns))
        self._arms = [
            Arm(name, size, max(self._least, min(free, most * 0.5**size)))
            for size, free in enumerate(START_FREE)
            for name in names
        ]
        self._lock = threading.Lock()

    @property
    def arms(self) -> tuple[Arm, ...]:
        """All arms, in the order in which they are first tried."""
        return tuple(self._arms)

    def pick(self, without: set[int] | None = None) -> int | None:
        """Return the number of the arm to play, which counts as under way; None if all are out.

        ``without`` holds the numbers of arms that cannot be played now.
        """
        with self._lock:
            playable = [k for k in range(len(self._arms)) if not without or k not in without]
            if not playable:
                return None
            chosen = max(playable, key=self._score)
            self._arms[chosen].pending += 1
            return chosen

    def put_back(self, number: int) -> None:
        """Take a pick back: the arm could not be played."""
        with self._lock:
            self._arms[number].pending -= 1

    def record(self, number: int, play: Play, free: float = 1.0, version: int = 0) -> None:
        """Learn from a search that ended.

        Parameters
        ----------
        number : int
            The arm.
        free : float
            Share of columns that was free, where that was less than the arm's.
        version : int
            Of the pool from which the neighbourhood was made.
        """
        with self._lock:
            arm = self._arms[number]
            arm.pending -= 1
            arm.plays += 1
            # the root keeps a first large step from outweighing all the small ones to come
            arm.gain = FADING * arm.gain + float(np.sqrt(play.gain))
            arm.effort = FADING * arm.effort + play.effort
            arm.spent += play.effort
            arm.free = max(self._least, min(arm.free, free))
            if play.proven:
                arm.proven_at = version
            resize(arm, play, self._least)
            self._tell_sizes(arm)

    def _tell_sizes(self, played: Arm) -> None:
        """Let the other sizes of a neighbourhood begin with what this one has learned."""
        for arm in self._arms:
            if arm.name == played.name and not arm.plays:
                share = START_FREE[arm.size] / START_FREE[played.size]
                arm.free = min(1.0, max(self._least, share * played.free))

    def _score(self, number: int) -> tuple[float, int]:
        """Return what the highest is picked by; ties go to the arm that comes first."""
        arm = self._arms[number]
        plays = sum(one.plays for one in self._arms)
        typical = sum(one.spent for one in self._arms) / plays if plays else 1.0
        # effort in typical plays, so that an arm whose searches end at once is soon tried again
        tried = arm.spent / typical + arm.pending
        best = max(_pace(one) for one in self._arms)
        if arm.plays + arm.pending:
            mean = _pace(arm) / best if best > 0 else 0.0
        else:
            mean, tried = PRIOR, 1.0
        doubt = np.sqrt(np.log(2.0 + plays) / max(tried, LEAST_TRIED))
        return mean + EXPLORATION * float(doubt), -number


def _pace(arm: Arm) -> float:
    return arm.gain / arm.effort if arm.effort > 0 else 0.0
