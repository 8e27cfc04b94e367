"""Whether an inverse fits the device."""

from __future__ import annotations

from solvers.core.errors import DeviceError
from solvers.simplex.dense_gpu.arrays import Arrays

MOST_STORED_COLUMNS = 40_000
"""Columns of the inverse beyond which it is not attempted: more than a
second for each factorisation."""

NUMBER_BYTES = 8


def bytes_needed(rows: int, slots: int) -> int:
    """Return the bytes of an inverse with so many stored columns, and of its factorisation.

    The basis as dense columns and the inverse's columns, m x k each; the nucleus and its inverse, k
    x k each, and as much for the factorisation to work with.
    """
    return NUMBER_BYTES * slots * (2 * rows + 3 * slots)


def check_fits(arrays: Arrays, slots: int) -> None:
    """Raise a DeviceError if so many stored columns have no room on the device."""
    device = arrays.device
    if slots > MOST_STORED_COLUMNS:
        raise DeviceError(
            f"The basis has {slots:,} columns that are no slacks, more than the "
            f"{MOST_STORED_COLUMNS:,} of which the simplex core on '{device.name}' keeps an "
            "inverse; use another method."
        )
    if device.kind == "cpu":
        return
    needed = bytes_needed(arrays.rows, slots)
    free = int(device.xp.cuda.runtime.memGetInfo()[0])
    free += int(device.xp.get_default_memory_pool().free_bytes())
    if needed > free:
        raise DeviceError(
            f"The inverse of a basis with {slots:,} structural columns needs "
            f"{needed / 2**30:.1f} GiB, and '{device.name}' has {free / 2**30:.1f} GiB free; use "
            "device='cpu'."
        )
