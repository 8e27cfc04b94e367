"""How the rows of a matrix are shared out over slices: lanes and slices for rows of any length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

UNIT = 8
"""Slices of a unit: the warps of a team of threads."""

GROUP = 8
"""Rows of about one length that may share steps."""

SHORT_ROWS, ROWS_OF_UNIT, ROWS_OF_UNITS = 0, 1, 2
"""Kinds of slices: whole rows; an eighth of some rows; a part of rows that have several units."""

IndexArray = npt.NDArray[np.signedinteger[Any]]

Choose = Callable[[int, int], IndexArray]
"""From the first of some rows and the one past their last to the lanes, 32 to 4, for each row of
each whole group."""


@dataclass(frozen=True)
class Plan:
    """How rows are shared out over lanes."""

    height: int = 32
    """Lanes of a slice: 32 on a GPU, 1 on a CPU."""
    steps: int = 4
    """Steps in which a row is done at the most while it has fewer than 32 lanes."""
    unit_from: int = 256
    """Rows with more entries than this take a whole unit."""
    units_from: int = 8192
    """Rows with more entries than this take several units, one for so many entries. A multiple of a
    unit's lanes, so that no unit of a long row is without entries. With 4096 dense columns of
    20,000 entries cost 5 % more than with 8192, with 16384 a staircase 13 %."""
    joins: bool = False
    """Long rows that read neighbouring elements share steps, in which each has fewer lanes."""
    reorders: bool = False
    """Other orders of rows and columns come into question than that of the model (``order.py``)."""


CPU_PLAN = Plan(height=1)


@dataclass(frozen=True, eq=False)
class Shape:
    """Slices of a matrix."""

    meta: npt.NDArray[np.int32]
    """(slices, 4) int32: as in :class:`solvers.sparse.slices.Slices`."""
    splits: npt.NDArray[np.int32]
    """(units, 4) int32: likewise."""
    partials: int
    """Partial sums of rows that have several units."""


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Rows that stand in slices together: the first one, how many, and the lanes of each."""

    first_row: IndexArray
    rows: IndexArray
    lanes: IndexArray


def share_out(lengths: IndexArray, plan: Plan, choose: Choose | None) -> Shape:
    """Share rows (rows,), given by their lengths, longest first, out over slices."""
    bounds = [min(lanes * plan.steps, plan.unit_from) for lanes in (16, 8, 4, 2, 1)]
    bounds = [plan.unit_from, *bounds]
    ends = (lengths.size - np.searchsorted(lengths[::-1], bounds, side="right")).tolist()
    parts, begin = [], 0
    for lanes, end in zip((32, 32, 16, 8, 4, 2, 1), [*ends, lengths.size], strict=True):
        parts.append(_in_blocks(begin, end, lanes, plan.height, choose))
        begin = end
    joined = (np.concatenate(one) for one in zip(*map(_fields, parts), strict=True))
    return _described(lengths, plan, _Blocks(*joined))


def _fields(blocks: _Blocks) -> tuple[IndexArray, IndexArray, IndexArray]:
    return blocks.first_row, blocks.rows, blocks.lanes


def _in_blocks(begin: int, end: int, lanes: int, height: int, choose: Choose | None) -> _Blocks:
    """Put rows ``begin`` to ``end`` into blocks, with so many lanes for each row or fewer."""
    usual, whole = height // lanes, begin
    first_row = rows = lanes_of = np.zeros(0, dtype=np.int64)
    if choose is not None and usual == 1 and end - begin >= GROUP:
        chosen = choose(begin, end)
        lanes_of = np.repeat(chosen, GROUP * chosen // height)
        rows = height // lanes_of
        first_row = begin + np.cumsum(rows) - rows
        whole = begin + GROUP * chosen.size
    rest = np.arange(whole, end, usual)
    return _Blocks(
        np.concatenate([first_row, rest]),
        np.concatenate([rows, np.minimum(usual, end - rest)]),
        np.concatenate([lanes_of, np.full(rest.size, lanes)]),
    )


def _described(lengths: IndexArray, plan: Plan, blocks: _Blocks) -> Shape:
    """Give each block its slices, and say what stands in them."""
    length, together = lengths[blocks.first_row], plan.height // blocks.lanes
    is_joined = length > min(16 * plan.steps, plan.unit_from)
    is_joined &= together > 1
    takes_units = is_joined | (length > plan.unit_from)
    most = np.where(is_joined, max(plan.height * UNIT, plan.units_from // 2), plan.units_from)
    units = np.where(takes_units, -(-length * together // most), 0)
    slices = np.maximum(UNIT * units, 1)
    first = np.cumsum(slices) - slices
    of_first = blocks.rows << 6 | np.where(takes_units, slices, 0) << 12
    code = np.log2(blocks.lanes).astype(np.int64) | np.minimum(units, ROWS_OF_UNITS) << 4
    block = np.repeat(np.arange(length.size), slices)
    count = block.size
    meta = np.zeros((count + -count % UNIT, 4), dtype=np.int32)
    steps = -(-length // (blocks.lanes * slices))
    meta[:count, 1:] = np.stack([steps, blocks.first_row, code], axis=1)[block]
    meta[first, 3] |= of_first.astype(np.int32)
    begin = np.cumsum(meta[:, 1], dtype=np.int64)
    meta[:, 0] = begin - meta[:, 1]
    return Shape(meta, *_splits(units, first, together))


def _splits(
    units: IndexArray, first: IndexArray, together: IndexArray
) -> tuple[npt.NDArray[np.int32], int]:
    """Give partial sums to blocks that have several units, and count them.

    Blocks have so many ``units``, begin with slice ``first`` and hold ``together`` rows.
    """
    several = np.flatnonzero(units > 1)
    own = units[several]
    block = np.repeat(np.arange(own.size), own)
    which = np.arange(block.size) - (np.cumsum(own) - own)[block]
    unit = (first[several] // UNIT)[block] + which
    partials = own * together[several]
    splits = np.zeros((unit[-1] + 1 if unit.size else 0, 4), dtype=np.int32)
    splits[unit, 0] = (np.cumsum(partials) - partials)[block]
    splits[unit, 1], splits[unit, 2] = which, own[block]
    return splits, int(partials.sum())
