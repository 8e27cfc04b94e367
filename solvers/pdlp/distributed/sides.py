"""How the rows of a matrix, or its columns, are shared out over devices, and who reads what.

A device owns a range of rows and a range of columns in the order of the model, which in most models
keeps together what belongs together: by scenario, commodity, region or time. It needs the elements
of other devices' columns that its rows have coefficients in, and vice versa. (What is left for
models without such an order is that all elements travel, twice in an iteration.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from solvers.core.problem import FloatArray
from solvers.core.rows import SparseRows
from solvers.sparse.slices import IndexArray, Plan

OWNER_ENTRIES = 8
"""What updating the element of a row costs beside its product, in entries of the matrix: eight
vectors of eight bytes beside entries of four to twelve."""

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


def cut(lengths: IndexArray, shares: FloatArray) -> IndexArray:
    """Return where ranges of rows begin and end (devices + 1,), by the work that rows make.

    Parameters
    ----------
    lengths : (rows,) int array
        Entries of each row.
    shares : (devices,) array
        What part of the work each device is to have; they add up to 1.
    """
    work = np.cumsum(lengths.astype(np.float64) + OWNER_ENTRIES)
    total = work[-1] if work.size else 0.0
    inner = np.searchsorted(work, total * np.cumsum(shares)[:-1], side="left")
    return np.concatenate([[0], inner, [lengths.size]]).astype(np.int64)


def sides_of(
    rows: SparseRows, columns: SparseRows, shares: FloatArray, plan: Plan, piece: int
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

    Returns
    -------
    Side, Side
        Of the rows and of the columns.
    """
    row_cuts, column_cuts = cut(rows.lengths, shares), cut(columns.lengths, shares)
    reads_columns = _touched(rows, row_cuts)
    reads_rows = _touched(columns, column_cuts)
    return (
        _side(rows.lengths, row_cuts, reads_rows, plan, piece),
        _side(columns.lengths, column_cuts, reads_columns, plan, piece),
    )


MOST_PIECES = 4
"""Pieces that a device's elements are sent in at the most: each costs launches of its own."""


def _touched(matrix: SparseRows, cuts: IndexArray) -> BoolArray:
    """Return which columns (devices, columns) the rows of each device have entries in."""
    touched = np.zeros((cuts.size - 1, matrix.shape[1]), dtype=bool)
    for device in range(cuts.size - 1):
        begin, end = matrix.indptr[cuts[device]], matrix.indptr[cuts[device + 1]]
        touched[device][matrix.indices[begin:end]] = True
    return touched


def _side(lengths: IndexArray, cuts: IndexArray, read: BoolArray, plan: Plan, piece: int) -> Side:
    """Return a side from the ranges that devices own and what each of them reads."""
    devices = cuts.size - 1
    shared = []
    for device in range(devices):
        first, last = cuts[device], cuts[device + 1]
        others = np.delete(read[:, first:last], device, axis=0)
        shared.append(others.any(axis=0))
    most = max(int(np.count_nonzero(found)) for found in shared)
    pieces = int(np.clip(-(-most // piece), 1, MOST_PIECES))
    even = np.full(pieces, 1.0 / pieces)
    orders: list[IndexArray] = []
    bounds = []
    for device, found in enumerate(shared):
        wanted = cuts[device] + np.flatnonzero(found)
        ends = cut(lengths[wanted], even)
        parts = [wanted[ends[i] : ends[i + 1]] for i in range(pieces)]
        parts.append(cuts[device] + np.flatnonzero(~found))
        parts = [part[_layout(lengths[part], plan)] for part in parts]
        orders += parts
        bounds.append(tuple(np.cumsum([0, *(part.size for part in parts)]).tolist()))
    transfers, copies = _transfers(orders, bounds, read)
    return Side(
        size=int(lengths.size),
        order=np.concatenate(orders),
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
