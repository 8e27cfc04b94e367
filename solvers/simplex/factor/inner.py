"""Compilation of functions that take many arrays, and are called by other compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for other compiled functions only: not callable from Python.

    Half of the time to compile a function of few lines and many arrays goes into its doors to
    Python, which these do without. They need no cache either: who calls them is cached with them.
    Divisions by zero give infinities, which the tests of a pivot's size turn down.
    """
    made = numba.njit(
        nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy"
    )(function)
    return cast("Callable[..., Any]", made)
