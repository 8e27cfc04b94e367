"""A model in a device's memory, with its rows sorted by the logarithm of their length.

It is prepared once and shared by everything that runs there. Rows stay numbered as in the model;
:attr:`RowPlan.order` lists them by length, and a table says how many threads work on each row of a
bin, so that one launch serves all lengths (logarithmic binning: Green et al. 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.rows import SparseRows
from solvers.mip.model import IndexArray, MipModel

# Numbers that decide which bounds propagation accepts; device code repeats them in bounds.cuh.
#
# The test of the kernels compares both places.


ROW_TOLERANCE = 1e-6
"""A row is infeasible when its activity misses a side by more than this, absolutely ..."""

ROW_RELATIVE = 1e-9
"""... and by more than this times the side."""

ROUNDING = 1e-6
"""An implied bound of an integer column may be this far beyond an integer."""

CROSSING = 1e-6
"""Bounds of a continuous column that cross by no more than this become their middle."""

RELAXATION = 1e-9
"""An implied bound of a continuous column moves outward by this times max(1, |bound|), so that
rounding errors of the activities cut nothing off."""

LARGEST_BOUND = 1e15
"""Implied bounds beyond this are no news (Sofranac et al. 2022 take 1e20, FPR 1e5)."""

SMALLEST_ENTRY = 1e-9
"""Smaller coefficients imply no bounds."""

CANCELLING = 1e8
"""A bound this large makes the implied bound of the other side unreliable ..."""

CANCELLED = 1e6
"""... when that is so many times smaller."""

SIGNIFICANT = 1e-3
"""A continuous column's new bound has to be better by this times max(1, |bound|), and by this
times the width of its domain; otherwise cycles of continuous columns creep on for ever."""

SUM_ERROR = 1e-12
"""Rounding error of a row's sum, relative to it and its side: the room of a row grows by it."""

ROUND_LIMIT = 100
"""Rounds of a propagation at most (Sofranac et al. 2022)."""


# Launches that are repeated, and small copies to a device.


def queued(device: Device, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """Return one call for many bound launches: a recorded graph, where the stream allows that.

    The default stream cannot be recorded. Kernels have to be compiled before.
    """

    def one_by_one() -> None:
        for launch in launches:
            launch()

    stream = device.xp.cuda.get_current_stream()
    if stream.ptr == 0:
        return one_by_one
    stream.begin_capture()
    try:
        one_by_one()
    finally:
        graph = stream.end_capture()
    launch_graph: Callable[[], None] = graph.launch
    return launch_graph


def write(target: Any, values: npt.NDArray[Any]) -> None:
    """Overwrite an array of a device, of the same shape and type, with one of the host."""
    if isinstance(target, np.ndarray):
        target[...] = values
    elif values.size:
        target.set(np.ascontiguousarray(values, dtype=target.dtype))


def copy(target: Any, source: Any) -> None:
    """Copy an array to another one of the same device, shape and type, on the current stream."""
    if isinstance(target, np.ndarray):
        target[...] = source
    elif source.size:
        target.data.copy_from_device_async(source.data, source.nbytes)


BLOCK = 256
"""Threads in a block of every kernel here; a row of the last bin gets all of them."""

ENTRIES_PER_THREAD = 4
"""A row gets a group of threads, a power of two, with at most so many entries for each."""

HEAVY_ROW = 16_384
"""Rows longer than this are shared out over several blocks (section 2.1 of arXiv 2510.20499)."""

HEAVY_PART = 8_192
"""Entries of a heavy row that one block takes."""


@dataclass(frozen=True, eq=False)
class RowPlan:
    """Which threads work on which rows, on the device.

    Parameters
    ----------
    order : (m,) int32
        Rows by bin: the shortest first, heavy ones last, in each bin as in the model.
    bins : (b, 4) int32
        Of each bin: first block, first place in ``order``, number of rows, threads per row.
    heavy : (h, 3) int32
        Of each heavy row: its number, its first part, its number of parts.
    parts : (p, 4) int32
        Of each part of a heavy row: the row's place in ``heavy``, the row, first and last + 1
        entry.
    blocks : int
        Blocks of a launch that serves all rows but the heavy ones.
    """

    order: Any
    bins: Any
    heavy: Any
    parts: Any
    blocks: int


@dataclass(frozen=True, eq=False)
class DeviceModel:
    """A model of m rows, n columns and nnz entries on a device; no array may be written to.

    The arrays are those of :class:`solvers.mip.model.MipModel` under the same names, in the
    device's memory (``is_integer`` with 32 bits).

    Parameters
    ----------
    device : Device
    model : MipModel
        What was laid out.
    cost, lower, upper : (n,) float64
    row_lower, row_upper : (m,) float64
    is_integer : (n,) int32
    rows, columns : SparseRows
    plan : RowPlan
    """

    device: Device
    model: MipModel
    cost: Any
    lower: Any
    upper: Any
    row_lower: Any
    row_upper: Any
    is_integer: Any
    rows: SparseRows
    columns: SparseRows
    plan: RowPlan

    @classmethod
    def of(cls, model: MipModel, device: Device) -> DeviceModel:
        """Copy a model to a device; waits until it is there.

        The copy takes about 24 bytes per entry and 60 per row and column.
        """
        there = device.to_device
        laid_out = cls(
            device=device,
            model=model,
            cost=there(model.cost),
            lower=there(model.lower),
            upper=there(model.upper),
            row_lower=there(model.row_lower),
            row_upper=there(model.row_upper),
            is_integer=there(model.is_integer.astype(np.int32)),
            rows=model.rows.on(device),
            columns=model.columns.on(device),
            plan=plan_rows(model.rows.indptr, device),
        )
        device.synchronize()
        return laid_out

    @property
    def num_rows(self) -> int:
        """Number of rows m."""
        return self.model.num_rows

    @property
    def num_columns(self) -> int:
        """Number of columns n."""
        return self.model.num_columns

    @property
    def num_nonzeros(self) -> int:
        """Number of entries of A."""
        return self.model.num_nonzeros


def plan_rows(row_start: IndexArray, device: Device) -> RowPlan:
    """Sort rows into bins of 1, 2, 4, ..., 32 threads, a block, and several blocks per row."""
    lengths = np.diff(row_start)
    threads = threads_of_rows(lengths)
    order = np.argsort(threads, kind="stable").astype(np.int32)
    kinds, firsts, counts = np.unique(threads[order], return_index=True, return_counts=True)
    light = kinds <= BLOCK
    rows_per_block = BLOCK // kinds[light]
    blocks_of_bin = -(-counts[light] // rows_per_block)
    first_block = np.concatenate([[0], np.cumsum(blocks_of_bin)])
    bins = np.column_stack([first_block[:-1], firsts[light], counts[light], kinds[light]])
    heavy, parts = _plan_heavy(row_start, order[threads[order] > BLOCK])
    return RowPlan(
        order=device.to_device(order),
        bins=device.to_device(bins.astype(np.int32)),
        heavy=device.to_device(heavy),
        parts=device.to_device(parts),
        blocks=int(first_block[-1]),
    )


def threads_of_rows(lengths: IndexArray) -> IndexArray:
    """Return how many threads a row of each length gets; 2 BLOCK stands for several blocks."""
    groups = np.maximum(1, -(-lengths // ENTRIES_PER_THREAD))
    threads = 1 << np.ceil(np.log2(groups)).astype(np.int32)
    threads[threads > 32] = BLOCK
    threads[lengths > HEAVY_ROW] = 2 * BLOCK
    return np.asarray(threads, dtype=np.int32)


def _plan_heavy(row_start: IndexArray, rows: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the tables ``heavy`` and ``parts`` of a plan."""
    lengths = (row_start[rows + 1] - row_start[rows]).astype(np.int64)
    counts = -(-lengths // HEAVY_PART)
    first_parts = np.cumsum(counts) - counts
    place = np.repeat(np.arange(rows.size), counts)
    within = np.arange(int(counts.sum())) - first_parts[place]
    begins = row_start[rows[place]] + within * HEAVY_PART
    ends = np.minimum(begins + HEAVY_PART, row_start[rows[place] + 1])
    heavy = np.column_stack([rows, first_parts, counts])
    parts = np.column_stack([place, rows[place], begins, ends])
    return heavy.astype(np.int32), parts.astype(np.int32)
