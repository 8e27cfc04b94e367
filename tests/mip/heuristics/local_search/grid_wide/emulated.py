"""Run a cooperative family's device code on the host, each block in a thread of its own.

As ``tests/mip/heuristics/local_search/gpu/emulated.py`` does it for blocks that know nothing of
each other; the header ``emulator/grid.h`` has CUDA's words.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES, Argument, Family, Kernel
from tests.mip.heuristics.local_search.gpu.emulated import COMPILER

HERE = Path(__file__).parent
KINDS = {"real[]": "REAL*", "index[]": "INDEX*", "packed[]": "double*"}


def build(family: Family, folder: Path, real: str) -> ctypes.CDLL:
    """Compile a family's device code for this machine and load it."""
    assert COMPILER is not None
    source = folder / f"{family.stem}-{real}.cpp"
    doors = "\n".join(_door(kernel) for kernel in family)
    source.write_text(f'#include "grid.h"\n{family.source()}\n{doors}\n')
    names = [a.name for kernel in family for a in kernel.arguments if a.kind == "packed[]"]
    types = family.types(real, "int32", **dict.fromkeys(names, "float64"))
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in types]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = [
        "-std=c++17",
        "-O1",
        "-fPIC",
        "-fno-gnu-unique",
        "-shared",
        "-pthread",
        "-ffp-contract=off",
    ]
    include = f"-I{HERE / 'emulator'}"
    command = [COMPILER, *flags, *macros, include, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(library: ctypes.CDLL, kernel: Kernel, values: tuple[Any, ...]) -> None:
    """Run a kernel on host arrays, all of its blocks at once."""
    shape = kernel.launch(kernel.by_name(values))
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for argument, value in zip(kernel.arguments, values, strict=True):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, argument.name
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(value))
    getattr(library, f"emulate_{kernel.name}")(*arguments)


def _c_argument(argument: Argument) -> str:
    return f"{KINDS.get(argument.kind, 'int')} {argument.name}"


def _door(kernel: Kernel) -> str:
    """Return a C function that runs a kernel on a grid."""
    parameters = ", ".join(map(_c_argument, kernel.arguments))
    names = ", ".join(argument.name for argument in kernel.arguments)
    return (
        f'extern "C" void emulate_{kernel.name}(int grid, int block, {parameters}) {{\n'
        f"    emulator::run_grid(grid, block, [=] {{ {kernel.name}({names}); }});\n"
        "}\n"
    )
