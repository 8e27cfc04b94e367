"""Which columns stay in the linear system: the free ones and those that would fill it.

A column with k entries fills k (k + 1) / 2 places of the normal equations and one row with k
entries of the augmented system. Few long columns among short ones are therefore kept.
"""

from __future__ import annotations

import numpy as np

from solvers.core.errors import DeviceError
from solvers.core.problem import BoolArray
from solvers.interior_point.assembly import pair_count
from solvers.interior_point.memory import free_memory
from solvers.interior_point.standard_form import StandardForm

LONG, OF_MEAN = 50, 10.0
"""A column is long with more entries than this, and than this multiple of the mean of its row's."""

BYTES_PER_PAIR = 100
"""Memory that laying out the matrix takes for each product of two entries of a column."""


def columns_to_keep(form: StandardForm) -> BoolArray:
    """Return the columns (columns,) that are not eliminated.

    Raises
    ------
    DeviceError
        What is left fits no memory.
    """
    counts = np.diff(form.transposed.indptr)
    long = counts > max(LONG, OF_MEAN * float(np.mean(counts)))
    kept: BoolArray = form.free | long
    needed = BYTES_PER_PAIR * (pair_count(form.matrix, kept) + form.matrix.nnz)
    available = free_memory()
    if needed > available:
        raise DeviceError(
            f"The interior point method's matrix needs about {needed / 1e9:.1f} GB and "
            f"{available / 1e9:.1f} GB are free; use method='pdlp' or method='highs'."
        )
    return kept
