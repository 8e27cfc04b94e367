"""Run a family's device code on the host: a C++ compiler, and threads that take turns.

The source is compiled as it is, with ``emulator/lanes.h`` for CUDA's words; so tests without a GPU
see what lanes do together, not only what the twin says they should do.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES, Argument, Family, Kernel

COMPILER = shutil.which("g++")
HERE = Path(__file__).parent
SCALARS = {"int": ctypes.c_int, "real": ctypes.c_double, "index": ctypes.c_int}


def build(family: Family, folder: Path, real: str = "float64") -> ctypes.CDLL:
    """Compile a family's device code for this machine and load it."""
    assert COMPILER is not None
    source = folder / f"{family.stem}-{real}.cpp"
    doors = "\n".join(_door(kernel) for kernel in family)
    source.write_text(f'#include "lanes.h"\n{family.source()}\n{doors}\n')
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in _types(family, real)]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = [
        "-std=c++17",
        "-O1",
        "-fPIC",
        "-fno-gnu-unique",
        "-shared",
        "-ffp-contract=off",
        "-Wno-attributes",
    ]
    command = [COMPILER, *flags, *macros, f"-I{HERE / 'emulator'}", str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(library: ctypes.CDLL, kernel: Kernel, values: tuple[Any, ...]) -> None:
    """Run a kernel, block after block, on host arrays."""
    shape = kernel.launch(kernel.by_name(values))
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for argument, value in zip(kernel.arguments, values, strict=True):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(SCALARS[argument.kind](value))
    getattr(library, f"emulate_{kernel.name}")(*arguments)


def _types(family: Family, real: str) -> tuple[tuple[str, str], ...]:
    names = [a.name for kernel in family for a in kernel.arguments if a.kind == "packed[]"]
    return family.types(real, "int32", **dict.fromkeys(names, "float64"))


def _c_argument(argument: Argument) -> str:
    kinds = {"real[]": "REAL*", "index[]": "INDEX*", "packed[]": "double*"}
    return f"{kinds.get(argument.kind, 'int')} {argument.name}"


def _door(kernel: Kernel) -> str:
    """Return a C function that runs a kernel for each block of a grid in turn."""
    parameters = ", ".join(map(_c_argument, kernel.arguments))
    names = ", ".join(argument.name for argument in kernel.arguments)
    return (
        f'extern "C" void emulate_{kernel.name}(int grid, int block, {parameters}) {{\n'
        "    blockDim.x = unsigned(block);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        f"        emulator::run_block(block, [&] {{ {kernel.name}({names}); }});\n"
        "    }\n}\n"
    )
