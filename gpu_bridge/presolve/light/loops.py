"""How the loops of the reductions are compiled.

They hand a tuple of two dozen arrays from one to the next. Counting references to these at each
call took 20 times as long as the work, so it is switched off, which is sound because no loop
makes an array or keeps one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba

from solvers.kernels.disk_cache import kept_on_disk

COMMON: dict[str, Any] = {"nogil": True, "_nrt": False, "error_model": "numpy"}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a pass at its first call, without the interpreter lock, and keep it on disk."""
    return cast("Callable[..., Any]", kept_on_disk(function, **COMMON))


def merged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a part of a pass into the passes that call it; Python cannot call it."""
    made = numba.njit(forceinline=True, no_cfunc_wrapper=True, **COMMON)
    return cast("Callable[..., Any]", made(function))
