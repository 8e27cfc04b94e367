"""The array that controls a search, place by place; the loops and the driver both use it."""

from __future__ import annotations

HISTORY_BITS = 64
"""Bits of a state's history, which is also the number of stages it holds at most."""

COUNT, PLACE, STAGE, SHIFT, ITEMS = range(5)
"""Places in the array that controls a search: states in the list; classes in the core; stages in
this history, the bits they take and the items they chose from."""

PROFIT, HISTORY, ANCESTOR, BEST_STAGE, BEST_ITEM = range(5, 10)
"""The best profit; history and ancestor of the state that has it, with how many stages were over
then, and the item of the stage after them."""

VISITED, TARGET, RESIDUE, MODULUS, SWAPPED, KEPT = range(10, 16)
"""States visited so far; the profit that no selection exceeds; the numbers that bound a profit;
whether the list is in the second pair of arrays; and the items that the last class had left."""

STOP = 16
"""Place of what another thread sets to end ``advance`` before a class is in."""

CONTROLS = 17

EMPTY, FULL, CHECKPOINT, PAUSE = range(4)
"""Why ``advance`` returns: the list is empty, there is no room for the next class, the history
is full, or the work it was given is done or to stop."""

NO_ROOM, STOPPED = -1, -2
"""What ``expand`` returns for a length where the list has not changed, and why."""
