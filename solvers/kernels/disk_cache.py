"""Compiled loops kept on disk, where that can be, and compiled anew where it cannot."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba

UNUSABLE = (OSError, EOFError, pickle.UnpicklingError)
"""What a folder raises that is full or was made unreadable, and a file that was cut short."""


def kept_on_disk(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function at its first call and keep the result on disk, if that can be.

    Numba writes its files within the first call, and lets a full disk end it.

    Parameters
    ----------
    function : callable
    **options
        Those of ``numba.njit``.
    """
    try:
        made = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no folder for its cache
        return numba.njit(**options)(function)
    # what Numba does on Windows, where processes are in each other's way
    made._cache._guard_against_spurious_io_errors = lambda: suppress(*UNUSABLE)
    return made
