"""A model laid out for batches of boxes: binary columns first, in the order of columns and in rows.

Binary columns take two bits per candidate, others two numbers; a row that has its binary columns
together is walked without asking at each entry which kind it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.inference.propagation.kernels.layout import LANES, LONG_COLUMN
from solvers.mip.inference.propagation.on_device import DeviceModel
from solvers.mip.model import IndexArray, MipModel

WIDE_BYTES = 3 * 2 * 8 * LANES
"""What a column that is not binary takes: two bounds in every lane, now, next and saved."""


@dataclass(frozen=True, eq=False)
class Places:
    """Places of columns and entries; arrays are on the device but for ``of_column``.

    Parameters
    ----------
    of_column : (n,) int32, on the host
        Place of each column: below ``binaries`` for binary ones.
    binaries : int
        Number of columns that are binary in the model.
    column : (n,) int32
        Column at each place.
    whole : (n - binaries,) int32
        Whether each column at a later place is integer.
    long_columns : (k,) int32
        Places of columns with more entries than one warp should walk.
    row_split : (m,) int32
        Where the entries of binary columns end in each row.
    row_place, row_weight : (nnz,) int32, float64
        Place of the column and coefficient of each entry, in each row the binary ones first.
    row_largest : (m,) float64
        Largest magnitude of a binary column's coefficient in each row, or 0.
    """

    of_column: IndexArray
    binaries: int
    column: Any
    whole: Any
    long_columns: Any
    row_split: Any
    row_place: Any
    row_weight: Any
    row_largest: Any


def batch_bytes(model: MipModel) -> int:
    """Return about how many bytes a batch of boxes takes on its device beside the model."""
    binaries = int(np.count_nonzero(model.is_binary))
    of_columns = 24 * binaries + WIDE_BYTES * (model.num_columns - binaries)
    return 12 * model.num_nonzeros + 40 * (model.num_rows + model.num_columns) + of_columns


def places_of(device_model: DeviceModel) -> Places:
    """Lay a model out for batches, on its device."""
    model, there = device_model.model, device_model.device.to_device
    is_binary = np.asarray(model.is_binary)
    column = np.argsort(~is_binary, kind="stable").astype(np.int32)
    of_column = np.empty_like(column)
    of_column[column] = np.arange(column.size, dtype=np.int32)
    binaries = int(np.count_nonzero(is_binary))
    lengths = model.columns.lengths[column]
    split, position = _binary_first(model, is_binary)
    place, weight = of_column[model.rows.indices], model.rows.data
    if position is not None:
        place, weight = _moved(place, position), _moved(weight, position)
    return Places(
        of_column=of_column,
        binaries=binaries,
        column=there(column),
        whole=there(model.is_integer[column[binaries:]].astype(np.int32)),
        long_columns=there(np.flatnonzero(lengths > LONG_COLUMN).astype(np.int32)),
        row_split=there(split),
        row_place=there(place),
        row_weight=there(weight),
        row_largest=there(_largest(model, is_binary)),
    )


def _binary_first(model: MipModel, is_binary: BoolArray) -> tuple[IndexArray, IndexArray | None]:
    """Return where binary entries end in each row, and where each entry goes (None: it stays)."""
    binary = is_binary[model.rows.indices]
    before = np.concatenate([[0], np.cumsum(binary)])  # binary entries before each entry
    starts = model.rows.indptr[:-1].astype(np.int64)
    split = starts + before[model.rows.indptr[1:]] - before[starts]
    if binary.all() or not binary.any():
        return split.astype(np.int32), None
    lengths = model.rows.lengths
    entry = np.arange(binary.size)
    binary_rank = before[:-1] - np.repeat(before[starts], lengths)
    first = np.repeat(starts, lengths)
    wide_rank = entry - first - binary_rank
    position = np.where(binary, first + binary_rank, np.repeat(split, lengths) + wide_rank)
    return split.astype(np.int32), position.astype(np.int32)


def _moved(values: Any, position: IndexArray) -> Any:
    moved = np.empty_like(values)
    moved[position] = values
    return moved


def _largest(model: MipModel, is_binary: BoolArray) -> FloatArray:
    largest = np.zeros(model.num_rows)
    filled = model.rows.lengths > 0
    if filled.any():
        sizes = np.where(is_binary[model.rows.indices], np.abs(model.rows.data), 0.0)
        largest[filled] = np.maximum.reduceat(sizes, model.rows.indptr[:-1][filled])
    return largest
