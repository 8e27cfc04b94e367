"""Columns near some rows or columns of the constraint graph, for neighbourhoods that hang together.

A row asks something of its columns together: to free one of them is of no use where the others
cannot give way. So columns are freed in the order in which a search through shared rows meets them.
"""

from __future__ import annotations

import numpy as np

from solvers.core.problem import BoolArray
from solvers.core.rows import SparseRows
from solvers.mip.model import IndexArray, MipModel

LONG_ROW = 200
"""Rows at least this long, and holding a tenth of all columns, are not walked through: they would
join everything to everything in one step."""

LONG_SHARE = 0.1


def near_rows(
    model: MipModel, rows: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    """Return ``count`` of the ``wanted`` (n,) columns, or all: those nearest to ``rows`` first.

    The columns of the last layer that is met are taken at random, and so are those that cannot be
    reached. Every entry of the matrix is visited a few times at the most.
    """
    columns = _members(model.rows, np.unique(rows))
    return _grown(model, columns, wanted, count, rng)


def near_columns(
    model: MipModel, columns: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    """Return ``count`` of the ``wanted`` (n,) columns, those nearest to ``columns`` first."""
    return _grown(model, np.unique(columns), wanted, count, rng)


def _grown(
    model: MipModel, layer: IndexArray, wanted: BoolArray, count: int, rng: np.random.Generator
) -> IndexArray:
    lengths = model.rows.lengths
    seen_row = lengths >= max(LONG_ROW, LONG_SHARE * model.num_columns)
    seen = np.zeros(model.num_columns, dtype=bool)
    taken: list[IndexArray] = []
    room = count
    while layer.size and room > 0:
        seen[layer] = True
        useful = layer[wanted[layer]]
        if useful.size > room:
            useful = rng.permutation(useful)[:room]
        taken.append(useful.astype(np.int32))
        room -= useful.size
        rows = _members(model.columns, layer)
        rows = rows[~seen_row[rows]]
        seen_row[rows] = True
        around = _members(model.rows, rows)
        layer = around[~seen[around]]
    if room > 0:
        others = np.flatnonzero(wanted & ~seen).astype(np.int32)
        taken.append(rng.permutation(others)[:room])
    return np.sort(np.concatenate(taken)) if taken else np.empty(0, dtype=np.int32)


def _members(matrix: SparseRows, chosen: IndexArray) -> IndexArray:
    """Return the distinct indices of the chosen rows of a matrix, rising."""
    begins = matrix.indptr[chosen].astype(np.int64)
    lengths = matrix.indptr[chosen + 1] - begins
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    places = np.arange(total) + np.repeat(begins - (ends - lengths), lengths)
    members: IndexArray = np.unique(matrix.indices[places])
    return members
