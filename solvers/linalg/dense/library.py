"""Which library factorises: LAPACK for the CPU, one block or cuSOLVER for a GPU."""

from __future__ import annotations

from solvers.device import Device
from solvers.linalg.dense.factors import Library

ONE_BLOCK_UP_TO = 64
"""Rows up to which one block is quicker than cuSOLVER for a single matrix. On an H200 the block
took 0.37 ms for 100 rows and 0.72 ms for 160, cuSOLVER itself 0.2 and 0.3."""


def library_for(device: Device, n: int) -> Library:
    """Return what factorises matrices with n rows on a device."""
    if device.kind == "cpu":
        from solvers.linalg.dense import lapack

        return lapack
    from solvers.linalg.dense import cusolver, one_block

    small = n <= ONE_BLOCK_UP_TO and one_block.fits(device, n)
    return one_block if small else cusolver
