"""Which library factorises: LAPACK for the CPU, one block or cuSOLVER for a GPU."""

from __future__ import annotations

from solvers.device import Device
from solvers.linalg.dense.factors import Library


def library_for(device: Device, n: int) -> Library:
    """Return what factorises matrices with n rows on a device."""
    if device.kind == "cpu":
        from solvers.linalg.dense import lapack

        return lapack
    from solvers.linalg.dense import cusolver, one_block

    return one_block if one_block.fits(device, n) else cusolver
