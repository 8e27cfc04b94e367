"""Arms of the bandit: neighbourhoods whose size follows from what comes of their searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SHRINK, SHRINK_FAST, GROW, GROW_FAST = 0.7, 0.5, 1.3, 2.0
"""Factors of the free share: after running out of time without a better point, the same before the
root node was through, after a proof that nothing better is there, and after one in a small part of
the time. In between lies what pays."""

MOST_FREED, NEARLY_NOTHING = 0.5, 0.05
"""Part of the fixed columns that stays fixed at least when a neighbourhood grows, and the share of
all columns up to which none does: a step from three fifths to everything is a leap in the dark."""

FORGIVING = 1.3
"""Factor of the share that has failed, each time that a smaller one is proven to hold nothing."""

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
    """What came of one search.

    Parameters
    ----------
    gain : float
        Relative improvement of the best objective, at most 1.
    effort : float
        Seconds, or units of work where time has no say.
    proven : bool
        Whether the neighbourhood holds nothing better any more.
    quick : bool
        Whether that took a small part of the time allowed.
    hopeless : bool
        Whether time ran out at the root node.
    """

    gain: float
    effort: float
    proven: bool
    quick: bool = False
    hopeless: bool = False


@dataclass(frozen=True)
class Tally:
    """Sums over the searches of one neighbourhood."""

    plays: int = 0
    improvements: int = 0
    gain: float = 0.0
    effort: float = 0.0
    proven: int = 0


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
    factor = GROW_FAST if play.quick else GROW
    fixed = arm.rate * MOST_FREED
    larger = min(arm.free * factor, 1.0 - fixed if fixed > NEARLY_NOTHING else 1.0)
    if arm.free < arm.failed <= larger:
        # what has failed is not tried again at once, but between the two
        larger = float(np.sqrt(arm.free * arm.failed))
        arm.failed *= FORGIVING
    return larger
