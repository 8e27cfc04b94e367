"""What goes before a matrix is dissected: rows that touch so few others that any order will do.

Nested dissection looks for small separators in the whole graph of a matrix. Most rows of a large
linear program touch two or three others, or others that touch each other already. They are
eliminated first, whatever is found for the rest (Ost, Schulz and Strash, "Engineering data
reduction for nested dissection", ALENEX 2021): of an energy system of 8,760 hours 240,900 of 1.66
million rows are left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.native.interior_point_graph_reduction import assign_parts, reduce

IndexArray = npt.NDArray[Any]

FEW = 3
"""Neighbours with which a row is eliminated in any case, as ``graph_reduction.cpp`` has it."""


class GraphReduction(NamedTuple):
    """Rows of a matrix that are eliminated first, and the matrix that is left to be ordered.

    ``eliminated`` (e,) are in their order, each with its neighbours then in ``starts`` (e + 1,) and
    ``neighbours``. ``left`` (size,) are the others; ``row`` and ``column`` (entries,) the lower
    triangle of their matrix by columns, numbered in the order of ``left``.
    """

    eliminated: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]
    left: npt.NDArray[np.int32]
    row: npt.NDArray[np.int32]
    column: npt.NDArray[np.int32]

    @classmethod
    def of(cls, row: IndexArray, column: IndexArray, size: int) -> GraphReduction:
        """Reduce a matrix whose lower triangle has entries there."""
        entries = row.size
        lengths = size, size + 1, FEW * size + entries, size, size + entries, size + entries
        types = np.int32, np.int64, *(np.int32 for _ in range(4))
        to = cls(*map(np.empty, lengths, types))
        counts = np.zeros(3, dtype=np.int64)
        row, column = (part.astype(np.int32, copy=False) for part in (row, column))
        reduce(row, column, size, to, counts)
        eliminated, left, entries = map(int, counts)
        return cls(
            to.eliminated[:eliminated],
            to.starts[: eliminated + 1],
            to.neighbours,
            to.left[:left],
            to.row[:entries],
            to.column[:entries],
        )

    def whole(
        self, order: IndexArray, tree: npt.NDArray[np.int32]
    ) -> tuple[IndexArray, npt.NDArray[np.int32]] | None:
        """Return the order of all rows and the sizes of their parts, from those of what is left.

        Parameters
        ----------
        order : (size,) array of int
            Rows of the matrix that is left.
        tree : (parts,) array of int
            How many of them are in each part, one part after the other: those without parts of
            their own, then from two of these the one that separates them, up to one of all.

        Returns
        -------
        tuple or None
            None where rows of two parts touch each other of which none separates the other: then
            the sizes do not mean this.
        """
        if tree.sum() != order.size:
            return None
        in_heap = np.arange(tree.size - 1, -1, -1, dtype=np.int32)
        part = np.empty(self.left.size + self.eliminated.size, dtype=np.int32)
        part[self.left[order]] = np.repeat(in_heap, tree)
        if not assign_parts(self, part):
            return None
        sequence = np.concatenate([self.eliminated, self.left[order]])
        place = tree.size - 1 - part[sequence]
        by_part = np.argsort(place.astype(np.int16), kind="stable")
        return sequence[by_part], np.bincount(place, minlength=tree.size).astype(np.int32)
