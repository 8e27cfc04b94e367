"""Run the batched simplex kernel's device code on the host, block after block."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES
from solvers.simplex.batch.kernels.simplex import FAMILY, SIMPLEX
from tests.mip.heuristics.local_search.gpu import emulated as walkers

COMPILER = walkers.COMPILER
HERE = Path(__file__).parent
DYNAMIC = "extern __shared__ __align__(16) double memory[];"

MEMORY = 1 << 15
"""Numbers of shared memory that there are; a launch asks for some of them."""

UNTOUCHED = -1.25


def build(folder: Path) -> ctypes.CDLL:
    """Compile the device code for this machine and load it."""
    assert COMPILER is not None
    text = FAMILY.source()
    assert DYNAMIC in text
    text = text.replace(DYNAMIC, f"alignas(16) static double memory[{MEMORY}];")
    source = folder / "simplex.cpp"
    types = {"real[]": "REAL*", "index[]": "INDEX*"}
    parameters = ", ".join(f"{types.get(a.kind, 'int')} {a.name}" for a in SIMPLEX.arguments)
    names = ", ".join(argument.name for argument in SIMPLEX.arguments)
    source.write_text(
        f'#include "blocks.h"\n{text}\n'
        'extern "C" double* shared_memory() { return memory; }\n'
        f'extern "C" void emulate(int grid, int threads, int held, {parameters}) {{\n'
        "    blockDim.x = unsigned(threads);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        "        emulator::run_block(threads, [&] {\n"
        f"            held ? simplex_held({names}) : simplex({names});\n"
        "        });\n    }\n}\n"
    )
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in FAMILY.types()]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-ffp-contract=off", "-w"]
    folders = [f"-I{HERE / 'emulator'}", f"-I{Path(walkers.__file__).parent / 'emulator'}"]
    command = [COMPILER, *flags, *macros, *folders, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(library: ctypes.CDLL, values: tuple[Any, ...], *, held: bool) -> None:
    """Run a kernel on host arrays; see that it keeps to the shared memory it asked for."""
    shape = SIMPLEX.launch(SIMPLEX.by_name(values))
    assert shape.shared % 8 == 0
    library.shared_memory.restype = ctypes.POINTER(ctypes.c_double)
    memory = np.ctypeslib.as_array(library.shared_memory(), (MEMORY,))
    memory[:] = UNTOUCHED
    arguments: list[Any] = [ctypes.c_int(n) for n in (shape.grid, shape.block, held)]
    for value in values:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(int(value)))
    library.emulate(*arguments)
    assert (memory[shape.shared // 8 :] == UNTOUCHED).all()
