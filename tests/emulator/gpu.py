"""A GPU whose memory is the host's, for what happens on the way to a launch and back."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from tests.emulator import MOST_SHARED

ATTRIBUTES = {"MultiProcessorCount": 2, "MaxSharedMemoryPerBlockOptin": MOST_SHARED}


class HostArray(np.ndarray[Any, Any]):
    """An array with CuPy's ways to copy it from and to the host."""

    def get(self, stream: Any = None, *, out: npt.NDArray[Any], blocking: bool = True) -> None:
        """Copy it to the host."""
        out[...] = self

    def set(self, values: npt.NDArray[Any], stream: Any = None) -> None:
        """Copy numbers of the host into it."""
        self[...] = values


class HostEvent:
    """A moment between two launches, which are over when they return."""

    seconds = 0.0

    def record(self, stream: Any = None) -> None:
        """Take note of the time."""
        self.seconds = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing is ever under way on the host."""


class EmulatedGpu(Device):
    """The host, taken for a GPU; no array that it makes has more than ``most_bytes``."""

    most_bytes = 2**40

    @property
    def xp(self) -> Any:
        """NumPy, with what the engines use of CuPy besides."""
        cuda = SimpleNamespace(
            Device=lambda index=0: SimpleNamespace(attributes=ATTRIBUTES),
            Stream=lambda non_blocking: nullcontext(),
            alloc_pinned_memory=bytearray,
            get_current_stream=lambda: SimpleNamespace(ptr=0),  # launches are not recorded
            Event=HostEvent,
            get_elapsed_time=lambda first, last: 1e3 * (last.seconds - first.seconds),
        )
        return SimpleNamespace(**vars(np) | {"empty": self._empty, "cuda": cuda})

    def _empty(self, shape: Any, dtype: npt.DTypeLike = np.float64) -> HostArray:
        if int(np.prod(shape)) * np.dtype(dtype).itemsize > self.most_bytes:
            raise MemoryError
        return np.empty(shape, dtype).view(HostArray)

    def activate(self, is_lost: Callable[[], bool] | None = None) -> AbstractContextManager[Any]:
        """Nothing has to be made current."""
        return nullcontext()

    def to_device(self, array: Any) -> Any:
        """Return a contiguous copy."""
        return np.array(array, order="C", copy=True)

    def overwrite(self, target: Any, array: npt.NDArray[Any]) -> None:
        """Overwrite an array, which is one of the host."""
        target[...] = array

    def to_host(self, array: Any) -> npt.NDArray[Any]:
        """Return a copy."""
        return np.array(array, copy=True)

    def synchronize(self) -> None:
        """Nothing is ever under way on the host."""

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Whether an array was too large."""
        return isinstance(error, MemoryError)

    def release_memory(self) -> None:
        """Nothing is cached."""
