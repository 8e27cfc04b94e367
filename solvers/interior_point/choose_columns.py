"""Which columns stay in the linear system: the free ones and those that would fill it.

A column with k entries fills k (k + 1) / 2 places of the normal equations and one row with k
entries of the augmented system. Where few columns are long among short ones, both ways are
analysed, and the one whose factor is smaller is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from solvers.core.errors import DeviceError
from solvers.core.problem import BoolArray
from solvers.interior_point.analysis import Analysis
from solvers.interior_point.assembly import pair_count
from solvers.interior_point.linear_system import Factorisation
from solvers.interior_point.memory import free_memory
from solvers.interior_point.standard_form import StandardForm

LONG, OF_MEAN = 50, 10.0
"""A column is long with more entries than this, and than this multiple of the mean."""

BYTES_PER_PAIR = 100
"""Memory that laying out the matrix takes for each product of two entries of a column."""


def smallest_system(form: StandardForm, factorisation: Callable[[], Factorisation]) -> Analysis:
    """Return the analysis of the system whose factor is smallest.

    Raises
    ------
    DeviceError
        None fits into memory.
    """
    best: Analysis | None = None
    least = np.inf
    for kept in _candidates(form):
        pairs = BYTES_PER_PAIR * (pair_count(form.matrix, kept) + form.matrix.nnz)
        least = min(least, pairs)
        if pairs > free_memory():
            continue
        if best is not None and _least_entries(form, kept) > best.factorisation.entries:
            continue
        found = Analysis.of(form, kept, factorisation())
        if best is None or found.factorisation.entries < best.factorisation.entries:
            best = found
    needed = least if best is None else best.factorisation.bytes_needed
    room = free_memory() if best is None else best.factorisation.bytes_free
    if best is None or needed > room:
        raise DeviceError(
            f"The interior point method needs about {needed / 1e9:.1f} GB for its linear system "
            f"and {room / 1e9:.1f} GB are free; use method='pdlp' or a larger machine."
        )
    return best


def _candidates(form: StandardForm) -> Iterator[BoolArray]:
    """Yield sets of columns (columns,) to keep."""
    counts = np.diff(form.transposed.indptr)
    long = counts > max(LONG, OF_MEAN * float(np.mean(counts)))
    yield form.free | long
    if (long & ~form.free).any():
        yield form.free


def _least_entries(form: StandardForm, kept: BoolArray) -> float:
    """Return how many entries the normal equations have at least with these columns kept.

    An entry is a sum over columns that stand in both of its rows. So there are at least as many as
    pairs of entries in any set of columns, over the most of these columns that meet in one row.
    """
    counts = np.diff(form.transposed.indptr)
    columns = ~kept & (counts > LONG)
    meeting = np.bincount(form.transposed[columns].indices, minlength=1)
    return pair_count(form.matrix, ~columns) / max(1, int(meeting.max()))
