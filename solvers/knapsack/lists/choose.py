"""When a list of states goes to a GPU."""

from __future__ import annotations

from solvers.device import Device, find_device

LISTS_BY_DEFAULT = False
"""Whether ``device='auto'`` brings long lists to a GPU where there is one. That stays off until it
has been measured on one: ``python -m benchmarks.knapsack_lists``."""

LONG_LIST = 100_000
"""States from which a list is long: one core takes a millisecond for a stage then, a GPU some ten
microseconds, and bringing CuPy, kernels and list there takes as long as hundreds of stages."""


def device_for(wanted: str) -> Device | None:
    """Return the GPU for long lists, or None where they stay with the CPU.

    ``wanted`` is the option ``device``.

    Raises
    ------
    DeviceError
        A GPU was asked for that is not there.
    """
    if wanted == "cpu" or (wanted == "auto" and not LISTS_BY_DEFAULT):
        return None
    device = find_device(wanted)
    return None if device.kind == "cpu" else device
