"""A model in a device's memory, prepared once and shared by everything that runs there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.core.rows import SparseRows
from solvers.mip.model import MipModel

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


@dataclass(frozen=True, eq=False)
class DeviceModel:
    """A model of m rows, n columns and nnz entries on a device; no array may be written to.

    The arrays are those of :class:`solvers.mip.model.MipModel` under the same names, in the
    device's memory (``is_integer`` with 32 bits).

    Parameters
    ----------
    model : MipModel
        What was laid out.
    cost, lower, upper : (n,) float64
    row_lower, row_upper : (m,) float64
    is_integer : (n,) int32
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
