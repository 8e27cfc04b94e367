"""Run the device code of many knapsack problems on the host, block after block."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES
from solvers.knapsack.many.kernels.many import FAMILY, MANY
from tests.mip.walkers import emulated as walkers
from tests.simplex.batch import emulated as simplex

COMPILER = walkers.COMPILER
DYNAMIC = "extern __shared__ INDEX memory[];"

MEMORY = 1 << 15
"""Numbers of shared memory that there are; a launch asks for some of them."""

UNTOUCHED = -123_456_789


def build(folder: Path) -> ctypes.CDLL:
    """Compile the device code for this machine and load it."""
    assert COMPILER is not None
    text = FAMILY.source()
    assert DYNAMIC in text
    text = text.replace(DYNAMIC, "").replace("atomicAdd((unsigned long long*)queue", "draw(queue")
    source = folder / "many.cpp"
    types = {"index[]": "INDEX*"}
    parameters = ", ".join(f"{types.get(a.kind, 'int')} {a.name}" for a in MANY.arguments)
    names = ", ".join(argument.name for argument in MANY.arguments)
    source.write_text(
        f'#include "blocks.h"\nstatic INDEX memory[{MEMORY}];\n'
        "static unsigned long long draw(INDEX* queue, unsigned long long more) {\n"
        "    const INDEX before = *queue;\n    *queue += more;\n    return before;\n}\n"
        f"{text}\n"
        'extern "C" INDEX* shared_memory() { return memory; }\n'
        f'extern "C" void emulate(int grid, int threads, {parameters}) {{\n'
        "    blockDim.x = unsigned(threads);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        f"        emulator::run_block(threads, [&] {{ many({names}); }});\n"
        "    }\n}\n"
    )
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in FAMILY.types(index="int64")]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-ffp-contract=off", "-w"]
    folders = [Path(other.__file__).parent / "emulator" for other in (simplex, walkers)]
    includes = [f"-I{folder}" for folder in folders]
    command = [COMPILER, *flags, *macros, *includes, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(library: ctypes.CDLL, values: tuple[Any, ...]) -> None:
    """Run the kernel on host arrays; see that it keeps to the shared memory it asked for."""
    shape = MANY.launch(MANY.by_name(values))
    library.shared_memory.restype = ctypes.POINTER(ctypes.c_int64)
    memory = np.ctypeslib.as_array(library.shared_memory(), (MEMORY,))
    memory[:] = UNTOUCHED
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for value in values:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            assert value.dtype == np.int64
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(int(value)))
    library.emulate(*arguments)
    assert (memory[shape.shared // 8 :] == UNTOUCHED).all()
