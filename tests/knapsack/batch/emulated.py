"""Run the device code of many knapsack problems on the host, block after block."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES
from solvers.knapsack.batch.kernels.many import FAMILY, MANY
from tests.mip.heuristics.local_search.gpu import emulated as walkers
from tests.simplex.batch import emulated as simplex

COMPILER = walkers.COMPILER
DYNAMIC = "extern __shared__ INDEX memory[];"

MEMORY = 1 << 15
"""Numbers of shared memory that there are; a launch asks for some of them."""

UNTOUCHED = -123_456_789


class Libraries:
    """The device code, compiled for each pair of types of profits and weights when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, str], ctypes.CDLL] = {}

    def of(self, profit: str, weight: str) -> ctypes.CDLL:
        """Return the library for these types."""
        if (profit, weight) not in self._made:
            self._made[profit, weight] = build(self._folder, profit, weight)
        return self._made[profit, weight]


def build(folder: Path, profit: str, weight: str) -> ctypes.CDLL:
    """Compile the device code for this machine and load it."""
    assert COMPILER is not None
    text = FAMILY.source()
    assert DYNAMIC in text
    text = text.replace(DYNAMIC, "").replace("atomicAdd((unsigned long long*)queue", "draw(queue")
    source = folder / f"many-{profit}-{weight}.cpp"
    types = {"index[]": "INDEX*", "profit": "PROFIT_T*", "weight": "WEIGHT_T*"}
    kinds = (types.get(a.name, types.get(a.kind, "int")) for a in MANY.arguments)
    parameters = ", ".join(f"{k} {a.name}" for k, a in zip(kinds, MANY.arguments, strict=True))
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
    types_of = FAMILY.types(index="int64", profit=profit, weight=weight)
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in types_of]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-ffp-contract=off", "-w"]
    folders = [Path(other.__file__).parent / "emulator" for other in (simplex, walkers)]
    includes = [f"-I{folder}" for folder in folders]
    command = [COMPILER, *flags, *macros, *includes, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


def launch(libraries: Libraries, values: tuple[Any, ...]) -> None:
    """Run the kernel on host arrays; see that it keeps to the shared memory it asked for."""
    shape = MANY.launch(MANY.by_name(values))
    library = libraries.of(str(values[1].dtype), str(values[2].dtype))
    library.shared_memory.restype = ctypes.POINTER(ctypes.c_int64)
    memory = np.ctypeslib.as_array(library.shared_memory(), (MEMORY,))
    memory[:] = UNTOUCHED
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for argument, value in zip(MANY.arguments, values, strict=True):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            assert value.dtype == np.int64 or argument.kind == "packed[]"
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(int(value)))
    library.emulate(*arguments)
    assert (memory[shape.shared // 8 :] == UNTOUCHED).all()
