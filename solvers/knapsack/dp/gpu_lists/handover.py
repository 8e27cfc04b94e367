"""When a list of states goes to a GPU, and what a search on the CPU sees of it there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from solvers.core.device import Device, find_device
from solvers.knapsack.dp.gpu_lists.list_search import Given, GpuListSearch
from solvers.knapsack.efficiency import Ordered
from solvers.knapsack.items import IntArray

LONG_LIST = 100_000
"""States from which a list is long: one core takes two milliseconds for a stage then, an H200 25
microseconds (``benchmarks.knapsack_lists``), and bringing CuPy, kernels and list there takes as
long as hundreds of stages."""


def device_for(wanted: str) -> Device | None:
    """Return the GPU for long lists, or None where they stay with the CPU.

    ``wanted`` is the option ``device``.

    Raises
    ------
    DeviceError
        A GPU was asked for that is not there.
    """
    if wanted == "cpu":
        return None
    device = find_device(wanted)
    return None if device.kind == "cpu" else device


class Handover:
    """Takes the list of one search at a time, from the first that is long.

    The search keeps its list until the GPU is done with it, so that it can go on itself where the
    GPU's memory is exhausted.

    Parameters
    ----------
    wanted : str
        The option ``device``; see :func:`~solvers.knapsack.dp.gpu_lists.handover.device_for`.
    say : callable
        Told in a sentence where the GPU is given up.
    """

    def __init__(self, wanted: str, say: Callable[[str], None]) -> None:
        self._wanted = wanted
        self._say = say
        self._device: Device | None = None
        self._search: GpuListSearch | None = None
        self._closed = False

    @property
    def search(self) -> GpuListSearch | None:
        """What goes on there, if anything does."""
        return self._search

    def takes(self, count: int) -> bool:
        """Whether a list of so many states is to be brought there."""
        if self._closed or count < LONG_LIST:
            return False
        if self._device is None:
            self._device = device_for(self._wanted)
            self._closed = self._device is None
        return not self._closed

    def begin(self, items: Ordered, opposite: IntArray, given: Given) -> bool:
        """Take a list; return False where there is no memory for it."""
        assert self._device is not None  # 'takes' was asked
        try:
            with self._device.activate():
                self._search = GpuListSearch(self._device, items, opposite, given)
        except Exception as error:
            self._give_up(error)
        return self._search is not None

    def run(self, watch: Callable[[int, int], bool], work: float = np.inf) -> bool:
        """Go on with the list; return whether it is done. It is gone if memory was exhausted."""
        assert self._device is not None
        assert self._search is not None
        try:
            with self._device.activate():
                return self._search.run(watch, work)
        except Exception as error:
            self._give_up(error)
            return False

    def bound(self) -> int:
        """Return what no packing that comes of the list exceeds."""
        assert self._device is not None
        assert self._search is not None
        with self._device.activate():
            return self._search.bound()

    def end(self) -> None:
        """Give the memory back."""
        self._search = None
        if self._device is not None:
            self._device.release_memory()

    def _give_up(self, error: Exception) -> None:
        """Close the place if its memory is exhausted; raise other errors again."""
        assert self._device is not None
        if not self._device.is_out_of_memory(error):
            raise error
        error.__traceback__ = None  # which holds arrays of the device
        self._closed = True
        self.end()
        self._say(f"{self._device.name} is out of memory; going on on the CPU.")
