"""How the functions of this package are compiled: without reference counts, and in few steps.

Compiled functions that take a hundred arrays in named tuples count references to each of them at
every call, which costs time at run time, and more when they are compiled. None of the functions
here creates or keeps an array, so the counts are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba

Function = Callable[..., Any]


def outer(function: Function) -> Function:
    """Compile a function that Python calls, and keep the result on disk if there is a place."""
    try:
        made = numba.njit(cache=True, nogil=True, _nrt=False)(function)
    except RuntimeError:  # Numba found no folder for its cache
        made = numba.njit(nogil=True, _nrt=False)(function)
    return cast("Function", made)


def inner(function: Function) -> Function:
    """Compile a function that only compiled ones call."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("Function", numba.njit(nogil=True, _nrt=False, **options)(function))


def spliced(function: Function) -> Function:
    """Put a function into its compiled callers before they are compiled.

    The solves with the basis are long, and compiled once more with every function that calls
    them, and with that one's callers; where a caller is spliced in, that time is saved.
    """
    made = numba.njit(nogil=True, inline="always", no_cpython_wrapper=True)(function)
    return cast("Function", made)
