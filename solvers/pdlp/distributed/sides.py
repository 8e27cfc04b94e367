"""How the rows of a matrix, or its columns, are shared out over devices, and who reads what.

A device owns a range of rows and a range of columns, in the order of the model or in another one,
whichever lets less travel: it needs the elements of other devices' columns that its rows have
coefficients in, and vice versa.

In the other order rows and columns that have to do with each other stand together. Most models list
their columns and rows family by family: the output of all plants in all hours, the levels of all
stores, the balances. A range of such a list has to do with everything, while a range of hours,
scenarios or regions would have to do with little else. Averaging shows that second order inside the
first: a row takes the mean of its columns' places, a column that of its rows', and so on. The
places of all that belongs to one hour soon agree, for it meets in the same rows; from one end of
the year to the other they need thousands of sweeps to. So a few sweeps leave the slow direction, as
power iteration for the second eigenvector of a graph would (Fiedler 1973), and start near it, since
each family is listed in that direction itself.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.cores import threads_for
from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows
from solvers.sparse.shape import IndexArray, Plan

SWEEPS = 20
"""Sweeps of averaging: of fourteen families of programs on two devices, what travels fell below a
fifth of all elements in seven after twenty, in three after three, and in no other after forty."""


def neighbouring_places(
    rows: SparseRows, columns: SparseRows, threads: int
) -> tuple[FloatArray, FloatArray]:
    """Return places of rows (m,) and of columns (n,) in [0, 1], near for those that have to do.

    ``columns`` is the transpose of ``rows``, by its rows. What has no entries stays in the middle.
    """
    from solvers.native.core_rows import average

    threads = threads_for(rows.nnz, threads)
    row_place = np.full(rows.shape[0], 0.5)
    column_place = np.linspace(0.0, 1.0, rows.shape[1])
    for _ in range(SWEEPS):
        average(rows, column_place, row_place, threads)
        average(columns, row_place, column_place, threads)
    return _spread(row_place), _spread(column_place)


def _spread(places: FloatArray) -> FloatArray:
    """Return places stretched over [0, 1]."""
    if places.size == 0:
        return places
    low, high = float(places.min()), float(places.max())
    return (places - low) / (high - low) if high > low else np.full(places.size, 0.5)


OWNER_ENTRIES = 8
"""What updating the element of a row costs beside its product, in entries of the matrix: eight
vectors of eight bytes beside entries of four to twelve."""

BINS = 2**16
"""Bins in which places are counted to share rows out by them."""

SCATTERED = 0.1
"""Part of all elements from which on, if a device receives so many, another order is looked for,"""
BETTER = 0.8
"""and to which the elements received have to fall for it to be taken."""

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Transfer:
    """Elements of one part that a device sends to another.

    Parameters
    ----------
    source, target : int
        Places of the devices in their group.
    part : int
        Which part of the source's they are of.
    places : (count,) int array or slice
        Where they stand among the source's own elements.
    begin, count : int
        Where they go among the target's, one behind the other.
    """

    source: int
    target: int
    part: int
    places: IndexArray | slice
    begin: int
    count: int


@dataclass(frozen=True, eq=False)
class Side:
    """The rows (or the columns) of a matrix, shared out.

    Parameters
    ----------
    size : int
        Rows in all.
    order : (size,) int array
        Their numbers in the model, device after device and part after part.
    bounds : tuple of tuples of int
        Of each device, where its parts begin and end among its own elements. Other devices have to
        do with all parts but the last, which may be empty like any other.
    transfers : tuple of Transfer
    lengths : tuple of int
        Elements on each device: its own and the copies.
    """

    size: int
    order: IndexArray
    bounds: tuple[tuple[int, ...], ...]
    transfers: tuple[Transfer, ...]
    lengths: tuple[int, ...]

    @property
    def devices(self) -> int:
        """Number of devices."""
        return len(self.bounds)

    @property
    def parts(self) -> int:
        """Parts of each device."""
        return len(self.bounds[0]) - 1

    def owned(self, device: int) -> int:
        """Return how many elements a device owns."""
        return self.bounds[device][-1]

    def range_of(self, device: int) -> slice:
        """Return where a device's elements stand in the order of all."""
        first = sum(self.owned(before) for before in range(device))
        return slice(first, first + self.owned(device))

    def positions(self, device: int) -> IndexArray:
        """Return where each row of the model (size,) stands on a device; 0 where it does not."""
        position = np.zeros(self.size, dtype=np.int64)
        own = self.order[self.range_of(device)]
        position[own] = np.arange(own.size)
        for transfer in self.transfers:
            if transfer.target == device:
                sent = self.order[self.range_of(transfer.source)][transfer.places]
                position[sent] = np.arange(transfer.begin, transfer.begin + transfer.count)
        return position

    @property
    def received(self) -> int:
        """Most elements that a device receives of others for one product."""
        return max(length - self.owned(device) for device, length in enumerate(self.lengths))


def owners(lengths: IndexArray, shares: FloatArray, places: FloatArray | None = None) -> IndexArray:
    """Return which device owns each row (rows,), by the work that rows make.

    Parameters
    ----------
    lengths : (rows,) int array
        Entries of each row.
    shares : (devices,) array
        What part of the work each device is to have; they add up to 1.
    places : (rows,) array, optional
        Numbers in [0, 1] by which rows go to the devices, instead of their order.
    """
    work = lengths.astype(np.float64) + OWNER_ENTRIES
    cuts = work.sum() * np.cumsum(shares)[:-1]
    if places is None:
        return _by_cuts(np.cumsum(work) - 0.5 * work, cuts)
    bins = (places * (BINS - 1)).astype(np.int64)
    of_bin = np.bincount(bins, work, BINS)
    ends = np.cumsum(of_bin)
    owner = _by_cuts(ends - 0.5 * of_bin, cuts)[bins]
    for number in np.unique(np.searchsorted(ends, cuts)):  # a cut goes through these bins
        inside = np.flatnonzero(bins == number)
        done = np.cumsum(work[inside]) - 0.5 * work[inside]
        owner[inside] = _by_cuts(ends[number] - of_bin[number] + done, cuts)
    return owner


def _by_cuts(done: FloatArray, cuts: FloatArray) -> IndexArray:
    """Return the device to whose share work belongs, of which so much is ``done`` before."""
    return np.searchsorted(cuts, done, side="right").astype(np.int16)


def sides_of(
    rows: SparseRows,
    columns: SparseRows,
    shares: FloatArray,
    plan: Plan,
    piece: int,
    threads: int = 0,
) -> tuple[Side, Side]:
    """Share the rows and the columns of a matrix out over devices.

    Parameters
    ----------
    rows, columns : SparseRows
        A, and A' by its rows.
    shares : (devices,) array
    plan : Plan
        How rows are laid out.
    piece : int
        Elements that travel together at the most, as far as ``MOST_PIECES`` allow.
    threads : int
        CPU threads at most; 0 for all.

    Returns
    -------
    Side, Side
        Of the rows and of the columns.
    """
    found = _readers(rows, columns, shares, (None, None))
    received = _received(found)
    if received > SCATTERED * (rows.shape[0] + rows.shape[1]):
        places = neighbouring_places(rows, columns, threads)
        other = _readers(rows, columns, shares, places)
        found = other if _received(other) < BETTER * received else found
    with ThreadPoolExecutor(2) as each:
        of_rows, of_columns = each.map(
            lambda matrix, readers: _side(matrix.lengths, readers, plan, piece),
            (rows, columns),
            found,
        )
    return of_rows, of_columns


@dataclass(frozen=True, eq=False)
class Readers:
    """Which device owns each row (rows,), and which devices read it (devices, rows)."""

    owner: IndexArray
    read: BoolArray

    @property
    def received(self) -> int:
        """Most elements that a device reads of others."""
        devices = range(self.read.shape[0])
        return max(int(np.count_nonzero(self.read[one] & (self.owner != one))) for one in devices)


def _received(readers: tuple[Readers, Readers]) -> int:
    return readers[0].received + readers[1].received


def _readers(
    rows: SparseRows,
    columns: SparseRows,
    shares: FloatArray,
    places: tuple[FloatArray | None, FloatArray | None],
) -> tuple[Readers, Readers]:
    """Return who owns and who reads the rows, and the columns."""
    sides = (rows, columns)
    with ThreadPoolExecutor(2) as each:
        owner = [*each.map(lambda side, order: owners(side.lengths, shares, order), sides, places)]
        touched = [*each.map(lambda side, by: _touched(side, by, shares.size), sides, owner)]
    return Readers(owner[0], touched[1]), Readers(owner[1], touched[0])


MOST_PIECES = 4
"""Pieces that a device's elements are sent in at the most: each costs launches of its own."""


def _touched(matrix: SparseRows, owner: IndexArray, devices: int) -> BoolArray:
    """Return which columns (devices, columns) the rows of each device have entries in."""
    touched = np.zeros((devices, matrix.shape[1]), dtype=bool)
    if (np.diff(owner) >= 0).all():
        ends = np.searchsorted(owner, np.arange(devices + 1))
        for device in range(devices):
            begin, end = matrix.indptr[ends[device]], matrix.indptr[ends[device + 1]]
            touched[device][matrix.indices[begin:end]] = True
        return touched
    of_entry = np.repeat(owner.astype(np.uint8), matrix.lengths)
    for device in range(devices):
        touched[device][matrix.indices[of_entry == device]] = True
    return touched


def _side(lengths: IndexArray, readers: Readers, plan: Plan, piece: int) -> Side:
    """Return a side from who owns and who reads its rows."""
    owner, read = readers.owner, readers.read
    devices = read.shape[0]
    owned = [np.flatnonzero(owner == device) for device in range(devices)]
    shared = [
        np.delete(read[:, own], device, axis=0).any(axis=0) for device, own in enumerate(owned)
    ]
    most = max(int(np.count_nonzero(found)) for found in shared)
    pieces = int(np.clip(-(-most // piece), 1, MOST_PIECES))
    even = np.full(pieces, 1.0 / pieces)
    orders: list[IndexArray] = []
    bounds = []
    for own, found in zip(owned, shared, strict=True):
        wanted = own[found]
        piece_of = owners(lengths[wanted], even)
        parts = [wanted[piece_of == number] for number in range(pieces)]
        parts.append(own[~found])
        parts = [part[_layout(lengths[part], plan)] for part in parts]
        orders += parts
        bounds.append(tuple(np.cumsum([0, *(part.size for part in parts)]).tolist()))
    transfers, copies = _transfers(orders, bounds, read)
    return Side(
        size=int(lengths.size),
        order=np.concatenate(orders).astype(np.int32),
        bounds=tuple(bounds),
        transfers=tuple(transfers),
        lengths=tuple(copies),
    )


def _layout(lengths: IndexArray, plan: Plan) -> IndexArray:
    """Return the order in which rows of a part are laid out: longest first, but on a CPU."""
    order: IndexArray = np.argsort(-lengths, kind="stable")
    return np.arange(lengths.size) if plan.height == 1 else order


def _transfers(
    orders: list[IndexArray], bounds: list[tuple[int, ...]], read: BoolArray
) -> tuple[list[Transfer], list[int]]:
    """Return who sends what to whom, and how many elements each device has then.

    ``orders`` are the rows of all parts of all devices, and ``read`` (devices, rows) says who
    reads which.
    """
    devices, parts = len(bounds), len(bounds[0]) - 1
    found, lengths = [], []
    for target in range(devices):
        begin = bounds[target][-1]
        for source in range(devices):
            for part in range(parts - 1):
                if source == target:
                    continue
                sent = np.flatnonzero(read[target][orders[source * parts + part]])
                if sent.size:
                    places = _as_slice(bounds[source][part] + sent)
                    found.append(Transfer(source, target, part, places, begin, sent.size))
                begin += sent.size
        lengths.append(begin)
    return found, lengths


def _as_slice(places: IndexArray) -> IndexArray | slice:
    """Return places that stand one behind the other as a slice, which needs no copy to send."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == places.size else places
