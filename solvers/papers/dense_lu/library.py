"""Which library factorises: LAPACK for the CPU, one block or cuSOLVER for a GPU."""

from __future__ import annotations

from solvers.core.device import Device
from solvers.papers.dense_lu.factors import Library

ONE_BLOCK_UP_TO = 64
"""Rows up to which one block factorises a single matrix. On an H200 it took 0.10 ms for 16 rows,
0.18 for 64, 0.37 for 100 and 0.72 for 160; cuSOLVER, which needs 0.05 more for the report on its
factors, 0.06, 0.13, 0.2 and 0.3."""


def library_for(device: Device, n: int) -> Library:
    """Return what factorises matrices with n rows on a device."""
    if device.kind == "cpu":
        from solvers.papers.dense_lu import lapack

        return lapack
    from solvers.papers.dense_lu import cusolver, one_block

    small = n <= ONE_BLOCK_UP_TO and one_block.fits(device, n)
    return one_block if small else cusolver
