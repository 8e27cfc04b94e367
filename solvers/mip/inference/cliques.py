"""Cliques: sets of binary literals of which at most one, or exactly one, can be true.

``find_cliques(model)`` reads them off the rows; ``Cliques`` is the table by clique and by literal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.native.mip_inference_cliques import by_literal, collect, undominated

# The table of cliques, by clique and by literal.


@dataclass(frozen=True, eq=False)
class Cliques:
    """Sets of literals of binary columns of which at most one can be true.

    The literal ``2 j + v`` says that column j is v, for v = 0 or 1: column and value of a literal
    are ``literal >> 1`` and ``literal & 1``, its opposite is ``literal ^ 1``. No array may be
    written to.

    Parameters
    ----------
    start : (k+1,) int32
        Clique c's literals are ``start[c]:start[c+1]`` of ``member``.
    member : (entries,) int32
        Literals, rising within a clique.
    is_equality : (k,) uint8
        1 where exactly one literal of the clique is true.
    row : (k,) int32
        The row that says so, -1 where the clique was derived otherwise.
    literal_start : (2n+1,) int32
        The cliques that hold literal l are ``literal_start[l]:literal_start[l+1]`` of
        ``literal_clique``, so that those of column j, with either value, are
        ``literal_start[2*j]:literal_start[2*j+2]``.
    literal_clique : (entries,) int32
        Numbers of cliques, rising for each literal.
    """

    start: IndexArray
    member: IndexArray
    is_equality: ByteArray
    row: IndexArray
    literal_start: IndexArray
    literal_clique: IndexArray

    def __len__(self) -> int:
        return int(self.is_equality.size)

    def members(self, clique: int) -> IndexArray:
        """Return the literals of a clique, rising."""
        return self.member[self.start[clique] : self.start[clique + 1]]

    def of_column(self, column: int) -> IndexArray:
        """Return the cliques that hold a column with the value 0, then those with the value 1."""
        first, last = self.literal_start[2 * column], self.literal_start[2 * column + 2]
        return self.literal_clique[first:last]


def clique_table(
    start: IndexArray,
    member: IndexArray,
    is_equality: ByteArray,
    row: IndexArray,
    num_columns: int,
) -> Cliques:
    """Index cliques by their literals, and drop those that lie within another one.

    Parameters
    ----------
    start, member, is_equality, row
        As in :class:`Cliques`; the literals of a clique rise.
    num_columns : int
        Number of columns n of the model.
    """
    arrays = (
        np.ascontiguousarray(start, dtype=np.int32),
        np.ascontiguousarray(member, dtype=np.int32),
        np.array(is_equality, dtype=np.uint8),
    )
    index = _by_literal(arrays[0], arrays[1], num_columns)
    keep = np.empty(arrays[2].size, dtype=np.bool_)
    undominated(*arrays, *index, keep)
    if not keep.all():
        row = row[keep]
        length = np.diff(arrays[0])
        arrays = (
            np.concatenate(([0], np.cumsum(length[keep]))).astype(np.int32),
            arrays[1][np.repeat(keep, length)],
            arrays[2][keep],
        )
        index = _by_literal(arrays[0], arrays[1], num_columns)
    return Cliques(*arrays, np.ascontiguousarray(row, dtype=np.int32), *index)


def _by_literal(
    start: IndexArray, member: IndexArray, num_columns: int
) -> tuple[IndexArray, IndexArray]:
    """Return where the cliques of each literal begin (2n+1,), and their numbers."""
    literal_start = np.empty(2 * num_columns + 1, dtype=np.int32)
    literal_clique = np.empty(member.size, dtype=np.int32)
    by_literal(start, member, literal_start, literal_clique)
    return literal_start, literal_clique


# Cliques that single rows imply.
#
# Write a row's side as ``sum w_k y_k <= capacity`` with positive weights, where y_k is the literal
# of column k that makes the activity larger and ``capacity`` is what is left when all other
# columns are at their smallest contribution. Two literals exclude each other if their weights
# together exceed the capacity; in order of falling weights, the longest beginning whose last two
# do so is a clique. Set packing and partitioning rows, scaled or complemented, are the case of
# equal weights.


MEMBER_LIMIT = 10_000_000
"""Literals kept in all cliques together: 80 MB with the index; rows beyond it are left out."""


def find_cliques(model: MipModel, limit: int = MEMBER_LIMIT) -> Cliques:
    """Return the cliques of at least two literals that single rows of the model imply.

    Parameters
    ----------
    limit : int
        Most literals in all cliques together; once they are reached, later rows are not read.
    """
    in_rows = int(np.count_nonzero(model.is_binary[model.rows.indices]))
    sides = np.isfinite(model.row_lower).astype(int) + np.isfinite(model.row_upper)
    capacity = min(limit, in_rows * int(np.max(sides, initial=0)))
    most = int(min(sides.sum(), capacity // 2))
    start = np.zeros(most + 1, dtype=np.int32)
    member = np.empty(capacity, dtype=np.int32)
    is_equality = np.empty(most, dtype=np.uint8)
    row = np.empty(most, dtype=np.int32)
    count = collect(model, start, member, is_equality, row)
    return clique_table(
        start[: count + 1],
        member[: start[count]].copy(),
        is_equality[:count],
        row[:count],
        model.num_columns,
    )


__all__ = ["Cliques", "clique_table", "find_cliques"]
