"""Operations on whole arrays of NumPy and of CuPy that neither has, or in which they differ."""

from __future__ import annotations

from typing import Any

import numpy as np


def array_module(array: Any) -> Any:
    """Return the module an array belongs to: NumPy or CuPy."""
    if type(array).__module__.partition(".")[0] != "cupy":
        return np
    import cupy

    return cupy


def stable_order(keys: Any) -> Any:
    """Return the places of the keys in ascending order, equal ones in the order they had."""
    if not keys.size:  # which CuPy does not sort
        return array_module(keys).arange(0)
    # CuPy sorts stably always and takes no other word for it.
    return np.argsort(keys, kind="stable") if isinstance(keys, np.ndarray) else keys.argsort()


def owners_of_entries(starts: Any) -> Any:
    """Return the row of each entry from the (rows + 1,) places where rows start."""
    xp = array_module(starts)
    places = xp.arange(int(starts[-1]), dtype=starts.dtype)
    if not places.size:
        return places
    return xp.searchsorted(starts[1:], places, side="right").astype(starts.dtype)


def starts_of(lengths: Any) -> Any:
    """Return the (rows + 1,) places where rows of these lengths start, in 64 bits."""
    xp = array_module(lengths)
    starts = xp.zeros(lengths.size + 1, dtype=np.int64)
    if lengths.size:
        starts[1:] = xp.cumsum(lengths.astype(np.int64))
    return starts


def group_maxima(array: Any, group: int) -> Any:
    """Return the largest of each ``group`` neighbours of an array of numbers from 0 on."""
    if not array.size:
        return array
    xp = array_module(array)
    padded = xp.zeros(-(-array.size // group) * group, dtype=array.dtype)
    padded[: array.size] = array
    return padded.reshape(-1, group).max(axis=1)
