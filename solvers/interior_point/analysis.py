"""What depends on the structure of a standard form alone, and serves every solve that shares it.

A rolling horizon, the subproblems of a decomposition and many scenarios have the same entries in
other sizes. Which columns are kept, the pattern of the matrix, the order of elimination and the
symbolic factorisation are then those of the first solve.

Free columns are kept, and those that would fill the system: a column with k entries fills
k (k + 1) / 2 places of the normal equations and one row with k entries of the augmented system.
Where few columns are long among short ones, both ways are analysed, and the one whose factor is
smaller is taken. Where rows with slacks outnumber the columns by far, all columns but the slacks
are kept: eliminating the rows fills no more than the triangle of the columns.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import DeviceError, EngineError
from solvers.core.machine import free_memory
from solvers.core.problem import BoolArray
from solvers.interior_point.assembly import Pattern, pair_count
from solvers.interior_point.linear_system import Factorisation, LinearSystem
from solvers.interior_point.standard_form import Look, Outline, StandardForm, go_on

Structure = StandardForm | Outline
"""What has the places of entries and tells free columns; values count for nothing here."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """The pattern of a linear system and a factorisation that has analysed it."""

    pattern: Pattern
    factorisation: Factorisation
    seconds: float

    @classmethod
    def of(
        cls,
        form: Structure,
        kept: BoolArray,
        factorisation: Factorisation,
        most: float = np.inf,
        look: Look = go_on,
    ) -> Analysis:
        """Analyse the system of a standard form in which some columns (columns,) are kept.

        A factor of more than ``most`` entries is of no use.
        """
        began = time.perf_counter()
        look()
        pattern = Pattern.of(form.transposed, kept)
        look()
        factorisation.analyse(pattern.row, pattern.column, pattern.size, most)
        return cls(pattern, factorisation, time.perf_counter() - began)

    def system(self, form: StandardForm, device: Device, seconds: float = 0.0) -> LinearSystem:
        """Return the system of a form of this structure, which is on a device.

        So many seconds were spent on it.
        """
        assembly = self.pattern.assembly(form.transposed, device)
        return LinearSystem(form.matrix, form.transposed, assembly, self.factorisation, seconds)


def structure_of(form: Structure, place: str) -> bytes:
    """Return what two forms share whose systems have the same analysis in a place."""
    digest = hashlib.sha256(f"{place} {form.transposed.shape}".encode())
    for part in (form.transposed.indptr, form.transposed.indices, form.free):
        digest.update(part.tobytes())
    return digest.digest()


LONG, OF_MEAN = 50, 10.0
"""A column is long with more entries than this, and than this multiple of the mean."""

BYTES_PER_PAIR = 64
"""Memory that laying out the matrix takes for each product of two entries of a column: 40 to 51
bytes for columns of 3 to 20 entries at random."""

PAIRS_PER_ENTRY = 20
"""Products of two entries of a column, for each entry that the factor may have, above which they
are not summed up to see how many it has: set partitioning (``rail582``) has 23 for each."""


class FillError(EngineError):
    """The factor of every linear system has more entries than the caller wants to pay for."""


def smallest_system(
    form: Structure,
    factorisation: Callable[[], Factorisation],
    most: float = np.inf,
    look: Look = go_on,
) -> Analysis:
    """Return the analysis of the system whose factor is smallest, of at most ``most`` entries.

    Raises
    ------
    DeviceError
        None fits into memory.
    FillError
        All that fit have more entries.
    """
    best: Analysis | None = None
    least = np.inf
    for kept in _candidates(form):
        pairs = pair_count(form.transposed, kept) + form.transposed.nnz
        least = min(least, BYTES_PER_PAIR * pairs)
        if BYTES_PER_PAIR * pairs > free_memory() or pairs > PAIRS_PER_ENTRY * most:
            continue
        smaller = most if best is None else best.factorisation.entries
        if _least_entries(form, kept) > smaller:
            continue
        if pairs > smaller and _entries(form, kept) > smaller:
            continue
        found = Analysis.of(form, kept, factorisation(), smaller, look)
        if found.factorisation.entries <= smaller:
            best = found
    if best is None and least <= free_memory():
        raise FillError(f"Every factor has more than {most:,.0f} entries.")
    needed = least if best is None else best.factorisation.bytes_needed
    room = free_memory() if best is None else best.factorisation.bytes_free
    if best is None or needed > room:
        raise DeviceError(
            f"The interior point method needs about {needed / 1e9:.1f} GB for its linear system "
            f"and {room / 1e9:.1f} GB are free; use method='pdlp' or a larger machine."
        )
    return best


def _candidates(form: Structure) -> Iterator[BoolArray]:
    """Yield sets of columns (columns,) to keep."""
    counts = np.diff(form.transposed.indptr)
    long = counts > max(LONG, OF_MEAN * float(np.mean(counts)))
    several = form.free | (counts > 1)
    num_several = int(np.count_nonzero(several))
    most = form.transposed.nnz + num_several * (num_several + 1) // 2  # rows are eliminated first
    if num_several < form.transposed.shape[1] and most < pair_count(
        form.transposed, form.free | long
    ):
        yield several
    yield form.free | long
    if (long & ~form.free).any():
        yield form.free


def _least_entries(form: Structure, kept: BoolArray) -> float:
    """Return how many entries the normal equations have at least with these columns kept.

    An entry is a sum over columns that stand in both of its rows. So there are at least as many as
    pairs of entries in any set of columns, over the most of these columns that meet in one row.
    """
    counts = np.diff(form.transposed.indptr)
    columns = ~kept & (counts > LONG)
    meeting = np.bincount(form.transposed[columns].indices, minlength=1)
    return pair_count(form.transposed, ~columns) / max(1, int(meeting.max()))


def _entries(form: Structure, kept: BoolArray) -> int:
    """Return how many entries the lower triangle of the normal equations has.

    That takes a tenth of the time of laying them out, 0.3 s on ``complex``.
    """
    rest = form.transposed[~kept]
    pattern = sp.csr_array((np.ones(rest.nnz), rest.indices, rest.indptr), shape=rest.shape)
    both = pattern.T.tocsr() @ pattern
    return int(both.nnz + both.shape[0]) // 2
