"""Compilation of loops that call each other with the walker's whole state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba

from solvers.kernels.disk_cache import kept_on_disk


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into whatever calls it: what is called for every candidate cannot afford a call."""
    made = numba.njit(nogil=True, _nrt=False, forceinline=True)(function)
    return cast("Callable[..., Any]", made)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, without the interpreter lock and without counting references.

    A function that is given two dozen arrays would count each of them up and down, atomically, at
    every call: three to five times slower, measured over whole walks. The arrays belong to the
    caller for as long as the loop runs, and none is made or returned in it, so nothing needs
    counting. Where no folder for compiled code can be written, it is compiled in every process.
    """
    return cast("Callable[..., Any]", kept_on_disk(function, nogil=True, _nrt=False))


def called(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for compiled callers, once for all of them: what is large, and not called too often.

    Nothing is counted here either, and Python cannot call it.
    """
    made = numba.njit(nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        function
    )
    return cast("Callable[..., Any]", made)
