"""Exceptions a caller may want to catch; each message names the culprit, its value and the fix."""

from __future__ import annotations


class GpuBridgeError(Exception):
    """Base of every exception that gpu-bridge raises on purpose."""


class ProblemError(GpuBridgeError, ValueError):
    """The model's data cannot be used: a NaN, a wrong shape, an impossible value."""


class CrossedBoundsError(ProblemError):
    """A lower bound lies above its upper bound, so that no point can be feasible.

    Entry points (``gpu_bridge.solve`` on a file, the Pyomo and PuLP adapters, the command line)
    turn this error into the status *infeasible* with its sentence as the explanation.
    """


class UnsupportedModelError(GpuBridgeError, TypeError):
    """The model has a part that no engine here can treat, such as a quadratic term."""


class OptionError(GpuBridgeError, ValueError):
    """An option has an unknown name, a wrong type or a value out of range."""


class FileFormatError(GpuBridgeError, ValueError):
    """A model or solution file cannot be read or written."""


class DeviceError(GpuBridgeError, RuntimeError):
    """The device that was asked for is not there or cannot be used."""


class ClusterError(DeviceError):
    """The cluster that was asked for is not there, or a node of it cannot be used."""


class EngineError(GpuBridgeError, RuntimeError):
    """An engine failed in a way that leaves no answer at all."""


class MemoryLimitError(GpuBridgeError, MemoryError):
    """A limit of the process leaves no room for what every solve loads."""
