"""When a list of states goes to a GPU."""

from __future__ import annotations

from solvers.core.device import Device, find_device

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
