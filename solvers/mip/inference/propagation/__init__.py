"""Bound propagation in synchronous rounds, for one box or for 32 candidates side by side.

Section 2.1 of arXiv 2510.20499. :func:`propagate` tightens one box, :class:`BatchBoxes` holds 32 of
them; both run on a GPU or, through loops with the same bits, on the CPU.
"""

from solvers.mip.inference.propagation.boxes import ALL, BatchBoxes, Verdict, batch_bytes
from solvers.mip.inference.propagation.on_device import DeviceModel
from solvers.mip.inference.propagation.single import Propagated, Propagator, propagate

__all__ = [
    "ALL",
    "BatchBoxes",
    "DeviceModel",
    "Propagated",
    "Propagator",
    "Verdict",
    "batch_bytes",
    "propagate",
]
