"""Cliques that single rows imply: sets of binary literals of which at most one can be true.

Write a row's side as ``sum w_k y_k <= capacity`` with positive weights, where y_k is the literal of
column k that makes the activity larger and ``capacity`` is what is left when all other columns are
at their smallest contribution. Two literals exclude each other if their weights together exceed the
capacity; in order of falling weights, the longest beginning whose last two do so is a clique. Set
packing and partitioning rows, scaled or complemented, are the case of equal weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_cliques import collect


@dataclass(frozen=True, eq=False)
class Cliques:
    """Sets of literals of binary columns of which at most one can be true.

    The literal ``2 j + v`` says that column j is v, for v = 0 or 1: column and value of a literal
    are ``literal >> 1`` and ``literal & 1``. No array may be written to.

    Parameters
    ----------
    start : (k+1,) int32
        Clique c's literals are ``start[c]:start[c+1]`` of ``member``.
    member : (entries,) int32
    """

    start: IndexArray
    member: IndexArray

    def __len__(self) -> int:
        return int(self.start.size) - 1

    def members(self, clique: int) -> IndexArray:
        """Return the literals of a clique."""
        return self.member[self.start[clique] : self.start[clique + 1]]


MEMBER_LIMIT = 10_000_000
"""Literals kept in all cliques together: 40 MB; rows beyond it are left out."""


def find_cliques(model: MipModel, limit: int = MEMBER_LIMIT) -> Cliques:
    """Return the cliques of at least two literals that single rows of the model imply.

    ``limit`` is for the literals in all cliques together; once it is reached, later rows are not
    read.
    """
    in_rows = int(np.count_nonzero(model.is_binary[model.rows.indices]))
    sides = np.isfinite(model.row_lower).astype(int) + np.isfinite(model.row_upper)
    capacity = min(limit, in_rows * int(np.max(sides, initial=0)))
    start = np.zeros(int(min(sides.sum(), capacity // 2)) + 1, dtype=np.int32)
    member = np.empty(capacity, dtype=np.int32)
    count = collect(model, start, member)
    return Cliques(start[: count + 1], member[: start[count]].copy())
