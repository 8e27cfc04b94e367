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

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device, cpu
from solvers.core.linear_algebra import MOST_SHORT, SparseRows
from solvers.core.lp_answer import STEPS_PER_OWNER
from solvers.core.machine import STEPS_PER_LOOK, threads_for
from solvers.core.problem import FloatArray
from solvers.pdlp.kernels.average import AVERAGE
from solvers.pdlp.kernels.matrix import REAL_BYTES
from solvers.sparse.order import order_both
from solvers.sparse.shape import IndexArray, Plan

SWEEPS = 20
"""Sweeps of averaging: of fourteen families of programs on two devices, what travels fell below a
fifth of all elements in seven after twenty, in three after three, and in no other after forty."""


ON_DEVICE_FROM = 10_000_000
"""Nonzeros from which a GPU averages: with 70 million 24 cores took a second."""

LONGEST_ON_DEVICE = 1_000_000
"""Entries of a row, which one warp adds up, to which it does."""


def neighbouring_places(
    rows: SparseRows, columns: SparseRows, device: Device, threads: int
) -> tuple[FloatArray, FloatArray]:
    """Return places of rows (m,) and of columns (n,) in [0, 1], near for those that have to do.

    ``columns`` is the transpose of ``rows``, by its rows. What has no entries stays in the middle.
    Large matrices are averaged on the ``device`` if it has room for their indices.
    """
    row_place = np.full(rows.shape[0], 0.5)
    column_place = np.linspace(0.0, 1.0, rows.shape[1])
    if _averages(device, rows, columns):
        _average_there(rows, columns, row_place, column_place, device)
    else:
        from solvers.native.core_linear_algebra import average

        threads = threads_for(rows.nnz, threads)
        for _ in range(SWEEPS):
            average(rows, column_place, row_place, threads)
            average(columns, row_place, column_place, threads)
    return _spread(row_place), _spread(column_place)


def _averages(device: Device, rows: SparseRows, columns: SparseRows) -> bool:
    """Whether a device does it; matrices of more entries than 32 bits count are the host's."""
    if device.kind == "cpu" or rows.nnz < ON_DEVICE_FROM or rows.nnz > MOST_SHORT:
        return False
    indices, starts = rows.indices.nbytes + columns.indices.nbytes, sum(rows.shape)
    has_room = 2 * (indices + (REAL_BYTES + rows.indptr.itemsize) * starts) <= device.memory_free
    longest = max(int(side.lengths.max(initial=0)) for side in (rows, columns))
    return has_room and longest <= LONGEST_ON_DEVICE


def _average_there(
    rows: SparseRows,
    columns: SparseRows,
    row_place: FloatArray,
    column_place: FloatArray,
    device: Device,
) -> None:
    """Average places (m,) and (n,) on a device, which is the current one."""
    of_rows, of_columns = (device.to_device(place) for place in (row_place, column_place))
    steps = []
    for matrix, places, means in ((rows, of_columns, of_rows), (columns, of_rows, of_columns)):
        there = [device.to_device(part) for part in matrix.short_indices()]
        steps.append((matrix.shape[0], there[1], there[0], places, means))
    for _ in range(SWEEPS):
        for step in steps:
            AVERAGE["average"](*step)
    device.fetch(of_rows, row_place)
    device.fetch(of_columns, column_place)


def _spread(places: FloatArray) -> FloatArray:
    """Return places stretched over [0, 1], in place."""
    if places.size == 0:
        return places
    low, high = float(places.min()), float(places.max())
    if not high > low:
        return np.full(places.size, 0.5)
    places -= low
    places /= high - low
    return places


BINS = 2**16
"""Bins in which places are counted to share rows out by them."""

NOBODY = 255
"""Owner of rows in a bin through which a cut goes, until they are looked at one by one."""

SCATTERED = 0.1
"""Part of all elements from which on, if a device receives so many, another order is looked for,"""
BETTER = 0.8
"""and to which the elements received have to fall for it to be taken."""

BoolArray = npt.NDArray[np.bool_]
OwnerArray = npt.NDArray[np.uint8]

PARTS = 2
"""Parts of what a device owns: what other devices read, which travels while the rest is computed.
In up to four messages that came no sooner than in one: on two H100s iterations of 100 million
nonzeros took 2.76 and 2.75 ms (PageRank), 1.063 and 1.064 (two-stage)."""

Bounds = tuple[int, int, int]


@dataclass(frozen=True)
class Transfer:
    """Elements that a device sends to another."""

    source: int
    target: int
    """Places of the devices in their group."""
    places: IndexArray | slice
    """(count,) int or slice: where they stand among the source's own elements."""
    begin: int
    count: int
    """Where they go among the target's, one behind the other."""


@dataclass(frozen=True, eq=False)
class Side:
    """The rows (or the columns) of a matrix, shared out."""

    size: int
    """Rows in all."""
    order: IndexArray
    """(size,) int: their numbers in the model, device after device and part after part."""
    bounds: tuple[Bounds, ...]
    """tuple of (int, int, int): of each device, where its two parts begin and end among its own
    elements: those that other devices read, and the rest."""
    transfers: tuple[Transfer, ...]
    lengths: tuple[int, ...]
    """Elements on each device: its own and the copies."""

    @property
    def devices(self) -> int:
        """Number of devices."""
        return len(self.bounds)

    def owned(self, device: int) -> int:
        """Return how many elements a device owns."""
        return self.bounds[device][-1]

    def range_of(self, device: int) -> slice:
        """Return where a device's elements stand in the order of all."""
        first = sum(self.owned(before) for before in range(device))
        return slice(first, first + self.owned(device))

    def positions(self, device: int, *, copies: bool = True, threads: int = 0) -> IndexArray:
        """Return where each row of the model (size,) stands on a device; -1 where it does not.

        Without ``copies`` other devices' rows do not. ``threads`` are those of the CPU at most.
        """
        from solvers.native.pdlp_distributed_sides import number

        position = np.full(self.size, -1, dtype=np.int32)
        own = self.order[self.range_of(device)]
        number(own, position, threads_for(STEPS_PER_LOOK * own.size, threads))
        if not copies:
            return position
        for transfer in self.transfers:
            if transfer.target == device:
                sent = self.order[self.range_of(transfer.source)][transfer.places]
                end = transfer.begin + transfer.count
                position[sent] = np.arange(transfer.begin, end, dtype=np.int32)
        return position

    @property
    def received(self) -> int:
        """Most elements that a device receives of others for one product."""
        return max(length - self.owned(device) for device, length in enumerate(self.lengths))


def owners(
    starts: IndexArray, shares: FloatArray, places: FloatArray | None = None, threads: int = 0
) -> OwnerArray:
    """Return which device owns each row (rows,), by the work that rows make.

    Parameters
    ----------
    starts : (rows + 1,) int array
        Where the entries of each row begin, and the last end.
    shares : (devices,) array
        What part of the work each device is to have; they add up to 1.
    places : (rows,) array, optional
        Numbers in [0, 1] by which rows go to the devices, instead of their order.
    threads : int
        CPU threads at most; 0 for all.
    """
    from solvers.native.pdlp_distributed_sides import give_out, work_of_bins

    rows = starts.size - 1
    total = int(starts[-1] - starts[0]) + STEPS_PER_OWNER * rows
    cuts = total * np.cumsum(shares)[:-1]
    if places is None:

        def done(row: int) -> float:
            entries = 0.5 * (int(starts[row]) + int(starts[row + 1])) - int(starts[0])
            return STEPS_PER_OWNER * (row + 0.5) + entries

        ends = [0, *(bisect_left(range(rows), cut, key=done) for cut in cuts), rows]
        return np.repeat(np.arange(shares.size, dtype=np.uint8), np.diff(ends))
    threads = threads_for(STEPS_PER_LOOK * rows, threads)
    work = np.empty(BINS, dtype=np.int64)
    work_of_bins(starts, places, STEPS_PER_OWNER, work, threads)
    until = np.cumsum(work)
    of_bin = np.searchsorted(cuts, until - 0.5 * work, side="right").astype(np.uint8)
    cut = np.unique(np.searchsorted(until, cuts))
    of_bin[cut] = NOBODY
    owner = np.empty(rows, dtype=np.uint8)
    give_out(places, of_bin, owner, threads)
    between = np.flatnonzero(owner == NOBODY)
    bins = (places[between] * (BINS - 1)).astype(np.int64)
    for number in cut.tolist():  # their rows go to the two sides of the cut in their order
        inside = between[bins == number]
        own = starts[inside + 1] - starts[inside] + STEPS_PER_OWNER
        before = until[number] - work[number] + np.cumsum(own) - 0.5 * own
        owner[inside] = np.searchsorted(cuts, before, side="right")
    return owner


def sides_of(
    rows: SparseRows,
    columns: SparseRows,
    shares: FloatArray,
    plan: Plan,
    threads: int = 0,
    device: Device | None = None,
) -> tuple[Side, Side]:
    """Share the rows and the columns of a matrix out over devices.

    Parameters
    ----------
    rows, columns : SparseRows
        A, and A' by its rows.
    shares : (devices,) array
    plan : Plan
        How rows are laid out.
    threads : int
        CPU threads at most; 0 for all.
    device : Device, optional
        The current one, if it is to help.

    Returns
    -------
    Side, Side
        Of the rows and of the columns.
    """
    found = _readers(rows, columns, shares, (None, None), threads)
    received = _received(found)
    if received > SCATTERED * (rows.shape[0] + rows.shape[1]):
        places = neighbouring_places(rows, columns, device or cpu(), threads)
        other = _readers(rows, columns, shares, places, threads)
        found = other if _received(other) < BETTER * received else found
    orders = _orders(rows, columns, plan, threads)
    return _side(found[0], orders[0], threads), _side(found[1], orders[1], threads)


def _orders(
    rows: SparseRows, columns: SparseRows, plan: Plan, threads: int
) -> tuple[IndexArray, IndexArray]:
    """Return the orders in which rows and columns are laid out: longest first, but on a CPU."""
    if plan.height == 1:
        return np.arange(rows.shape[0], dtype=np.int32), np.arange(columns.shape[0], dtype=np.int32)
    of_rows, of_columns = order_both(rows, columns, plan, threads)
    return of_rows.order, of_columns.order


@dataclass(frozen=True, eq=False)
class Readers:
    """Which device owns each row (rows,), and which devices read it (devices, rows)."""

    owner: OwnerArray
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
    threads: int,
) -> tuple[Readers, Readers]:
    """Return who owns and who reads the rows, and the columns."""
    from solvers.native.pdlp_distributed_sides import find_readers

    of_rows, of_columns = (
        owners(side.indptr, shares, order, threads)
        for side, order in zip((rows, columns), places, strict=True)
    )
    found = []
    for side, owner, other in ((rows, of_rows, of_columns), (columns, of_columns, of_rows)):
        read = np.empty((shares.size, owner.size), dtype=bool)
        find_readers(side, other, read, threads_for(side.nnz, threads))
        found.append(Readers(owner, read))
    return found[0], found[1]


def _side(readers: Readers, order: IndexArray, threads: int) -> Side:
    """Return a side from who owns and who reads its rows, and the order to lay them out in."""
    from solvers.native.pdlp_distributed_sides import part_rows

    owner, read = readers.owner, readers.read
    parted, sizes = np.empty_like(order), np.zeros((read.shape[0], PARTS), dtype=np.int64)
    threads = threads_for(STEPS_PER_LOOK * owner.size, threads)
    part_rows(order, owner, read, parted, sizes.reshape(-1), threads)
    bounds = [(0, one, one + other) for one, other in sizes.tolist()]
    orders = np.split(parted, np.cumsum(sizes)[:-1])
    transfers, copies = _transfers(orders, bounds, read)
    return Side(
        size=int(owner.size),
        order=parted,
        bounds=tuple(bounds),
        transfers=tuple(transfers),
        lengths=tuple(copies),
    )


def _transfers(
    orders: list[IndexArray], bounds: list[Bounds], read: BoolArray
) -> tuple[list[Transfer], list[int]]:
    """Return who sends what to whom, and how many elements each device has then.

    ``orders`` are the rows of both parts of all devices, and ``read`` (devices, rows) says who
    reads which.
    """
    devices = len(bounds)
    found, lengths = [], []
    for target in range(devices):
        begin = bounds[target][-1]
        for source in range(devices):
            if source == target:
                continue
            sent = np.flatnonzero(read[target][orders[PARTS * source]])
            if sent.size:
                found.append(Transfer(source, target, _as_slice(sent), begin, sent.size))
            begin += sent.size
        lengths.append(begin)
    return found, lengths


def _as_slice(places: IndexArray) -> IndexArray | slice:
    """Return places that stand one behind the other as a slice, which needs no copy to send."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == places.size else places
