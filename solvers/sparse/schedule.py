"""How the rows of a CSR matrix are shared out over GPU threads.

Rows up to ``long_length`` entries get 1 to 32 threads of a warp. If one number of threads suits
all of them (the warps' steps add up to little more than with the best number for each), rows stay
in their order; otherwise an order by number of threads is kept. Longer rows get one block for each
``chunk`` of their entries, so that a row of any length is done by many blocks at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.sparse.arrays import array_module, group_maxima, stable_order
from solvers.sparse.kernels.csr import LANES

WARP = 32

Order = tuple[Any, tuple[int, ...]]
"""Rows by number of lanes (empty: as they are), and where those with 1, 2, 4, ... lanes end."""

ENTRIES_PER_LANE = 2
"""Entries for which a row gets one more thread: two reads under way hide part of the latency of
each, and neighbouring threads still read neighbouring words."""

LONG_LENGTH = 1024
"""Longest row of a single warp: 32 steps."""

CHUNK = 8192
"""Entries of a long row that one block takes: 32 steps of 256 threads."""

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
    long_length: int = LONG_LENGTH,
    chunk: int = CHUNK,
    *,
    lanes: int | None = None,
    entries_per_lane: int | None = None,
) -> Schedule:
    """Share out rows over GPU threads.

    Parameters
    ----------
    starts : (rows + 1,) index array
    long_length : int
        Longer rows get blocks of their own.
    chunk : int
        Entries of a long row that one block takes.
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
    is_long = lengths > long_length
    long_rows = xp.flatnonzero(is_long)
    short = xp.where(is_long, 0, lengths)
    if lanes is not None:
        order, ends = _uniform(short, lanes)
    elif entries_per_lane is not None:
        order, ends = _by_length(short, entries_per_lane)
    else:
        order, ends = _cheaper(short)
    if order.size:
        order, ends = _without(order, ends, is_long)
    rows = np.array(long_rows.tolist(), dtype=np.int64)
    pieces = -(-np.array(lengths[long_rows].tolist(), dtype=np.int64) // chunk)
    firsts = np.cumsum(pieces) - pieces
    return Schedule(
        order=order.astype(index_type),
        ends=ends,
        long_length=long_length,
        chunk=chunk,
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
    return Schedule(none, ends, longest, CHUNK, none, none, xp.zeros(0), none)


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
    by_class = sum(
        _cost(lengths[order[begin:end]], lanes)
        for begin, end, lanes in zip((0, *ends[:-1]), ends, LANES, strict=True)
    )
    uniform = {lanes: _cost(lengths, lanes) for lanes in LANES}
    best = min(LANES, key=lambda lanes: uniform[lanes])
    return _uniform(lengths, best) if uniform[best] <= ORDER_PAYS * by_class else (order, ends)


def _cost(lengths: Any, lanes: int) -> float:
    """Return the steps of all warps over rows of these lengths with so many lanes each."""
    if not lengths.size:
        return 0.0
    of_warp = group_maxima(-(-lengths // lanes), WARP // lanes)
    return STEP_COST[lanes] * int(of_warp.sum()) + WARP_OVERHEAD * int(of_warp.size)


def _without(order: Any, ends: tuple[int, ...], dropped: Any) -> Order:
    """Take rows out of an order."""
    xp = array_module(order)
    kept = ~dropped[order]
    before = xp.concatenate([xp.zeros(1, dtype=np.int64), xp.cumsum(kept.astype(np.int64))])
    return order[kept], tuple(int(before[end]) for end in ends)
