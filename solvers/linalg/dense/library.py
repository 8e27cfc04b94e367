"""Which library factorises: LAPACK for the CPU, cuSOLVER for a GPU."""

from __future__ import annotations

from types import ModuleType

from solvers.device import Device


def library_of(device: Device) -> ModuleType:
    """Return the module with ``factorise``, ``solve`` and ``inverse`` for a device."""
    if device.kind == "cpu":
        from solvers.linalg.dense import lapack

        return lapack
    from solvers.linalg.dense import cusolver

    return cusolver
