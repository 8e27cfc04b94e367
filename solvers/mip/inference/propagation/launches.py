"""Launches that are repeated, and small copies to a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device


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
