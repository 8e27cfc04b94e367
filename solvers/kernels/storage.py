"""What ``device/storage.cuh`` does, for Numba: stored values turned back.

Which form an array is stored in follows from its type, when a twin is compiled and not while it
runs. Importing this imports Numba.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from numba import types
from numba.extending import overload


def value_at(values, entry, dictionary):
    """Return a stored number: itself, or what its code means in the dictionary."""
    raise NotImplementedError("value_at is for compiled code only")


@overload(value_at)
def _value_at(values, entry, dictionary):
    if isinstance(values.dtype, types.Integer):
        return lambda values, entry, dictionary: dictionary[values[entry]]
    return lambda values, entry, dictionary: values[entry]
