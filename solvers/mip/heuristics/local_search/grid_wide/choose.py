"""For which models one walker of the whole GPU is better than many of a warp or block."""

from __future__ import annotations

import numpy as np

from solvers.mip.heuristics.local_search.gpu.layout import Layout

GRID_KERNEL = "walk_grid"
"""Name of this walker's kernel in a plan."""

LONG_LINE = 10_000
"""Entries of a row or column that are too many for one group of threads."""

LONG_LINE_ENTRIES = 1_000_000
"""Entries of a model from which a long row or column decides: in smaller ones a move along a long
column is rare, and a long row is sampled."""

MANY_COLUMNS = 1_000_000
"""Columns from which walkers with a state of their own thrash the caches."""


def suits_grid(layout: Layout) -> bool:
    """Return whether the model has very long rows or columns, or very many columns."""
    if layout.columns > MANY_COLUMNS:
        return True
    matrices = layout.by_row, layout.by_column
    longest = max(int(np.max(matrix.lengths, initial=0)) for matrix in matrices)
    return longest >= LONG_LINE and layout.entries >= LONG_LINE_ENTRIES
