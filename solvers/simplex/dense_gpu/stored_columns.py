"""Which row has which stored column of the inverse, as the host follows it through the pivots."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


class StoredColumns:
    """Slots of the rows whose logical is nonbasic, and positions of the logicals of all others.

    A slot is the number of a stored column.

    Attributes
    ----------
    maps : (3, m) array
        The next three, one after the other.
    unit_row : (m,) array
        Row whose logical is basic at a position, or -1.
    unit_position : (m,) array
        Position at which a row's logical is basic, or -1.
    slot_of_row : (m,) array
        The row's slot, or -1.
    row_of_slot : (count,) array
        The rows that have slots, in the order of these.
    """

    def __init__(self, rows: int, structurals: int) -> None:
        self._structurals = structurals
        self.maps = np.full((3, rows), -1, dtype=np.int32)
        self.unit_row, self.unit_position, self.slot_of_row = self.maps
        self.row_of_slot: Indices = np.zeros(0, dtype=np.int64)

    def restart(self, basic: Indices, units: Indices) -> Indices:
        """Give slots anew, for a basis with logicals at positions ``units``; return their rows."""
        self.maps[:] = -1
        self.unit_row[units] = basic[units] - self._structurals
        self.unit_position[basic[units] - self._structurals] = units
        rows = np.flatnonzero(self.unit_position < 0)
        self.slot_of_row[rows] = np.arange(rows.size)
        self.row_of_slot = rows
        return rows

    def follow(self, log: npt.NDArray[Any], basic: Indices) -> tuple[Indices, Indices, Indices]:
        """Repeat pivots (position, leaving, entering), one to a row of ``log``, on ``basic`` (m,).

        Returns
        -------
        joined, positions : arrays
            Rows whose logical left the basis, ascending, and the positions it had.
        left : array
            Rows whose logical came in, ascending.
        """
        positions, leaving, entering = log.astype(np.int64).T
        basic[positions] = entering  # of equal positions the last one stays
        self.unit_row[positions] = np.maximum(entering - self._structurals, -1)
        rows = np.empty(2 * positions.size, dtype=np.int64)
        places = np.full(2 * positions.size, -1)
        rows[::2], rows[1::2], places[1::2] = leaving, entering, positions
        logical = rows >= self._structurals
        before = self.unit_position.astype(np.int64)
        now = self.unit_position
        now[rows[logical] - self._structurals] = places[logical]
        was, is_now = before >= 0, now >= 0
        joined = np.flatnonzero(was & ~is_now)
        return joined, before[joined], np.flatnonzero(is_now & ~was)

    def open(self, joined: Indices) -> Indices:
        """Give rows that have no unit column any more a slot each; return these."""
        slots = np.arange(self.row_of_slot.size, self.row_of_slot.size + joined.size)
        self.row_of_slot = np.concatenate((self.row_of_slot, joined))
        self.slot_of_row[joined] = slots
        return slots

    def close(self, left: Indices) -> tuple[Indices, Indices]:
        """Take out the slots of rows that have become unit columns; the last ones fill the gaps.

        Returns
        -------
        targets, sources : arrays
            Slots that end, and the slots they move to before that, or -1.
        """
        freed = np.sort(self.slot_of_row[left]).astype(np.int64)
        total = self.row_of_slot.size - left.size
        gaps, ends = freed[freed < total], freed[freed >= total]
        kept = np.ones(left.size, dtype=bool)
        kept[ends - total] = False
        fillers = total + np.flatnonzero(kept)
        rows = self.row_of_slot[fillers]
        self.slot_of_row[left] = -1
        self.row_of_slot[gaps] = rows
        self.slot_of_row[rows] = gaps
        self.row_of_slot = self.row_of_slot[:total]
        targets = np.concatenate((gaps, np.full(ends.size, -1)))
        return targets, np.concatenate((fillers, ends))
