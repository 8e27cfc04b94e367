"""Parts of lists that wait for their turn.

A list that outgrows its room is cut in two. One part goes on at once; the other waits here, and
shrinks or goes when its turn comes, because the best profit has risen by then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from solvers.knapsack.dp.history import History, Stages
from solvers.knapsack.dp.states import States
from solvers.knapsack.items import IntArray

S = TypeVar("S", bound=Stages)


@dataclass(frozen=True, eq=False)
class Part(Generic[S]):
    """A part of a list on the host.

    Parameters
    ----------
    states : States
    place : int64 array
        Where in the items it stands: what it has of its own in the array that controls a search.
    history : History
    bound : float
        No packing that comes of it is worth more.
    """

    states: States
    place: IntArray
    history: History[S]
    bound: float = np.inf


class WaitingList(Generic[S]):
    """The parts that wait; the last one to come is the first to go on."""

    def __init__(self) -> None:
        self._parts: list[Part[S]] = []

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, part: Part[S]) -> None:
        """Let a part wait."""
        self._parts.append(part)

    def resume(self, restore: Callable[[Part[S]], int]) -> bool:
        """Go on with a part; False when there is none left.

        ``restore`` makes a part the list and returns how many states it still has; one without any
        is over.
        """
        while self._parts:
            if restore(self._parts.pop()):
                return True
        return False

    @property
    def num_states(self) -> int:
        """States of all parts."""
        return sum(int(part.states.profit.size) for part in self._parts)

    def bound(self, least: float) -> float:
        """Return the largest bound of a part, or ``least`` if that is larger."""
        return max([least, *(part.bound for part in self._parts)])
