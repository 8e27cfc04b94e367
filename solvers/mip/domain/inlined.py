"""Small functions that Numba copies into their callers: a call with many arrays costs more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound="Callable[..., object]")


def inlined(function: Function) -> Function:
    """Mark a function to be copied into the compiled functions that call it (a decorator)."""
    return cast("Function", numba.njit(inline="always")(function))
