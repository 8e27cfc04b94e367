"""The roofline model of sparse products: bytes, intensity, and the least time they allow.

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

from dataclasses import dataclass

from solvers.papers.sparse_formats.machine import Machine
from solvers.papers.sparse_formats.statistics import WARP, MatrixStatistics

REAL_BYTES = 8
SECTOR_BYTES = 32

STEP_SECONDS = 1.5e-7
"""Time of one of the steps that a single GPU thread does one after the other: the latency of a
gather (about 0.6 us) over the four that are under way. An estimate, needed only to rule out
formats in which one thread sums a very long row."""

FORMATS = ("csr", "coo", "ell", "sell")


@dataclass(frozen=True)
class Traffic:
    """What one product does and moves; bytes count each element that must travel once.

    Parameters
    ----------
    flops : int
        Two for each nonzero.
    matrix_bytes, vector_bytes, product_bytes : int
    gather_bytes : float
        What reading the vector moves through the cache.
    serial_steps : int
        Steps that one thread has to do one after the other.
    """

    flops: int
    matrix_bytes: int
    vector_bytes: int
    product_bytes: int
    gather_bytes: float
    serial_steps: int = 0

    @property
    def bytes(self) -> int:
        """Bytes that travel between memory and processor."""
        return self.matrix_bytes + self.vector_bytes + self.product_bytes

    @property
    def intensity(self) -> float:
        """Flops per byte."""
        return self.flops / self.bytes if self.bytes else 0.0


@dataclass(frozen=True)
class Prediction:
    """The least time of a product, and what sets it: memory, cache, gathers, ... as docs say."""

    seconds: float
    limit: str


def csr_intensity(
    nonzeros: int, rows: int, columns: int, *, alpha: float | None = None, accumulate: bool = True
) -> float:
    """Return the paper's intensity of the CSR product in flops per byte.

    Parameters
    ----------
    nonzeros, rows, columns : int
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


def product_traffic(
    figures: MatrixStatistics,
    matrix_format: str,
    value_bytes: int = REAL_BYTES,
    index_bytes: int | None = None,
) -> Traffic:
    """Return what a product in a format moves, without building it.

    Parameters
    ----------
    figures : MatrixStatistics
    matrix_format : {'csr', 'coo', 'ell', 'sell'}
    value_bytes, index_bytes : int
        Bytes of a stored value and a stored column; by default not compressed.
    """
    word = figures.index_bytes
    of_entry = value_bytes + (word if index_bytes is None else index_bytes)
    rows, entries = figures.rows, figures.nonzeros
    matrix_bytes, sectors, steps = {
        "csr": (of_entry * entries + word * (rows + 1), figures.row_sectors, 0),
        "coo": ((of_entry + word) * entries, figures.row_sectors, 0),
        "ell": (
            of_entry * figures.ell_touched + word * rows,
            figures.slice_sectors,
            figures.longest,
        ),
        "sell": (
            of_entry * figures.sell_entries + 2 * word * rows + word * (rows // WARP + 1),
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
