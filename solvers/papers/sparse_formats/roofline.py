"""The roofline model of sparse products: bytes, intensity, the least time they allow; and timings.

After "Performance Engineering for Sparse Linear Solvers" (Thies, Hager, Anzt; ISC 2026). A loop
that does W flops while V bytes travel has the intensity I = W / V and cannot be faster than
P = min(peak, I b) on a machine of bandwidth b. Sparse products have intensities around 1/6, far
below where the peak matters, so that only bytes count. For the CSR product with 8-byte values,
4-byte indices and an updated result::

    I = 2 nnz / (12 nnz + 20 rows + 8 columns)  ->  1/6  for long rows,

if every element of the vector travels once; alpha is how often one travels per nonzero, 1 /
(nonzeros per column) at best. A product that is written and not updated has 12 rows for 20.

Two more roofs: what a GPU's threads gather comes through its second-level cache in sectors of 32
bytes, whether they need the whole sector or not; and no call is faster than an empty one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.errors import EngineError
from solvers.kernels.declaration import WARP
from solvers.papers.sparse_formats.arrays import array_module, group_maxima
from solvers.papers.sparse_formats.formats import (
    CONVERSIONS,
    CSR,
    SIGMA,
    build,
    prepared,
    sorted_in_windows,
)
from solvers.papers.sparse_formats.machine import Machine, seconds_per_call

REAL_BYTES, INDEX_BYTES, SECTOR_BYTES = 8, 4, 32

STEP_SECONDS = 1.5e-7
"""Time of one of the steps that a single GPU thread does one after the other: the latency of a
gather (about 0.6 us) over the four that are under way. An estimate, needed only to rule out
formats in which one thread sums a very long row."""

MOST_PADDING = 0.75
"""Share of padding above which ELL is not considered."""

GROUPS = 4096
"""Gathers of a warp that are looked at, evenly spread over the matrix."""

STEPS = 16
"""Steps of a slice that are looked at."""


def csr_intensity(
    nonzeros: int, rows: int, columns: int, *, alpha: float | None = None, accumulate: bool = True
) -> float:
    """Return the paper's intensity of the CSR product in flops per byte.

    Parameters
    ----------
    alpha : float, optional
        Elements of the vector that travel per nonzero; columns / nonzeros, the least, if absent.
    accumulate : bool
        The product is added to its target, as in the paper, and not only written.
    """
    of_vector = 8.0 * (columns if alpha is None else alpha * nonzeros)
    of_rows = (20.0 if accumulate else 12.0) * rows
    total = 12.0 * nonzeros + of_rows + of_vector
    return 2.0 * nonzeros / total if total else 0.0


def attainable(intensity: float, bandwidth: float, peak: float = float("inf")) -> float:
    """Return the paper's bound in flops per second: min(peak, intensity * bandwidth)."""
    return min(peak, intensity * bandwidth)


def loop_seconds(flops: float, moved: float, peak: float, bandwidth: float) -> float:
    """Return the paper's least time of a loop: the longer of computing and moving."""
    return max(flops / peak, moved / bandwidth)


@dataclass(frozen=True)
class MatrixStatistics:
    """Figures of a sparse matrix by rows."""

    rows: int
    columns: int
    nonzeros: int
    shortest: int
    longest: int
    """Entries of a row."""
    mean: float
    ell_entries: int
    ell_touched: int
    """Entries that ELL stores, and those in the columns that each 32 rows reach into."""
    sell_entries: int
    """Entries that SELL-32-sigma stores."""
    row_sectors: float
    slice_sectors: float
    """Distinct sectors of 32 bytes, per nonzero, that a warp's gather of the vector fetches: in the
    order of CSR and of SELL. 0.25 if neighbours are read, 1 if entries lie anywhere."""

    @property
    def ell_padding(self) -> float:
        """Share of ELL's entries that is padding."""
        return 1.0 - self.nonzeros / self.ell_entries if self.ell_entries else 0.0

    @property
    def sell_padding(self) -> float:
        """Share of SELL's entries that is padding."""
        return 1.0 - self.nonzeros / self.sell_entries if self.sell_entries else 0.0


def matrix_statistics(matrix: CSR) -> MatrixStatistics:
    """Gather the figures of a matrix, on the device that holds it."""
    lengths = matrix.lengths
    some = lengths if lengths.size else matrix.xp.zeros(1, dtype=np.int64)
    order = sorted_in_windows(lengths, SIGMA)
    longest = int(some.max())
    return MatrixStatistics(
        rows=matrix.rows,
        columns=matrix.columns,
        nonzeros=matrix.nonzeros,
        shortest=int(some.min()),
        longest=longest,
        mean=float(some.mean()),
        ell_entries=longest * matrix.rows,
        ell_touched=_slice_entries(lengths),
        sell_entries=_slice_entries(lengths[order]),
        row_sectors=_row_sectors(matrix.indices),
        slice_sectors=_slice_sectors(matrix, order),
    )


def _slice_entries(lengths: Any) -> int:
    """Return the entries of slices of 32 rows, each as wide as its longest row."""
    return WARP * int(group_maxima(lengths, WARP).astype(np.int64).sum())


def _row_sectors(indices: Any) -> float:
    """Return sectors per nonzero where a warp gathers for 32 entries that follow each other."""
    if not indices.size:
        return 0.0
    xp = array_module(indices)
    groups = xp.full(-(-indices.size // WARP) * WARP, -1, dtype=indices.dtype)
    groups[: indices.size] = indices
    whole = max(1, indices.size // WARP)
    picked = xp.asarray(np.linspace(0, whole - 1, min(whole, GROUPS)).astype(np.int64))
    return _distinct_share(groups.reshape(-1, WARP)[picked])


def _slice_sectors(matrix: CSR, order: Any) -> float:
    """Return sectors per nonzero where a warp gathers for the k-th entries of 32 rows."""
    if not matrix.nonzeros:
        return 0.0
    xp = matrix.xp
    slices = -(-matrix.rows // WARP)
    picked = np.linspace(0, slices - 1, min(slices, GROUPS // STEPS)).astype(np.int64)
    places = (picked[:, None] * WARP + np.arange(WARP)).ravel()
    rows = order[xp.asarray(places[places < matrix.rows])]
    rows = xp.concatenate([rows, xp.full(-rows.size % WARP, matrix.rows - 1, dtype=rows.dtype)])
    first, end = matrix.starts[rows], matrix.starts[rows + 1]
    entries = first[None, :] + xp.arange(STEPS, dtype=first.dtype)[:, None]
    inside = entries < end[None, :]
    columns = matrix.indices[xp.where(inside, entries, 0)]
    return _distinct_share(xp.where(inside, columns, -1).reshape(-1, WARP))


def _distinct_share(columns: Any) -> float:
    """Return distinct sectors per column over groups of 32; -1 stands for no column."""
    xp = array_module(columns)
    reals = SECTOR_BYTES // REAL_BYTES
    sectors = xp.sort(xp.where(columns < 0, -1, columns // reals), axis=1)
    new = sectors[:, 1:] != sectors[:, :-1]
    distinct = int(new.sum()) + int(sectors.shape[0]) - int((sectors[:, 0] < 0).sum())
    return distinct / max(1, int((columns >= 0).sum()))


@dataclass(frozen=True)
class Traffic:
    """What one product does and moves; bytes count each element that must travel once."""

    flops: int
    """Two for each nonzero."""
    matrix_bytes: int
    vector_bytes: int
    product_bytes: int
    gather_bytes: float
    """What reading the vector moves through the cache."""
    serial_steps: int = 0
    """Steps that one thread has to do one after the other."""

    @property
    def bytes(self) -> int:
        """Bytes that travel between memory and processor."""
        return self.matrix_bytes + self.vector_bytes + self.product_bytes

    @property
    def intensity(self) -> float:
        """Flops per byte."""
        return self.flops / self.bytes if self.bytes else 0.0


def product_traffic(figures: MatrixStatistics, matrix_format: str) -> Traffic:
    """Return what a product in a format moves, without building it."""
    entry, word = REAL_BYTES + INDEX_BYTES, INDEX_BYTES
    rows, entries = figures.rows, figures.nonzeros
    matrix_bytes, sectors, steps = {
        "csr": (entry * entries + word * (rows + 1), figures.row_sectors, 0),
        "coo": ((entry + word) * entries, figures.row_sectors, 0),
        "ell": (
            entry * figures.ell_touched + word * rows,
            figures.slice_sectors,
            figures.longest,
        ),
        "sell": (
            entry * figures.sell_entries + 2 * word * rows + word * (rows // WARP + 1),
            figures.slice_sectors,
            figures.longest,
        ),
    }[matrix_format]
    return Traffic(
        flops=2 * entries,
        matrix_bytes=matrix_bytes,
        vector_bytes=REAL_BYTES * min(figures.columns, entries),
        product_bytes=REAL_BYTES * rows * (2 if matrix_format == "coo" else 1),
        gather_bytes=SECTOR_BYTES * sectors * entries,
        serial_steps=steps,
    )


@dataclass(frozen=True)
class Prediction:
    """The least time of a product, and what sets it.

    ``limit`` is "memory", "cache" or "launch", and on a GPU also "gathers" or "longest row".
    """

    seconds: float
    limit: str


def predict(traffic: Traffic, machine: Machine) -> Prediction:
    """Return the least time of a product on a machine.

    The bytes come from memory, or from the cache if they all fit there (as they do in an
    iteration that uses one matrix again and again).
    """
    fits = traffic.bytes <= machine.cache_bytes
    source = machine.cache_bandwidth if fits else machine.memory_bandwidth
    limits = {
        "cache" if fits else "memory": traffic.bytes / source,
        "launch": machine.launch_seconds,
    }
    if machine.kind == "cuda":
        through_cache = traffic.matrix_bytes + traffic.gather_bytes + traffic.product_bytes
        limits["gathers"] = through_cache / machine.cache_bandwidth
        limits["longest row"] = traffic.serial_steps * STEP_SECONDS
    limit = max(limits, key=lambda name: limits[name])
    return Prediction(limits[limit], limit)


@dataclass(frozen=True)
class Candidate:
    """A format with its predicted time and, once timed, its real one; infinite before."""

    format: str
    traffic: Traffic
    prediction: Prediction
    seconds: float = float("inf")

    @property
    def roofline_share(self) -> float:
        """Predicted time over the real one: 1 is as fast as the model allows."""
        return self.prediction.seconds / self.seconds


def candidates(figures: MatrixStatistics, machine: Machine) -> tuple[Candidate, ...]:
    """Return every format that suits a matrix of these figures, the fastest predicted first."""
    found = []
    for matrix_format in CONVERSIONS:
        if matrix_format == "ell" and figures.ell_padding > MOST_PADDING:
            continue
        traffic = product_traffic(figures, matrix_format)
        found.append(Candidate(matrix_format, traffic, predict(traffic, machine)))
    return tuple(sorted(found, key=lambda one: one.prediction.seconds))


def survey(matrix: CSR, device: Device, machine: Machine) -> tuple[Candidate, ...]:
    """Build and time a matrix in every format; return them, the fastest first."""
    found = []
    for candidate in candidates(matrix_statistics(matrix), machine):
        try:
            made = build(matrix, candidate.format)
        except EngineError:  # more padding than 32-bit indices number
            continue
        vector, product = device.xp.ones(matrix.columns), device.xp.empty(matrix.rows)
        seconds = seconds_per_call(device, prepared(made, vector, product))
        found.append(replace(candidate, seconds=seconds))
    return tuple(sorted(found, key=lambda one: one.seconds))


def library_seconds(device: Device, matrix: CSR) -> float | None:
    """Return what the vendor's product takes on a GPU, called plainly; None on a CPU."""
    call = library_call(device, matrix)
    return None if call is None else seconds_per_call(device, call, graph=False)


def library_call(device: Device, matrix: CSR) -> Callable[[], Any] | None:
    """Return cuSPARSE's CSR product with a vector of ones, or None on a CPU."""
    if device.kind != "cuda" or not matrix.nonzeros:
        return None
    from cupyx.scipy import sparse

    theirs = sparse.csr_matrix(
        (matrix.values, matrix.indices, matrix.starts), shape=(matrix.rows, matrix.columns)
    )
    vector = device.xp.ones(matrix.columns)
    return lambda: theirs @ vector
