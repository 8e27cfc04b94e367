"""How the functions of this package are compiled: without counting references to their arrays.

They take dozens of arrays, and Numba counts references to each of them with every call and nearly
every use: two thirds of the time of a factorisation, as measured, and part of the time to compile.
None of them makes or keeps an array, so that nobody has to count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba

from solvers.kernels.disk_cache import kept_on_disk

Function = Callable[..., Any]


def inner(function: Function) -> Function:
    """Compile for other compiled functions only: not callable from Python.

    Half of the time to compile a function of few lines and many arrays goes into its doors to
    Python, which these do without. They need no cache either: who calls them is cached with them.
    Divisions by zero give infinities, which the tests of a pivot's size turn down.
    """
    made = numba.njit(
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        error_model="numpy",
        _nrt=False,
    )(function)
    return cast("Function", made)


def outer(function: Function) -> Function:
    """Compile for Python and for compiled functions; keep the result on disk if it can be.

    This is ``solvers.kernels.twin.compiled`` without the counting.
    """
    options = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy", "_nrt": False}
    return cast("Function", kept_on_disk(function, **options))
