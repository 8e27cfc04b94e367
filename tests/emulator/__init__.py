"""Run device code on the host: a C++ compiler, and the threads of a block that take turns.

The source is compiled as it is, with ``cuda.h`` for CUDA's words. So tests without a GPU see what
threads do together, which the twins do not show.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from solvers.kernels.declaration import Argument, Kernel
from solvers.kernels.device_code import C_TYPES, Types, packed_macro
from solvers.kernels.family import Family, _array_types, _device_arguments

HERE = Path(__file__).parent
MOST_SHARED = 227 << 10
"""Bytes of shared memory that a block may ask for."""

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")

DYNAMIC = re.compile(r"extern __shared__ (?:__align__\(\d+\) )?(\w+) (\w+)\[\];")
POINTER = r"static thread_local \1* const \2 = (\1*)emulator::dynamic_memory;"

FLAGS = (
    *("-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-ffp-contract=off", "-w"),
    "-fno-gnu-unique",  # else libraries in one process share static variables of equal names
    "-fno-strict-aliasing",  # device code reads words of one size as either type
    "-U_FORTIFY_SOURCE",  # it takes a jump to another stack for a mistake
)


class Emulated:
    """Stands in for a family: its kernels run the device code on host arrays.

    Parameters
    ----------
    family : Family
    together : bool, optional
        The blocks of a launch run at once, and not one after the other; else those of cooperative
        families do.
    backwards : bool
        The last thread goes first between two meetings, so that what threads do to each other
        without a barrier between them comes out differently.
    constants : mapping
        Other values for ``#define NAME number`` in the source.
    """

    def __init__(
        self,
        family: Family,
        *,
        together: bool | None = None,
        backwards: bool = False,
        constants: Mapping[str, int] | None = None,
    ) -> None:
        self.family = family
        self.kernels = family.kernels
        self.launches = 0
        at_once = family.cooperative if together is None else together
        self._way = (int(at_once), int(backwards))
        self._source = _host_source(family, constants or {})

    @property
    def twin(self) -> Any:
        """The module of the CPU kernels."""
        return self.family.twin

    def __getitem__(self, name: str) -> Callable[..., None]:
        """Return a kernel as a function of its declared arguments (and ``threads=``, of no use)."""
        kernel = self.kernels[name]

        def call(*values: Any, threads: int = 0) -> None:
            shape = kernel.launch(kernel.by_name(values))
            types = _array_types(kernel, values)
            arguments = map(_c_value, _device_arguments(kernel, values, types))
            library, lock = _load(self._source, self.family.types(**types))
            function = getattr(library, f"emulate_{name}")
            function.restype = ctypes.c_char_p
            numbers = (ctypes.c_int * 5)(shape.grid, shape.block, shape.shared, *self._way)
            self.launches += 1
            with lock:
                wrong = function(numbers, *arguments)
            assert wrong is None, f"{name}: {wrong.decode()}"

        return call


@cache
def emulated(family: Family) -> Emulated:
    """Return what stands in for a family, each once."""
    return Emulated(family)


def _host_source(family: Family, constants: Mapping[str, int]) -> str:
    """Return the device code for a host compiler, and a C function for each of its kernels."""
    text = DYNAMIC.sub(POINTER, family.source())
    for name, value in constants.items():
        text, found = re.subn(rf"#define {name} \d+", f"#define {name} {value}", text)
        assert found == 1, name
    return "\n".join(['#include "cuda.h"', text, *map(_entry_point, family)])


def _entry_point(kernel: Kernel) -> str:
    parameters = ", ".join(map(_parameter, kernel.arguments))
    names = ", ".join(argument.name for argument in kernel.arguments)
    return (
        f'extern "C" const char* emulate_{kernel.name}(const int* shape_, {parameters}) {{\n'
        f"    return emulator::run(shape_, [=] {{ {kernel.name}({names}); }});\n}}"
    )


def _parameter(argument: Argument) -> str:
    kind = argument.kind.removesuffix("[]")
    types = {"real": "REAL", "index": "INDEX", "packed": packed_macro(argument.name)}
    pointer = "*" if kind != argument.kind else ""
    return f"{types.get(kind, kind)}{pointer} {argument.name}"


def _c_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return np.ctypeslib.as_ctypes_type(value.dtype)(value)


@cache
def _load(source: str, types: Types) -> tuple[ctypes.CDLL, threading.Lock]:
    """Compile a source once in a process; launches in one library have to come one by one."""
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in types]
    words = _words().name
    with tempfile.TemporaryDirectory() as folder:
        path, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
        path.write_text(source, encoding="utf-8")
        _compile(*macros, f"-I{words}", f"-I{HERE}", str(path), "-o", str(library))
        return ctypes.CDLL(str(library)), threading.Lock()


@cache
def _words() -> tempfile.TemporaryDirectory[str]:
    """Compile CUDA's words once in a process: they take longer than most kernels."""
    folder = tempfile.TemporaryDirectory()
    _compile("-x", "c++-header", str(HERE / "cuda.h"), "-o", f"{folder.name}/cuda.h.gch")
    return folder


def _compile(*arguments: str) -> None:
    assert COMPILER is not None
    done = subprocess.run([COMPILER, *FLAGS, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
