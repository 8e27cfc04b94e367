"""Run the device code of replicas among packings on the host, block after block."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES
from solvers.knapsack.multidimensional.kernels.anneal import ANNEAL, FAMILY
from tests.mip.heuristics.local_search.gpu import emulated as replicas

COMPILER = replicas.COMPILER
DYNAMIC = "extern __shared__ double memory[];"

MEMORY = 1 << 14
"""Doubles of shared memory that there are."""

SUMS = """
inline int __reduce_add_sync(unsigned, int value) {
    const int* all = emulator::exchange(value);
    int sum = 0;
    for (int lane = 0; lane < 32; ++lane) sum += all[lane];
    return sum;
}
"""


def build(folder: Path) -> ctypes.CDLL:
    """Compile the device code for this machine and load it."""
    assert COMPILER is not None
    text = FAMILY.source()
    assert DYNAMIC in text
    source = folder / "anneal.cpp"
    kinds = {"index[]": "INDEX*", "real[]": "REAL*"}
    parameters = ", ".join(f"{kinds.get(a.kind, 'int')} {a.name}" for a in ANNEAL.arguments)
    names = ", ".join(argument.name for argument in ANNEAL.arguments)
    source.write_text(
        f'#include "lanes.h"\n{SUMS}\nstatic double memory[{MEMORY}];\n'
        f"{text.replace(DYNAMIC, '')}\n"
        f'extern "C" void emulate(int grid, int threads, {parameters}) {{\n'
        "    blockDim.x = unsigned(threads);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        f"        emulator::run_block(threads, [&] {{ anneal({names}); }});\n"
        "    }\n}\n"
    )
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in FAMILY.types()]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-ffp-contract=off", "-w"]
    include = f"-I{Path(replicas.__file__).parent / 'emulator'}"
    command = [COMPILER, *flags, *macros, include, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(library: ctypes.CDLL, values: tuple[Any, ...]) -> None:
    """Run the kernel on host arrays."""
    shape = ANNEAL.launch(ANNEAL.by_name(values))
    assert shape.shared <= 8 * MEMORY
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for value in values:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(value))
    library.emulate(*arguments)
