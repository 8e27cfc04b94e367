"""How the rows of a CSR matrix are shared out over GPU threads.

Short rows get 1 to 32 threads of a warp. If one number of threads suits all of them (the product
takes little more time than with the best number for each), rows stay in their order; otherwise an
order by number of threads is kept. Longer rows get one block for each chunk of their entries, so
that a row of any length is done by many blocks at once. What is long, and how large a chunk,
depends on how many such rows there are: as long as blocks would otherwise be idle, more of them
make a product end sooner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.papers.sparse_formats.kernels.csr import LANES

# The few array operations in which NumPy and CuPy differ, or which neither has.
#
# Empty arrays are seen to here: not every operation of CuPy takes them.


def array_module(array: Any) -> Any:
    """Return the module an array belongs to: NumPy or CuPy."""
    if type(array).__module__.partition(".")[0] != "cupy":
        return np
    import cupy

    return cupy


def stable_order(keys: Any) -> Any:
    """Return the places of the keys in ascending order, equal ones in the order they had."""
    if not keys.size:
        return array_module(keys).arange(0)
    # CuPy sorts stably always and takes no other word for it.
    return np.argsort(keys, kind="stable") if isinstance(keys, np.ndarray) else keys.argsort()


def inverse_order(order: Any) -> Any:
    """Return where each element has gone."""
    xp = array_module(order)
    inverse = xp.empty_like(order)
    inverse[order] = xp.arange(order.size, dtype=order.dtype)
    return inverse


def owners_of_entries(starts: Any, count: int) -> Any:
    """Return the row of each of ``count`` entries from the (rows + 1,) places where rows start."""
    xp = array_module(starts)
    places = xp.arange(count, dtype=starts.dtype)
    if not count:
        return places
    return xp.searchsorted(starts[1:], places, side="right").astype(starts.dtype)


def starts_of(lengths: Any, index_type: Any) -> Any:
    """Return the (rows + 1,) places where rows of these lengths start."""
    xp = array_module(lengths)
    starts = xp.zeros(lengths.size + 1, dtype=index_type)
    if lengths.size:
        starts[1:] = xp.cumsum(lengths.astype(np.int64))
    return starts


def starts_in(owners: Any, owner_count: int) -> Any:
    """Return the (owner_count + 1,) places where each owner's run starts in ascending owners."""
    xp = array_module(owners)
    if not owners.size:
        return xp.zeros(owner_count + 1, dtype=owners.dtype)
    found = xp.searchsorted(owners, xp.arange(owner_count + 1, dtype=owners.dtype), side="left")
    return found.astype(owners.dtype)


def group_maxima(array: Any, group: int) -> Any:
    """Return the largest of each ``group`` neighbours of an array of numbers from 0 on."""
    return padded(array, group).reshape(-1, group).max(axis=1) if array.size else array


def padded(array: Any, multiple: int) -> Any:
    """Return the array with zeros at its end up to a multiple of a length."""
    xp = array_module(array)
    longer = xp.zeros(-(-array.size // multiple) * multiple, dtype=array.dtype)
    longer[: array.size] = array
    return longer


WARP = 32

HostIndices = npt.NDArray[np.int64]

Order = tuple[Any, tuple[int, ...]]
"""Rows by number of lanes (empty: as they are), and where those with 1, 2, 4, ... lanes end."""

ENTRIES_PER_LANE = 2
"""Entries for which a row gets one more thread: neighbouring threads read neighbouring words, and
a thread has several reads under way."""

BATCH = 4
"""Entries that a thread reads at once (``device/storage.cuh``)."""

LONG_LENGTHS = (128, 256, 512, 1024)
"""Rows longer than the first of these get blocks, unless too many are; then the next."""

CHUNKS = (1024, 2048, 4096, 8192)
"""Entries of a long row that one block takes: 4 to 32 for each thread."""

WARPS_AT_ONCE, BLOCKS_AT_ONCE = 8192, 1024
"""What a large GPU runs at the same time. Up to this, more blocks cost nothing and end sooner."""

STEP_COST = {1: 2.9, 2: 1.7, 4: 1.15, 8: 1.0, 16: 1.0, 32: 1.0}
"""Sectors of 32 bytes that a warp's step reads of values, columns and vector, by threads per row
and in units of the least: fewer neighbours share a sector where rows have fewer threads."""

WARP_OVERHEAD = 2.0
"""What finding, reducing and storing rows costs a warp, in steps of its loop."""

ORDER_PAYS = 1.25
"""Ratio of steps from which the order of rows is worth reading it."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Rows by number of threads; arrays are index arrays on the matrix's device.

    Parameters
    ----------
    order : (short rows,) array
        Rows of at most ``long_length`` entries by their number of threads; empty if not needed.
    ends : tuple of int
        Place in that order (or row) where those with up to 1, 2, 4, 8, 16, 32 threads end.
    long_length, chunk : int
    chunk_rows, chunk_firsts : (chunks,) arrays
        Row of each chunk, and the first chunk of that row.
    partials : (chunks,) float array
    tickets : (chunks,) array
        Scratch memory of the product.
    """

    order: Any
    ends: tuple[int, ...]
    long_length: int
    chunk: int
    chunk_rows: Any
    chunk_firsts: Any
    partials: Any
    tickets: Any

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments that ``csr_multiply`` takes of it."""
        return (
            self.order,
            int(self.order.size > 0),
            *self.ends,
            self.long_length,
            self.chunk,
            int(self.chunk_rows.size),
            self.chunk_rows,
            self.chunk_firsts,
            self.partials,
            self.tickets,
        )


def share_rows(
    starts: Any,
    long_length: int | None = None,
    chunk: int | None = None,
    *,
    lanes: int | None = None,
    entries_per_lane: int | None = None,
) -> Schedule:
    """Share out rows over GPU threads.

    Parameters
    ----------
    starts : (rows + 1,) index array
    long_length : int, optional
        Longer rows get blocks of their own; by default as many rows as blocks run at once.
    chunk : int, optional
        Entries of a long row that one block takes; by default the least with which all blocks of
        long rows run at once.
    lanes : int, optional
        So many threads for each row that is not long.
    entries_per_lane : int, optional
        One thread for so many entries of a row, in an order by number of threads. Without either,
        the cheaper of both is taken, by the steps that the warps have to do.
    """
    xp, index_type = array_module(starts), starts.dtype
    if starts.size == 1:
        return in_given_order(starts)
    lengths = starts[1:] - starts[:-1]
    limit, rows, row_lengths = _long_rows(lengths, long_length)
    pieces = _pieces(row_lengths, chunk or _chunk_for(row_lengths))
    firsts = np.cumsum(pieces) - pieces
    is_long = lengths > limit
    short = xp.where(is_long, 0, lengths)
    if lanes is not None:
        order, ends = _uniform(short, lanes)
    elif entries_per_lane is not None:
        order, ends = _by_length(short, entries_per_lane)
    else:
        order, ends = _cheaper(short)
    if order.size:
        order, ends = _without(order, ends, is_long)
    return Schedule(
        order=order.astype(index_type),
        ends=ends,
        long_length=limit,
        chunk=chunk or _chunk_for(row_lengths),
        chunk_rows=xp.asarray(np.repeat(rows, pieces).astype(index_type)),
        chunk_firsts=xp.asarray(np.repeat(firsts, pieces).astype(index_type)),
        partials=xp.zeros(int(pieces.sum())),
        tickets=xp.zeros(int(pieces.sum()), dtype=index_type),
    )


def in_given_order(starts: Any) -> Schedule:
    """Return the schedule for a device that takes rows one after the other."""
    xp, index_type = array_module(starts), starts.dtype
    none = xp.zeros(0, dtype=index_type)
    ends = (int(starts.size) - 1,) * len(LANES)
    longest = int(np.iinfo(index_type).max)
    return Schedule(none, ends, longest, CHUNKS[-1], none, none, xp.zeros(0), none)


def _long_rows(lengths: Any, long_length: int | None) -> tuple[int, HostIndices, HostIndices]:
    """Return from which length rows get blocks, these rows, and their lengths, on the host."""
    xp = array_module(lengths)
    for limit in LONG_LENGTHS if long_length is None else (long_length,):
        rows = xp.flatnonzero(lengths > limit)
        if rows.size <= BLOCKS_AT_ONCE:
            break
    return limit, _on_host(rows), _on_host(lengths[rows] if rows.size else rows)


def _on_host(array: Any) -> HostIndices:
    return np.array(array.tolist(), dtype=np.int64)


def _chunk_for(row_lengths: HostIndices) -> int:
    """Return the least chunk with which long rows keep to the blocks that run at once."""
    fitting = (c for c in CHUNKS if int(_pieces(row_lengths, c).sum()) <= BLOCKS_AT_ONCE)
    return next(fitting, CHUNKS[-1])


def _pieces(row_lengths: HostIndices, chunk: int) -> HostIndices:
    return -(-row_lengths // chunk)


def _uniform(lengths: Any, lanes: int) -> Order:
    """Return the order of the rows as they are, with so many lanes for each."""
    none = array_module(lengths).arange(0)
    return none, tuple(int(lengths.size) if wide >= lanes else 0 for wide in LANES)


def _by_length(lengths: Any, entries_per_lane: int) -> Order:
    """Return an order by number of lanes."""
    xp = array_module(lengths)
    limits = xp.asarray(np.array(LANES[:-1], dtype=np.int64) * entries_per_lane)
    lane_class = xp.searchsorted(limits, lengths, side="left")
    order = stable_order(lane_class)
    ends = xp.searchsorted(lane_class[order], xp.arange(len(LANES)), side="right")
    return order, tuple(int(end) for end in ends)


def _cheaper(lengths: Any) -> Order:
    """Return an order by number of lanes, unless one number suits nearly all rows."""
    order, ends = _by_length(lengths, ENTRIES_PER_LANE)
    classes = [
        _cost(lengths[order[begin:end]], lanes)
        for begin, end, lanes in zip((0, *ends[:-1]), ends, LANES, strict=True)
    ]
    ordered = _time(sum(steps for steps, _ in classes), max(rounds for _, rounds in classes))
    uniform = {lanes: _time(*_cost(lengths, lanes)) for lanes in LANES}
    best = min(LANES, key=lambda lanes: uniform[lanes])
    return _uniform(lengths, best) if uniform[best] <= ORDER_PAYS * ordered else (order, ends)


def _time(steps: float, rounds: int) -> float:
    """Return the time of a product in steps: all warps' work, and the longest wait of one."""
    return steps / WARPS_AT_ONCE + BATCH * rounds


def _cost(lengths: Any, lanes: int) -> tuple[float, int]:
    """Return what rows of these lengths with so many lanes each cost.

    These are the steps of all warps, and how often the slowest has to wait for what it reads.
    """
    if not lengths.size:
        return 0.0, 0
    of_warp = group_maxima(-(-lengths // lanes), WARP // lanes)
    steps = STEP_COST[lanes] * int(of_warp.sum()) + WARP_OVERHEAD * int(of_warp.size)
    return steps, -(-int(of_warp.max()) // BATCH)


def _without(order: Any, ends: tuple[int, ...], dropped: Any) -> Order:
    """Take rows out of an order."""
    xp = array_module(order)
    kept = ~dropped[order]
    before = xp.concatenate([xp.zeros(1, dtype=np.int64), xp.cumsum(kept.astype(np.int64))])
    return order[kept], tuple(int(before[end]) for end in ends)
