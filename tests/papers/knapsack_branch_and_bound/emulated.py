"""Run the device code of the tree on the host, block after block."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES, Argument, Kernel
from solvers.papers.knapsack_branch_and_bound.kernels.nodes import FAMILY
from tests.mip.heuristics.local_search.gpu import emulated as walkers
from tests.simplex.batch import emulated as simplex

COMPILER = walkers.COMPILER
HERE = Path(__file__).parent


def build(folder: Path, word: str) -> ctypes.CDLL:
    """Compile the device code for this machine, with words of a type, and load it."""
    assert COMPILER is not None
    source = folder / f"nodes-{word}.cpp"
    doors = "\n".join(_door(kernel) for kernel in FAMILY)
    source.write_text(f'#include "maxima.h"\n{FAMILY.source()}\n{doors}\n')
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in FAMILY.types(index=word)]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-w"]
    folders = [HERE, *(Path(other.__file__).parent for other in (walkers, simplex))]
    includes = [f"-I{folder / 'emulator'}" for folder in folders]
    command = [COMPILER, *flags, *macros, *includes, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


class Emulated:
    """Stands in for the family: its kernels run the device code on host arrays."""

    def __init__(self, libraries: dict[str, ctypes.CDLL]) -> None:
        self._libraries = libraries

    def __getitem__(self, name: str) -> Any:
        kernel = FAMILY.kernels[name]

        def call(*values: Any, threads: int = 0) -> None:
            shape = kernel.launch(kernel.by_name(values))
            arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
            words = {str(v.dtype) for v in values if isinstance(v, np.ndarray)}
            assert len(words) == 1, words
            for value in values:
                if isinstance(value, np.ndarray):
                    assert value.flags.c_contiguous
                    arguments.append(ctypes.c_void_p(value.ctypes.data))
                else:
                    arguments.append(ctypes.c_int(int(value)))
            getattr(self._libraries[words.pop()], f"emulate_{kernel.name}")(*arguments)

        return call


def _c_argument(argument: Argument) -> str:
    return f"{'INDEX*' if argument.kind == 'index[]' else 'int'} {argument.name}"


def _door(kernel: Kernel) -> str:
    """Return a C function that runs a kernel on a grid."""
    parameters = ", ".join(map(_c_argument, kernel.arguments))
    names = ", ".join(argument.name for argument in kernel.arguments)
    return (
        f'extern "C" void emulate_{kernel.name}(int grid, int threads, {parameters}) {{\n'
        "    blockDim.x = unsigned(threads);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        f"        emulator::run_block(threads, [&] {{ {kernel.name}({names}); }});\n"
        "    }\n}\n"
    )
