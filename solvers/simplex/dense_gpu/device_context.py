"""The device and stream on which a core does all its work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from solvers.core.device import Device
from solvers.core.errors import DeviceError


class DeviceContext:
    """A device and, on a GPU, a stream of its own; entered again and again."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._stream: Any = None

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make device and stream the current ones; turn exhausted memory into a DeviceError."""
        try:
            if self.device.kind == "cpu":
                yield
                return
            cupy = self.device.xp
            with cupy.cuda.Device(self.device.index):
                if self._stream is None:
                    self._stream = cupy.cuda.Stream(non_blocking=True)
                with self._stream:
                    yield
                    self._stream.synchronize()
        except Exception as error:
            if self.device.is_out_of_memory(error):
                raise DeviceError(
                    f"The simplex core ran out of memory on '{self.device.name}': {error}; use "
                    "device='cpu'."
                ) from error
            raise
