"""What a GPU has for blocks: multiprocessors, and shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.core.device import Device


@dataclass(frozen=True)
class GpuLimits:
    """Multiprocessors of a GPU, and the bytes of shared memory that a block may have."""

    processors: int
    shared_memory: int


_known: dict[tuple[type[Device], int], GpuLimits] = {}


def gpu_limits(device: Device) -> GpuLimits:
    """Return the limits of a GPU, after asking the driver once: all it knows takes its time."""
    key = type(device), device.index
    if key not in _known:
        attributes = device.xp.cuda.Device(device.index).attributes
        _known[key] = GpuLimits(
            attributes["MultiProcessorCount"], attributes["MaxSharedMemoryPerBlockOptin"]
        )
    return _known[key]
