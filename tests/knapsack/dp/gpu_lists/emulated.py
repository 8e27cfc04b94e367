"""Run the device code of stages on the host: block after block, or side by side in threads."""

from __future__ import annotations

import ctypes
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.kernels.family import C_TYPES, Argument, Kernel
from solvers.knapsack.dp.gpu_lists.kernels.stages import FAMILY
from tests.mip.heuristics.local_search.gpu import emulated as walkers
from tests.mip.heuristics.local_search.grid_wide import emulated as whole
from tests.simplex.batch import emulated as simplex

COMPILER = walkers.COMPILER
HERE = Path(__file__).parent
KINDS = {"index[]": "INDEX*", "packed[]": "ANCESTOR_T*", "int": "int"}


def build(folder: Path, *, together: bool = False) -> ctypes.CDLL:
    """Compile the device code for this machine and load it; ``together`` runs blocks at once."""
    assert COMPILER is not None
    source = folder / f"stages-{together}.cpp"
    doors = "\n".join(_door(kernel, together) for kernel in FAMILY)
    source.write_text(f'#include "words.h"\n{FAMILY.source()}\n{doors}\n')
    types = FAMILY.types(index="int64", ancestor="int32")
    macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in types]
    library = source.with_suffix(".so")
    # else libraries in one process share static variables of equal names
    flags = ["-std=c++17", "-O1", "-fPIC", "-fno-gnu-unique", "-shared", "-pthread", "-w"]
    flags += ["-DWHOLE_GRID"] if together else []
    folders = [Path(other.__file__).parent for other in (walkers, whole, simplex)]
    includes = [f"-I{folder / 'emulator'}" for folder in (HERE, *folders)]
    command = [COMPILER, *flags, *macros, *includes, str(source), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


class Emulated:
    """Stands in for the family: its kernels run the device code on host arrays."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __getitem__(self, name: str) -> Any:
        kernel = FAMILY.kernels[name]

        def call(*values: Any, threads: int = 0) -> None:
            launch(self._library, kernel, values)

        return call


class EmulatedGpu(Device):
    """A GPU whose memory is the host's, with ``most_bytes`` for one array."""

    most_bytes = 2**40

    @property
    def xp(self):
        def empty(size, dtype):
            if size * np.dtype(dtype).itemsize > self.most_bytes:
                raise MemoryError
            return np.empty(size, dtype=dtype)

        device = SimpleNamespace(attributes={"MultiProcessorCount": 1})
        cuda = SimpleNamespace(Device=lambda: device)
        return SimpleNamespace(empty=empty, zeros=np.zeros, cuda=cuda)

    def activate(self):
        return nullcontext()

    def to_device(self, array):
        return np.array(array, order="C", copy=True)

    def to_host(self, array):
        return np.array(array, copy=True)

    def synchronize(self):
        pass

    def is_out_of_memory(self, error):
        return isinstance(error, MemoryError)

    def release_memory(self):
        pass


def launch(library: ctypes.CDLL, kernel: Kernel, values: tuple[Any, ...]) -> None:
    """Run a kernel."""
    shape = kernel.launch(kernel.by_name(values))
    arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
    for argument, value in zip(kernel.arguments, values, strict=True):
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous, argument.name
            assert value.dtype == (np.int32 if argument.name == "ancestor" else np.int64)
            arguments.append(ctypes.c_void_p(value.ctypes.data))
        else:
            arguments.append(ctypes.c_int(int(value)))
    getattr(library, f"emulate_{kernel.name}")(*arguments)


def _c_argument(argument: Argument) -> str:
    return f"{KINDS[argument.kind]} {argument.name}"


def _door(kernel: Kernel, together: bool) -> str:
    """Return a C function that runs a kernel on a grid."""
    parameters = ", ".join(map(_c_argument, kernel.arguments))
    names = ", ".join(argument.name for argument in kernel.arguments)
    one_by_one = (
        "    blockDim.x = unsigned(threads);\n"
        "    for (int at = 0; at < grid; ++at) {\n"
        "        blockIdx.x = unsigned(at);\n"
        f"        emulator::run_block(threads, [&] {{ {kernel.name}({names}); }});\n"
        "    }\n"
    )
    at_once = f"    emulator::run_grid(grid, threads, [=] {{ {kernel.name}({names}); }});\n"
    return (
        f'extern "C" void emulate_{kernel.name}(int grid, int threads, {parameters}) {{\n'
        f"{at_once if together else one_by_one}}}\n"
    )
