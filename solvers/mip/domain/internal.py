"""Helpers of compiled loops: compiled for their callers alone.

Numba makes wrappers for Python around every function, which take long to compile where arguments
are tuples of arrays. Copying helpers into their callers before types are known
(``inline="always"``) takes longer still, and runs no faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound="Callable[..., object]")


def internal(function: Function) -> Function:
    """Compile a function for compiled callers (a decorator): Python must never call it."""
    made = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return cast("Function", made)


@internal
def as_index(value: int) -> int:
    """Widen an index read from an array, so that functions are compiled for one width only."""
    return np.int64(value)  # type: ignore[return-value]
