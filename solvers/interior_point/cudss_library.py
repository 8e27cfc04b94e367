"""The C interface of cuDSS, NVIDIA's sparse direct solver, as far as it is used here.

The library comes with the wheel ``nvidia-cudss-cu13`` or ``nvidia-cudss-cu12`` (the extras
``cuda13`` and ``cuda12``). Before version 1 the numbers of its enumerations changed from one
version to the next, so that each has its own below, and others are refused.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from solvers.core.errors import DeviceError, EngineError
from solvers.core.process_state import Slot


@dataclass(frozen=True)
class Version:
    """What differs between versions of the library.

    ``release`` is what their numbers begin with, ``suffix`` ends the names of their files.
    ``pivot_type`` and ``pivot_epsilon`` are settings, ``no_pivoting`` a value of the first;
    ``memory`` and ``interrupt`` are what can be asked of a factorisation, and told to it;
    ``row_starts`` is the argument that gives the type of row starts, where there is one.
    """

    release: tuple[int, ...]
    suffix: str
    pivot_type: int
    pivot_epsilon: int
    no_pivoting: int
    memory: int
    interrupt: int
    tree: int
    own_tree: int
    row_starts: tuple[int, ...]


REAL_64, INTEGER_32 = 1, 10
"""CUDA's numbers for types."""

VERSIONS = (
    Version((0, 7), ".so.0", 8, 10, 2, 12, 22, 21, 20, ()),
    Version((1,), ".so.1", 7, 9, 1, 13, 23, 22, 21, (INTEGER_32,)),
)

FILE, THREADING_FILE = "libcudss", "libcudss_mtlayer_gomp"

ORDERING, FULL_ANALYSIS, FACTORISATION, REFACTORISATION, SOLVE = 1, 3, 4, 8, 1008
"""Phases; analysis and solve are sums of their parts."""

INFO, FACTOR_ENTRIES, REPLACED_PIVOTS, ORDER, OWN_ORDER = 0, 1, 2, 4, 9
"""What can be asked of a factorisation, and the order that it can be told, in any version."""

SYMMETRIC, UPPER, ZERO_BASED, BY_COLUMN = 1, 2, 0, 0

ALLOCATION_FAILED, EXECUTION_FAILED = 2, 5
STATUSES = {
    1: "it is not initialised",
    ALLOCATION_FAILED: "memory ran out",
    3: "a value is not valid",
    4: "this is not supported",
    EXECUTION_FAILED: "execution on the GPU failed",
    6: "it met an internal error",
}

_P, _L, _I = c_void_p, c_int64, c_int
SIGNATURES = {
    "cudssCreate": (_P,),
    "cudssDestroy": (_P,),
    "cudssGetProperty": (_I, _P),
    "cudssSetStream": (_P, _P),
    "cudssSetThreadingLayer": (_P, ctypes.c_char_p),
    "cudssConfigCreate": (_P,),
    "cudssConfigDestroy": (_P,),
    "cudssConfigSet": (_P, _I, _P, c_size_t),
    "cudssDataCreate": (_P, _P),
    "cudssDataDestroy": (_P, _P),
    "cudssDataGet": (_P, _P, _I, _P, c_size_t, _P),
    "cudssDataSet": (_P, _P, _I, _P, c_size_t),
    "cudssMatrixCreateCsr": (_P, _L, _L, _L, _P, _P, _P, _P, _I, _I, _I, _I, _I),  # + row_starts
    "cudssMatrixCreateDn": (_P, _L, _L, _L, _P, _I, _I),
    "cudssMatrixDestroy": (_P,),
    "cudssExecute": (_P, _I, _P, _P, _P, _P, _P),
}
"""The functions that are called, with the types of their arguments; each returns a status."""

INSTALL = "run: pip install 'nvidia-cudss-cu13==0.7.*' (or -cu12), or use device='cpu'."


class OutOfMemoryError(DeviceError):
    """The library found no memory on the GPU."""


@dataclass(frozen=True, eq=False)
class Library:
    """The functions, and the version that they are of."""

    functions: Any
    version: Version


_loaded: Slot[list[Library]] = Slot("cuDSS, once it is loaded", list)
_layers: Slot[dict[str, Any]] = Slot("cuDSS's threading layers, which stay loaded", dict)


def library() -> Library:
    """Return the loaded library.

    Raises
    ------
    DeviceError
        It is not installed, cannot be loaded, or is of another version.
    """
    if not _loaded.value:
        _loaded.value.append(_load())
    return _loaded.value[0]


def threading_layer(version: Version) -> bytes | None:
    """Return the file that lets cuDSS order a matrix with several threads, if it can be loaded.

    It stays loaded as long as the process. ``cudssDestroy`` unloads it, and the process breaks down
    where one of its threads still turns round: just after an ordering, so with a race that is lost
    within it (NVIDIA/cuopt issue 1219).
    """
    files = (folder / f"{THREADING_FILE}{version.suffix}" for folder in folders())
    found = next((str(file) for file in files if file.exists()), None)
    if found is None:
        return None
    if found not in _layers.value:
        try:
            stays = ctypes.DEFAULT_MODE | getattr(os, "RTLD_NODELETE", 0)
            _layers.value[found] = ctypes.CDLL(found, mode=stays)
        except OSError:  # without OpenMP
            return None
    return os.fsencode(found)


def folders() -> list[Path]:
    """Return the folders in which NVIDIA's wheels put libraries."""
    found = importlib.util.find_spec("nvidia")
    places = () if found is None else found.submodule_search_locations or ()
    return [Path(place) / part / "lib" for place in places for part in ("cu13", "cu12")]


def declared(functions: Any, version: Version) -> Any:
    """Tell ctypes the types of the functions; AttributeError where one is missing."""
    for name, types in SIGNATURES.items():
        getattr(functions, name).argtypes = types
    layout = SIGNATURES["cudssMatrixCreateCsr"]
    functions.cudssMatrixCreateCsr.argtypes = (*layout, *(_I for _ in version.row_starts))
    return functions


def _load() -> Library:
    failure: OSError | None = None
    for version in VERSIONS:
        name = f"{FILE}{version.suffix}"
        file = next((str(f / name) for f in folders() if (f / name).exists()), name)
        try:
            functions = declared(ctypes.CDLL(file), version)
        except OSError as error:
            failure = error
            continue
        release = tuple(_property(functions, place) for place in range(2))
        if release[: len(version.release)] == version.release:
            return Library(functions, version)
        raise DeviceError(f"cuDSS {release[0]}.{release[1]} is not supported; {INSTALL}")
    raise DeviceError(f"cuDSS cannot be loaded ({failure}); {INSTALL}")


def _property(functions: Any, place: int) -> int:
    """Return the major (0) or minor (1) version."""
    number = c_int()
    check(functions.cudssGetProperty(place, byref(number)), "its version")
    return number.value


def check(status: int, what: str) -> None:
    """Raise an error that says in words what failed.

    Raises
    ------
    OutOfMemoryError, EngineError
    """
    if status == 0:
        return
    kind = OutOfMemoryError if status == ALLOCATION_FAILED else EngineError
    raise kind(f"cuDSS failed at {what}: {STATUSES.get(status, f'status {status}')}.")
