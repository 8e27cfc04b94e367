"""Which format a matrix gets: predicted by the roofline model, confirmed by timing.

Every format and form that can hold the matrix gets a predicted time; the best few are built and
timed on the device, and the fastest wins. Plain CSR is always among them, so that the choice is
never slower than that. On a GPU cuSPARSE is timed besides, for the record: it cannot be recorded
into a graph and is no candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from solvers.core.device import Device
from solvers.core.errors import EngineError
from solvers.papers.sparse_formats.compress import with_best_values, with_short_columns
from solvers.papers.sparse_formats.convert import to_coo, to_ell, to_sell, uncompressed
from solvers.papers.sparse_formats.formats import CSR, SparseMatrix, prepared
from solvers.papers.sparse_formats.machine import Machine, measure_machine, seconds_per_call
from solvers.papers.sparse_formats.schedule import array_module
from solvers.papers.sparse_formats.statistics import WARP, MatrixStatistics, matrix_statistics

# The roofline model of sparse products: bytes, intensity, and the least time they allow.
#
# After "Performance Engineering for Sparse Linear Solvers" (Thies, Hager, Anzt; ISC 2026). A loop
# that does W flops while V bytes travel has the intensity I = W / V and cannot be faster than
# P = min(peak, I b) on a machine of bandwidth b. Sparse products have intensities around 1/6, far
# below where the peak matters, so that only bytes count. For the CSR product with 8-byte values,
# 4-byte indices and an updated result::
#
#     I = 2 nnz / (12 nnz + 20 rows + 8 columns)  ->  1/6  for long rows,
#
# if every element of the vector travels once; alpha is how often one travels per nonzero, 1 /
# (nonzeros per column) at best. A product that is written and not updated has 12 rows for 20.
#
# Two more roofs: what a GPU's threads gather comes through its second-level cache in sectors of 32
# bytes, whether they need the whole sector or not; and no call is faster than an empty one.


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


TRIED = 3
"""Candidates that are built and timed."""

MOST_PADDING = 0.75
"""Share of padding above which ELL is not considered."""


@dataclass(frozen=True)
class Candidate:
    """One way to hold a matrix, with its predicted time and, once timed, its real one.

    ``values`` and ``columns`` say whether these are compressed; ``seconds`` is None if the
    candidate was not timed.
    """

    format: str
    values: bool
    columns: bool
    traffic: Traffic
    prediction: Prediction
    seconds: float | None = None
    label: str = ""

    @property
    def roofline_share(self) -> float | None:
        """Predicted time over the real one: 1 is as fast as the model allows."""
        return None if not self.seconds else self.prediction.seconds / self.seconds


@dataclass(frozen=True, eq=False)
class Choice:
    """The format chosen for a matrix, and why.

    Parameters
    ----------
    matrix : SparseMatrix
        In the format chosen.
    chosen : Candidate
    candidates : tuple of Candidate
        All that were considered, by predicted time.
    why : str
        One sentence.
    library_seconds : float or None
        What cuSPARSE takes, called plainly; None on a CPU.
    """

    matrix: SparseMatrix
    chosen: Candidate
    candidates: tuple[Candidate, ...]
    why: str
    library_seconds: float | None = None


def candidates(figures: MatrixStatistics, machine: Machine) -> tuple[Candidate, ...]:
    """Return every way to hold a matrix of these figures, the fastest predicted first."""
    found = []
    for matrix_format in FORMATS:
        if matrix_format == "ell" and figures.ell_padding > MOST_PADDING:
            continue
        packs = matrix_format in ("csr", "sell")
        for values in (False, True) if packs and figures.value_bytes < REAL_BYTES else (False,):
            for columns in (False, True) if packs and figures.columns_fit else (False,):
                traffic = product_traffic(
                    figures,
                    matrix_format,
                    figures.value_bytes if values else REAL_BYTES,
                    2 if columns else None,
                )
                prediction = predict(traffic, machine)
                found.append(Candidate(matrix_format, values, columns, traffic, prediction))
    return tuple(sorted(found, key=_by_prediction))


def build(matrix: CSR, candidate: Candidate) -> SparseMatrix:
    """Convert a plain CSR matrix to what a candidate says."""
    if candidate.format == "coo":
        return to_coo(matrix)
    if candidate.format == "ell":
        return to_ell(matrix)
    made = with_best_values(matrix) if candidate.values else matrix
    if candidate.format == "sell":
        slices = to_sell(made)
        return with_short_columns(slices) if candidate.columns else slices
    return with_short_columns(made) if candidate.columns else made


def timed(device: Device, matrix: SparseMatrix, candidate: Candidate) -> Candidate:
    """Return the candidate with the time that its matrix takes on the device."""
    xp = device.xp
    vector, product = xp.ones(matrix.columns), xp.empty(matrix.rows)
    seconds = seconds_per_call(device, prepared(matrix, vector, product))
    return replace(candidate, seconds=seconds, label=matrix.label)


def choose(
    matrix: CSR, device: Device, *, machine: Machine | None = None, tried: int = TRIED
) -> Choice:
    """Return a matrix in the format that multiplies fastest.

    Parameters
    ----------
    matrix : CSR
        On the device.
    device : Device
    machine : Machine, optional
        Measured at the first use if absent.
    tried : int
        Candidates that are timed; 0 trusts the prediction.
    """
    plain = uncompressed(matrix)
    known = candidates(matrix_statistics(plain), machine or measure_machine(device))
    if not tried:
        chosen = known[0]
        why = f"predicted as fastest, limited by {chosen.prediction.limit}; not timed"
        return Choice(build(plain, chosen), chosen, known, why)
    first = next(place for place, candidate in enumerate(known) if _is_plain_csr(candidate))
    best: tuple[Candidate, SparseMatrix] = timed(device, plain, known[first]), plain
    results = {first: best[0]}
    for place in _places_to_try(known, tried):
        try:
            made = build(plain, known[place])
        except EngineError:  # a prediction from statistics may promise more than can be held
            continue
        found = results[place] = timed(device, made, known[place])
        if _seconds(found) < _seconds(best[0]):
            best = found, made
    return Choice(
        best[1],
        best[0],
        tuple(results.get(place, candidate) for place, candidate in enumerate(known)),
        _reason(best[0], list(results.values())),
        library_seconds(device, plain),
    )


def survey(matrix: CSR, device: Device, machine: Machine) -> tuple[Candidate, ...]:
    """Build and time every way to hold a matrix; return them, the fastest first."""
    plain = uncompressed(matrix)
    found = []
    for candidate in candidates(matrix_statistics(plain), machine):
        try:
            made = build(plain, candidate)
        except EngineError:  # more than can be held: too much padding for its index type
            continue
        found.append(timed(device, made, candidate))
    return tuple(sorted(found, key=_seconds))


def library_seconds(device: Device, matrix: CSR) -> float | None:
    """Return what the vendor's product takes on a GPU, called plainly; None on a CPU."""
    call = library_call(device, matrix)
    return None if call is None else seconds_per_call(device, call, graph=False)


def library_call(device: Device, matrix: CSR) -> Callable[[], Any] | None:
    """Return cuSPARSE's CSR product with a vector of ones, or None on a CPU."""
    if device.kind != "cuda" or not matrix.nonzeros:
        return None
    from cupyx.scipy import sparse

    plain = uncompressed(matrix)
    arrays = (plain.storage.values, plain.storage.indices, plain.starts)
    theirs = sparse.csr_matrix(arrays, shape=plain.shape)
    vector = array_module(plain.starts).ones(plain.columns)
    return lambda: theirs @ vector


def _by_prediction(candidate: Candidate) -> tuple[float, int, str]:
    # Of equal times, the fewest bytes: they leave cache to other things.
    return candidate.prediction.seconds, candidate.traffic.bytes, candidate.format


def _places_to_try(known: Sequence[Candidate], tried: int) -> list[int]:
    """Return the best few candidates and the best of another format, without plain CSR."""
    others = [k for k, other in enumerate(known) if other.format != known[0].format]
    places = {*range(min(tried, len(known))), *others[:1]}
    return sorted(place for place in places if not _is_plain_csr(known[place]))


def _is_plain_csr(candidate: Candidate) -> bool:
    return candidate.format == "csr" and not (candidate.values or candidate.columns)


def _seconds(candidate: Candidate) -> float:
    return float("inf") if candidate.seconds is None else candidate.seconds


def _reason(chosen: Candidate, results: Sequence[Candidate]) -> str:
    share = 100.0 * (chosen.roofline_share or 0.0)
    time = 1e6 * _seconds(chosen)
    text = f"{time:.3g} us, {share:.0f} % of what its {chosen.prediction.limit} allows"
    others = [result for result in results if result is not chosen]
    if not others:
        return text
    second = min(others, key=_seconds)
    return f"{text}; next is {second.label} with {1e6 * _seconds(second):.3g} us"
