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
        self._is_integer = model.is_integer.astype(np.int32)
        self._there = _static(model, self._is_integer) if device is None else _static(device)
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
        return apply_shifts(columns, self.least_gain, self.model, self._is_integer, self)

    def shift_pairs(
        self, columns: IndexArray, partner: IndexArray, partner_step: FloatArray
    ) -> tuple[int, float]:
        """Move pairs in this order; return moves with integer columns, and the gain of all."""
        return apply_pairs(
            columns, partner, partner_step, self.least_gain, self.model, self._is_integer, self
        )

    def touched_columns(self) -> BoolArray:
        """Return the columns (n,) of rows changed since the last call."""
        wanted = np.zeros(self.model.num_columns, dtype=np.uint8)
        columns_of(self.changed, self.model, wanted)
        self.changed[:] = 0
        return wanted.astype(np.bool_)

    def _point(self) -> tuple[Any, ...]:
        """Return the point where moves are scored, from the rows' sides on."""
        _, sides, (cost, lower, upper, is_integer) = self._there
        activity, x = self._put(self.activity), self._put(self.x)
        return (*sides, activity, cost, lower, upper, x, is_integer)

    def _put(self, array: Any) -> Any:
        return array if self._device is None else self._device.to_device(array)

    def _get(self, array: Any) -> Any:
        return array if self._device is None else self._device.to_host(array)


def _static(
    at: MipModel | DeviceModel, is_integer: Any = None
) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """Return matrix, sides and columns of a model where it lies, for the kernels."""
    rows, columns = at.rows, at.columns
    matrix = (
        rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices, columns.data,
    )  # fmt: skip
    whole = at.is_integer if is_integer is None else is_integer
    return matrix, (at.row_lower, at.row_upper), (at.cost, at.lower, at.upper, whole)
