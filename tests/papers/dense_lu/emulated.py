"""Run the device code of dense linear algebra on the host, block after block.

A C++ compiler takes the source as it is; threads of a block take turns and meet at barriers and
shuffles (``tests/mip/heuristics/local_search/gpu/emulator/lanes.h``). Added here: blocks of 512
threads, shared memory of a size given at the launch, and atomics, which need nothing when one
thread runs at a time.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from solvers.kernels.family import C_TYPES, Argument, Family, Kernel
from tests.locations import ROOT

COMPILER = shutil.which("g++")
LANES = ROOT / "tests" / "mip" / "heuristics" / "local_search" / "gpu" / "emulator" / "lanes.h"
SHARED_BYTES = 227 << 10
FORWARDS = re.compile(r"for \(int lane = 0; lane < count; \+\+lane\)\s*run_once\(lane\);")
BACKWARDS = "for (int lane = count - 1; lane >= 0; --lane) run_once(lane);"
SCALARS = {"int": ctypes.c_int, "real": ctypes.c_double, "index": ctypes.c_int}
PREAMBLE = f"""
#define __forceinline__ inline
static double emulated_memory[{SHARED_BYTES // 8}];
inline float __fadd_rn(float a, float b) {{ return a + b; }}
inline double __longlong_as_double(long long bits) {{
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}}
inline int __float_as_int(float value) {{
    int bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}}
inline float __int_as_float(int bits) {{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}}
template <class T> inline T atomicCAS(T* address, T seen, T value) {{
    const T before = *address;
    if (before == seen) *address = value;
    return before;
}}
template <class T> inline T atomicMin(T* address, T value) {{
    const T before = *address;
    if (value < before) *address = value;
    return before;
}}
"""


class Emulated:
    """A family whose kernels run on host arrays.

    With ``backwards`` the last thread goes first between two meetings, so that what threads do to
    each other without a barrier between them comes out differently.
    """

    def __init__(self, family: Family, folder: Path, *, backwards: bool = False) -> None:
        assert COMPILER is not None
        lanes = LANES.read_text().replace("MOST = 256", "MOST = 512")
        assert "MOST = 512" in lanes
        if backwards:
            lanes, count = FORWARDS.subn(BACKWARDS, lanes)
            assert count == 2
        device_code = family.source().replace(
            "extern __shared__ double memory[];", "double* memory = emulated_memory;"
        )
        doors = "\n".join(_door(kernel) for kernel in family)
        source = folder / f"{family.stem}{'-backwards' if backwards else ''}.cpp"
        source.write_text(f"{lanes}\n{PREAMBLE}\n{device_code}\n{doors}\n")
        macros = [f"-D{macro}={C_TYPES[name]}" for macro, name in family.types()]
        library = source.with_suffix(".so")
        # else libraries in one process share static variables of equal names
        flags = [
            "-std=c++17",
            "-O1",
            "-fPIC",
            "-fno-gnu-unique",
            "-shared",
            "-ffp-contract=off",
            "-w",
        ]
        command = [COMPILER, *flags, *macros, str(source), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.family = family
        self.library = ctypes.CDLL(str(library))

    def __call__(self, name: str, *values: Any) -> None:
        """Run a kernel for each block of its grid in turn."""
        kernel = self.family.kernels[name]
        shape = kernel.launch(kernel.by_name(values))
        assert shape.shared <= SHARED_BYTES
        arguments: list[Any] = [ctypes.c_int(shape.grid), ctypes.c_int(shape.block)]
        for argument, value in zip(kernel.arguments, values, strict=True):
            if isinstance(value, np.ndarray):
                assert value.flags.c_contiguous
                arguments.append(ctypes.c_void_p(value.ctypes.data))
            else:
                arguments.append(SCALARS[argument.kind](value))
        getattr(self.library, f"emulate_{name}")(*arguments)


def _c_argument(argument: Argument) -> str:
    kinds = {"real[]": "REAL*", "index[]": "INDEX*", "real": "REAL", "index": "INDEX"}
    return f"{kinds.get(argument.kind, 'int')} {argument.name}"


def _door(kernel: Kernel) -> str:
    """Return a C function that runs a kernel for each block of a grid in turn."""
    parameters = ", ".join(map(_c_argument, kernel.arguments))
    names = ", ".join(argument.name for argument in kernel.arguments)
    return (
        f'extern "C" void emulate_{kernel.name}(int grid_, int block_, {parameters}) {{\n'
        "    blockDim.x = unsigned(block_);\n"
        "    for (int at_ = 0; at_ < grid_; ++at_) {\n"
        "        blockIdx.x = unsigned(at_);\n"
        f"        emulator::run_block(block_, [&] {{ {kernel.name}({names}); }});\n"
        "    }\n}\n"
    )
