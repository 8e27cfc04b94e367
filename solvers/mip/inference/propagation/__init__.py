"""Bound propagation in synchronous rounds, for 32 candidate boxes side by side.

Section 2.1 of arXiv 2510.20499. :class:`BatchBoxes` holds the boxes, on a GPU or, through loops
with the same bits, on the CPU. For a single box there is :mod:`solvers.mip.inference.domain`.
"""

from solvers.mip.inference.propagation.boxes import ALL, BatchBoxes, Verdict
from solvers.mip.inference.propagation.on_device import DeviceModel

__all__ = ["ALL", "BatchBoxes", "DeviceModel", "Verdict"]
