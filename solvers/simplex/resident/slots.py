"""Which row has which stored column of the inverse, as the host follows it through the pivots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Pairs = Sequence[tuple[int, int]]


class Slots:
    """Slots of the rows whose logical is nonbasic, and positions of the logicals of all others.

    Attributes
    ----------
    unit_position : (m,) array
        Position at which a row's logical is basic, or -1.
    slot_of_row : (m,) array
        The row's slot, or -1.
    row_of_slot : list of int
        The rows that have slots, in the order of these.
    """

    def __init__(self, rows: int, structurals: int) -> None:
        self._structurals = structurals
        self.unit_position: Indices = np.full(rows, -1, dtype=np.int64)
        self.slot_of_row: Indices = np.full(rows, -1, dtype=np.int64)
        self.row_of_slot: list[int] = []

    def restart(self, basic: Indices, units: Indices) -> Indices:
        """Give slots anew, for a basis with logicals at positions ``units``; return their rows."""
        self.unit_position[:] = -1
        self.unit_position[basic[units] - self._structurals] = units
        rows = np.flatnonzero(self.unit_position < 0)
        self.slot_of_row[:] = -1
        self.slot_of_row[rows] = np.arange(rows.size)
        self.row_of_slot = rows.tolist()
        return rows

    def follow(self, log: npt.NDArray[Any], basic: Indices) -> tuple[dict[int, int], list[int]]:
        """Repeat pivots (position, leaving, entering) on ``basic`` (m,).

        Returns rows whose logical left the basis, with the position it had, and those whose
        logical came in.
        """
        n = self._structurals
        before, now = self.unit_position, self.unit_position.copy()
        touched: dict[int, None] = {}
        for position, leaving, entering in log.tolist():
            basic[position] = entering
            if leaving >= n:
                now[leaving - n] = -1
                touched[leaving - n] = None
            if entering >= n:
                now[entering - n] = position
                touched[entering - n] = None
        joined = {i: int(before[i]) for i in touched if before[i] >= 0 > now[i]}
        left = [i for i in touched if now[i] >= 0 > before[i]]
        self.unit_position = now
        return joined, left

    def open(self, joined: dict[int, int]) -> Pairs:
        """Give rows that have no unit column any more a slot each; return it and the position."""
        first = len(self.row_of_slot)
        slots = range(first, first + len(joined))
        self.row_of_slot += joined
        self.slot_of_row[list(joined)] = slots
        return list(zip(slots, joined.values(), strict=True))

    def close(self, left: list[int]) -> Pairs:
        """Take out the slots of rows that have become unit columns; the last ones fill the gaps.

        Returns for each slot that ends the one it moves to, or -1 where nothing is kept, before it.
        """
        freed = {int(self.slot_of_row[i]) for i in left}
        total = len(self.row_of_slot) - len(left)
        fillers = iter([s for s in range(total, len(self.row_of_slot)) if s not in freed])
        moves: list[tuple[int, int]] = []
        for slot in sorted(freed):
            if slot < total:
                source = next(fillers)
                row = self.row_of_slot[source]
                self.row_of_slot[slot] = row
                self.slot_of_row[row] = slot
                moves.append((slot, source))
            else:
                moves.append((-1, slot))
        self.slot_of_row[left] = -1
        del self.row_of_slot[total:]
        return moves
