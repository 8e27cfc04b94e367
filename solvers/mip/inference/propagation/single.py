"""Propagation of one box: rounds that stay on the device until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.core.problem import FloatArray
from solvers.mip.inference.propagation.kernels.box import (
    BOX,
    CONTROL_SIZE,
    INFEASIBLE,
    LIMIT,
    ROUND,
    STOP,
)
from solvers.mip.inference.propagation.on_device import ROUND_LIMIT, DeviceModel, queued, write
from solvers.mip.model import IndexArray

ROUNDS_PER_LOOK = 4
"""Rounds queued on a GPU before the host looks whether they go on."""


@dataclass(frozen=True, eq=False)
class Propagated:
    """What is left of a box.

    Parameters
    ----------
    lower, upper : (n,) float64
        The tightened bounds; of no use where the box is empty.
    is_infeasible : bool
        Whether the box holds no feasible point.
    rounds : int
        Synchronous rounds made, the last of which changed nothing unless the limit was reached.
    """

    lower: FloatArray
    upper: FloatArray
    is_infeasible: bool
    rounds: int


class Propagator:
    """Arrays and launches for one propagation after the other, each of one box.

    Not for several threads at once. On a GPU the stream that is current at the first call serves
    all of them (``device.activate()`` gives one whose launches can be recorded as a graph).

    Parameters
    ----------
    device_model : DeviceModel
        What to propagate on; about 50 bytes per row and column are allocated beside it.
    """

    def __init__(self, device_model: DeviceModel) -> None:
        self._model = device_model
        there = device_model.device.to_device
        rows, columns = device_model.num_rows, device_model.num_columns
        parts = int(device_model.plan.parts.shape[0])
        self.bounds = there(np.zeros((columns, 2)))
        self.following = there(np.zeros((columns, 2)))
        self.row_changed = there(np.zeros((2, rows), dtype=np.int32))
        self.column_changed = there(np.zeros(columns, dtype=np.int32))
        self.partial = there(np.zeros((parts, 2)))
        self.partial_infinite = there(np.zeros((parts, 2), dtype=np.int32))
        self.control = there(np.zeros(CONTROL_SIZE, dtype=np.int32))
        self._queue: Callable[[], None] | None = None

    def propagate(
        self,
        lower: FloatArray,
        upper: FloatArray,
        rows: IndexArray | None = None,
        round_limit: int = ROUND_LIMIT,
    ) -> Propagated:
        """Tighten a box; see :func:`propagate`."""
        self.load(lower, upper, rows, round_limit)
        if self._model.num_rows and self._model.num_columns:
            self.run()
        control = self._model.device.to_host(self.control)
        bounds = self._model.device.to_host(self.bounds)
        return Propagated(
            lower=np.ascontiguousarray(bounds[:, 0]),
            upper=np.ascontiguousarray(bounds[:, 1]),
            is_infeasible=bool(control[INFEASIBLE]) or bool((lower > upper).any()),
            rounds=int(control[ROUND]),
        )

    def load(
        self, lower: FloatArray, upper: FloatArray, rows: IndexArray | None, round_limit: int
    ) -> None:
        """Put a box, the flags of the rows to begin with, and the limit into the arrays."""
        bounds = np.ascontiguousarray(np.column_stack([lower, upper]), dtype=np.float64)
        flags = np.zeros((2, self._model.num_rows), dtype=np.int32)
        flags[0, slice(None) if rows is None else rows] = 1
        control = np.zeros(CONTROL_SIZE, dtype=np.int32)
        control[LIMIT] = round_limit
        for target, values in (
            (self.bounds, bounds),
            (self.following, bounds),
            (self.row_changed, flags),
            (self.control, control),
        ):
            write(target, values)
        write(self.column_changed, np.zeros(self._model.num_columns, dtype=np.int32))

    def run(self) -> None:
        """Make rounds from the loaded arrays until one says to stop."""
        if self._model.device.kind == "cpu":
            self._run_on_cpu()
            return
        if self._queue is None:
            self._queue = queued(self._model.device, self._launches() * ROUNDS_PER_LOOK)
        while True:
            self._queue()
            if int(self.control.get()[STOP]):
                return

    def _run_on_cpu(self) -> None:
        here, plan = self._model, self._model.plan
        by_row = (
            here.rows.indptr,
            here.rows.indices,
            here.rows.data,
            here.row_lower,
            here.row_upper,
        )
        by_column = (here.columns.indptr, here.columns.indices, here.is_integer)
        heavy = (plan.parts, plan.heavy, self.partial, self.partial_infinite)
        changes = (self.row_changed, self.column_changed, self.control)
        bounds = (self.bounds, self.following)
        BOX.twin.rounds(*by_row, *by_column, plan.order, plan.bins, *heavy, *bounds, *changes)

    def _launches(self) -> list[Callable[[], None]]:
        arguments = self.arguments()
        if not self._model.plan.parts.shape[0]:
            del arguments["box_heavy_sums"], arguments["box_heavy_tighten"]
        launches = [BOX.bind(name, *values) for name, values in arguments.items()]
        return [*launches, BOX.bind("box_control", self.control)]

    def arguments(self) -> dict[str, tuple[Any, ...]]:
        """Return the arguments of a round's kernels, in the order of their launches."""
        here, plan = self._model, self._model.plan
        matrix = (
            here.rows.indices,
            here.rows.data,
            here.row_lower,
            here.row_upper,
            here.is_integer,
        )
        changes = (self.row_changed, self.column_changed, self.control)
        boxes = (here.num_rows, self.bounds, self.following, *changes)
        bins = (plan.order, plan.bins, int(plan.bins.shape[0]), plan.blocks)
        partial = (self.partial, self.partial_infinite)
        read = (here.num_rows, self.bounds, self.row_changed, self.control)
        columns = (here.num_rows, here.num_columns, here.columns.indptr, here.columns.indices)
        return {
            "box_rows": (here.rows.indptr, *matrix, *bins, *boxes),
            "box_heavy_sums": (*matrix, plan.parts, *read, *partial),
            "box_heavy_tighten": (*matrix, plan.parts, plan.heavy, *partial, *boxes),
            "box_columns": (*columns, self.bounds, self.following, *changes),
        }


def propagate(
    device_model: DeviceModel,
    lower: FloatArray,
    upper: FloatArray,
    rows: IndexArray | None = None,
    round_limit: int = ROUND_LIMIT,
) -> Propagated:
    """Tighten a box until a round changes nothing worth it, or shows that it is empty.

    Rounds are synchronous: each reads the bounds that the previous one left, so that the result is
    the same on every device and at every run (up to the order of summation in a row).

    Parameters
    ----------
    device_model : DeviceModel
    lower, upper : (n,) float64
        The box on the host; bounds of integer columns are whole.
    rows : (k,) int, optional
        Rows to begin with; all, if left out.
    round_limit : int
        Rounds at most.
    """
    return Propagator(device_model).propagate(lower, upper, rows, round_limit)
