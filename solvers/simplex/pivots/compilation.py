"""Compilation of functions that call the solves with the basis, from few places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba


def spliced(function: Callable[..., Any]) -> Callable[..., Any]:
    """Put a function into its compiled callers before they are compiled.

    The solves with the basis are long, and compiled once more with every function that calls
    them, and with that one's callers; where a caller is spliced in, that time is saved.
    """
    made = numba.njit(nogil=True, inline="always", no_cpython_wrapper=True)(function)
    return cast("Callable[..., Any]", made)
