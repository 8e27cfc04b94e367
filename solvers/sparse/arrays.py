"""The few array operations in which NumPy and CuPy differ, or which neither has."""

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
    return xp.searchsorted(starts[1:], places, side="right").astype(starts.dtype)


def starts_of(lengths: Any, index_type: Any) -> Any:
    """Return the (rows + 1,) places where rows of these lengths start."""
    xp = array_module(lengths)
    starts = xp.zeros(lengths.size + 1, dtype=index_type)
    starts[1:] = xp.cumsum(lengths.astype(np.int64))
    return starts


def padded(array: Any, multiple: int) -> Any:
    """Return the array with zeros at its end up to a multiple of a length."""
    xp = array_module(array)
    longer = xp.zeros(-(-array.size // multiple) * multiple, dtype=array.dtype)
    longer[: array.size] = array
    return longer
