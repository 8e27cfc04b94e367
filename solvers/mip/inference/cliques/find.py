"""Cliques that single rows imply.

Write a row's side as ``sum w_k y_k <= capacity`` with positive weights, where y_k is the literal of
column k that makes the activity larger and ``capacity`` is what is left when all other columns are
at their smallest contribution. Two literals exclude each other if their weights together exceed
the capacity; in order of falling weights, the longest beginning whose last two do so is a clique.
Set packing and partitioning rows, scaled or complemented, are the case of equal weights.
"""

from __future__ import annotations

import numpy as np

from solvers.mip.inference.cliques.table import Cliques, clique_table
from solvers.mip.model import MipModel
from solvers.native.mip_inference_cliques import collect

MEMBER_LIMIT = 10_000_000
"""Literals kept in all cliques together: 80 MB with the index; rows beyond it are left out."""


def find_cliques(model: MipModel, limit: int = MEMBER_LIMIT) -> Cliques:
    """Return the cliques of at least two literals that single rows of the model imply.

    Parameters
    ----------
    model : MipModel
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
