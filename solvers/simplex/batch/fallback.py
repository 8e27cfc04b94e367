"""Going on on the CPU where a GPU's memory does not suffice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from solvers.core.device import Device, cpu, find_device
from solvers.core.progress import Progress

Result = TypeVar("Result")


def solve_where_it_fits(
    wanted: str, progress: Progress, solve_on: Callable[[Device], Result]
) -> Result:
    """Return what ``solve_on`` gives on the wanted device, or on the CPU if that is too small.

    Raises
    ------
    DeviceError
        A GPU was asked for where there is none.
    """
    device = find_device(wanted)
    try:
        with device.activate():
            return solve_on(device)
    except Exception as error:
        if device.kind == "cpu" or not device.is_out_of_memory(error):
            raise
    device.release_memory()
    progress.log(f"{device.name} is out of memory; going on on the CPU.")
    return solve_on(cpu())
