"""A feasible point on its way down: its columns, its activities, and scores of moves from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.problem import BoolArray, FloatArray
from solvers.mip.heuristics.one_opt.kernels.moves import MOVES
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.model import ByteArray, IndexArray, MipModel
from solvers.native.mip_heuristics_one_opt import apply_pairs, apply_shifts, columns_of

STEADY = 1e-9
"""Least gain of a move, absolute: smaller ones are rounding."""

RELATIVE_GAIN = 1e-12
"""The same relative to the objective."""


class Walk:
    """A feasible point, changed by moves that keep every row and improve the objective.

    Parameters
    ----------
    model : MipModel
    x : (n,) float64
        A feasible point whose integer columns are whole; copied.
    device : DeviceModel, optional
        The model on the device that scores moves; the CPU scores them without one.
    """

    def __init__(self, model: MipModel, x: FloatArray, device: DeviceModel | None) -> None:
        self.model = model
        self.x = np.array(x, dtype=np.float64)
        self.activity = model.activity(self.x)
        self.changed: ByteArray = np.zeros(model.num_rows, dtype=np.uint8)
        self._device = None if device is None else device.device
        self._matrix, self._sides, self._columns = _static(model)
        self._there = _static(model if device is None else device)
        scale = abs(model.objective_at(self.x))
        self.least_gain = max(STEADY, RELATIVE_GAIN * scale)
        """Moves that gain no more than this are not made."""

    @property
    def on_device(self) -> bool:
        """Whether moves are scored on a GPU."""
        return self._device is not None and self._device.kind != "cpu"

    def open_columns(self) -> BoolArray:
        """Return which columns (n,) could improve the objective as far as their bound goes."""
        model = self.model
        room = np.where(model.cost < 0.0, model.upper - self.x, self.x - model.lower)
        least = np.where(model.is_integer == 1, 0.5, STEADY)
        open_: BoolArray = (model.cost != 0.0) & (room > least)
        return open_

    def score_shifts(self, columns: IndexArray) -> tuple[FloatArray, IndexArray]:
        """Return the largest step of each column (k,), and the row that allows none or -1."""
        put, get = self._put, self._get
        step = put(np.empty(columns.size))
        blocking = put(np.empty(columns.size, dtype=np.int32))
        matrix = self._there[0]
        MOVES["score_shifts"](
            columns.size, put(columns), matrix[0], *matrix[3:], *self._point(), step, blocking,
            threads=1,
        )  # fmt: skip
        return get(step), get(blocking)

    def score_pairs(
        self, columns: IndexArray, blocking: IndexArray, offset: int, limit: int
    ) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Return the best partner of each blocked column (k,) or -1, its step, and the gain."""
        put, get = self._put, self._get
        partner = put(np.empty(columns.size, dtype=np.int32))
        step, partner_step, gain = (put(np.empty(columns.size)) for _ in range(3))
        MOVES["score_pairs"](
            columns.size, put(columns), put(blocking), offset, limit, *self._there[0],
            *self._point(), partner, step, partner_step, gain, threads=1,
        )  # fmt: skip
        return get(partner), get(partner_step), get(gain)

    def shift(self, columns: IndexArray) -> tuple[int, float]:
        """Move columns in this order; return moves of integer columns, and the gain of all."""
        return apply_shifts(columns, self.least_gain, *self._state())

    def shift_pairs(
        self, columns: IndexArray, partner: IndexArray, partner_step: FloatArray
    ) -> tuple[int, float]:
        """Move pairs in this order; return moves with integer columns, and the gain of all."""
        return apply_pairs(columns, partner, partner_step, self.least_gain, *self._state())

    def touched_columns(self) -> BoolArray:
        """Return the columns (n,) of rows changed since the last call."""
        wanted = np.zeros(self.model.num_columns, dtype=np.uint8)
        columns_of(self.changed, self.model.row_start, self.model.row_column, wanted)
        self.changed[:] = 0
        return wanted.astype(np.bool_)

    def _point(self) -> tuple[Any, ...]:
        """Return the point where moves are scored, from the rows' sides on."""
        _, sides, (cost, lower, upper, is_integer) = self._there
        activity, x = self._put(self.activity), self._put(self.x)
        return (*sides, activity, cost, lower, upper, x, is_integer)

    def _state(self) -> tuple[Any, ...]:
        """Return what moves are made on, from the matrix by columns on."""
        cost, lower, upper, is_integer = self._columns
        return (
            *self._matrix[3:], *self._sides, self.activity, cost, lower, upper, self.x,
            is_integer, self.changed,
        )  # fmt: skip

    def _put(self, array: Any) -> Any:
        return array if self._device is None else self._device.to_device(array)

    def _get(self, array: Any) -> Any:
        return array if self._device is None else self._device.to_host(array)


def _static(at: MipModel | DeviceModel) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return matrix, sides and columns of a model where it lies."""
    matrix = (
        at.row_start, at.row_column, at.row_value, at.column_start, at.column_row, at.column_value,
    )  # fmt: skip
    is_integer = at.is_integer if isinstance(at, DeviceModel) else at.is_integer.astype(np.int32)
    return matrix, (at.row_lower, at.row_upper), (at.cost, at.lower, at.upper, is_integer)
