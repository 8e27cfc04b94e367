"""The few array operations in which NumPy and CuPy differ, or which neither has.

Empty arrays are seen to here: not every operation of CuPy takes them.
"""

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
    if not keys.size:
        return array_module(keys).arange(0)
    # CuPy sorts stably always and takes no other word for it.
    return np.argsort(keys, kind="stable") if isinstance(keys, np.ndarray) else keys.argsort()


def inverse_order(order: Any) -> Any:
    """Return where each element has gone."""
    xp = array_module(order)
    inverse = xp.empty_like(order)
    inverse[order] = xp.arange(order.size, dtype=order.dtype)
    return inverse


def owners_of_entries(starts: Any, count: int) -> Any:
    """Return the row of each of ``count`` entries from the (rows + 1,) places where rows start."""
    xp = array_module(starts)
    places = xp.arange(count, dtype=starts.dtype)
    if not count:
        return places
    return xp.searchsorted(starts[1:], places, side="right").astype(starts.dtype)


def starts_of(lengths: Any, index_type: Any) -> Any:
    """Return the (rows + 1,) places where rows of these lengths start."""
    xp = array_module(lengths)
    starts = xp.zeros(lengths.size + 1, dtype=index_type)
    if lengths.size:
        starts[1:] = xp.cumsum(lengths.astype(np.int64))
    return starts


def starts_in(owners: Any, owner_count: int) -> Any:
    """Return the (owner_count + 1,) places where each owner's run starts in ascending owners."""
    xp = array_module(owners)
    if not owners.size:
        return xp.zeros(owner_count + 1, dtype=owners.dtype)
    found = xp.searchsorted(owners, xp.arange(owner_count + 1, dtype=owners.dtype), side="left")
    return found.astype(owners.dtype)


def group_maxima(array: Any, group: int) -> Any:
    """Return the largest of each ``group`` neighbours of an array of numbers from 0 on."""
    return padded(array, group).reshape(-1, group).max(axis=1) if array.size else array


def padded(array: Any, multiple: int) -> Any:
    """Return the array with zeros at its end up to a multiple of a length."""
    xp = array_module(array)
    longer = xp.zeros(-(-array.size // multiple) * multiple, dtype=array.dtype)
    longer[: array.size] = array
    return longer
