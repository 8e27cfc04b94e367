"""Whole numbers in the narrowest type that holds them, for the way to a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.core.device import Device
from solvers.kernels.sharing import threads_for
from solvers.native.knapsack_batch_check import shorten

Empty = Callable[[tuple[int, ...], Any], npt.NDArray[Any]]
"""From shape and type to an array whose numbers are not set."""

TYPES = (np.uint16, np.int32, np.int64)
"""Types that profits and weights may have on a GPU, the narrowest first."""

SAMPLE = 1000
"""Numbers looked at to see which type may do."""

PART = 1 << 16
"""Numbers that a thread narrows at a time."""

STEPS_PER_NUMBER = 2
"""Elementary steps of copying a number."""


def types_for(values: npt.NDArray[Any]) -> Sequence[Any]:
    """Return the types that hold a sample of numbers, narrowest first; the last one holds all."""
    flat = values.reshape(-1)
    sample = flat[:: max(1, flat.size // SAMPLE)]
    low, high = sample.min(initial=0), sample.max(initial=0)
    fits = [low >= np.iinfo(one).min and high <= np.iinfo(one).max for one in TYPES[:-1]]
    return [one for one, fit in zip(TYPES[:-1], fits, strict=True) if fit] + [TYPES[-1]]


def narrowed(
    values: npt.NDArray[Any], empty: Empty = np.empty, threads: int = 0
) -> npt.NDArray[Any]:
    """Return whole numbers (N,) in the narrowest of these types; themselves if it is theirs."""
    for kind in types_for(values):
        if np.dtype(kind).itemsize >= values.dtype.itemsize:
            break
        out = empty(values.shape, kind)
        refused = np.zeros(-(-values.size // PART), dtype=np.bool_)
        work = STEPS_PER_NUMBER * values.size
        shorten(values, out, refused, threads_for(work, threads))
        if not refused.any():
            return out
    return values


def alike(
    one: npt.NDArray[Any], other: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both in the wider of their types: there is code for three pairs, not for nine."""
    kind = np.promote_types(one.dtype, other.dtype)
    return one.astype(kind, copy=False), other.astype(kind, copy=False)


def staging(device: Device) -> Empty:
    """Return what makes arrays from which a device is filled fastest: in memory that stays put."""
    if device.kind == "cpu":
        return np.empty

    def empty(shape: tuple[int, ...], kind: Any) -> npt.NDArray[Any]:
        size = int(np.prod(shape))
        if not size:
            return np.empty(shape, kind)
        memory = device.xp.cuda.alloc_pinned_memory(size * np.dtype(kind).itemsize)
        return np.frombuffer(memory, kind, size).reshape(shape)

    return empty
