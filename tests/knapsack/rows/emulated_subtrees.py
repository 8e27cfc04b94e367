"""Run the device code of searches below many nodes on the host, block after block."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES, Kernel
from solvers.knapsack.rows.kernels.subtrees import FAMILY
from tests.mip.walkers import emulated as walkers

COMPILER = walkers.COMPILER
DYNAMIC = "extern __shared__ Int memory[];"

MEMORY = 1 << 13
"""Integers of shared memory that there are."""

KINDS = {"index[]": "INDEX*", "real[]": "REAL*"}


def build(folder: Path) -> ctypes.CDLL:
    """Compile the device code for this machine and load it."""
    assert COMPILER is not None
    text = FAMILY.source()
    assert DYNAMIC in text
    source = folder / "subtrees.cpp"
    doors = "\n".join(map(_door, FAMILY))
    memory = f"static long long memory[{MEMORY}];"
    source.write_text(f'#include "lanes.h"\n{memory}\n{text.replace(DYNAMIC, "")}\n{doors}\n')
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in FAMILY.types(index="int64")]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-ffp-contract=off", "-w"]
    include = f"-I{Path(walkers.__file__).parent / 'emulator'}"
    command = [COMPILER, *flags, *macros, include, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(library: ctypes.CDLL, name: str, values: tuple[Any, ...]) -> None:
    """Run a kernel on host arrays."""
    kernel = FAMILY.kernels[name]
    shape = kernel.launch(kernel.by_name(values))
    assert shape.shared <= 8 * MEMORY
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for value in values:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(value))
    getattr(library, f"emulate_{name}")(*arguments)


def _door(kernel: Kernel) -> str:
    """Return a C function that runs a kernel for each block of a grid in turn."""
    parameters = ", ".join(f"{KINDS.get(a.kind, 'int')} {a.name}" for a in kernel.arguments)
    names = ", ".join(argument.name for argument in kernel.arguments)
    return (
        f'extern "C" void emulate_{kernel.name}(int grid, int threads, {parameters}) {{\n'
        "    blockDim.x = unsigned(threads);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        f"        emulator::run_block(threads, [&] {{ {kernel.name}({names}); }});\n"
        "    }\n}\n"
    )
