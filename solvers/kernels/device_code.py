"""Device code as it is compiled, and where what is compiled ahead of time lies.

Headers are put in, entry points made from declarations, types given by macros. Names of compiled
files hold a digest of source and options, so that code of another version is never loaded.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib import resources
from itertools import groupby
from pathlib import Path

from solvers.kernels.declaration import SCALARS, Argument, Kernel

C_TYPES = {
    "float64": "double",
    "float32": "float",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
}
"""What REAL, INDEX and the types of packed arrays stand for, by NumPy's name of the type."""

Types = tuple[tuple[str, str], ...]
"""Macros of a compilation and the NumPy names of the types they stand for."""

DEVICE_HEADERS = "solvers.kernels.device"

_INCLUDE = re.compile(r'^\s*#include\s+"(?P<file>[\w.]+)"\s*$')


def packed_macro(name: str) -> str:
    """Return the macro that stands for the type of a packed array in device code."""
    return f"{name.upper()}_T"


def entry_point(kernel: Kernel, cooperative: bool) -> str:
    """Return the entry point of a kernel with structures, which makes them from its parameters.

    Parameters can tell the compiler that nothing else points to what is only read, as fields
    cannot. Blocks of a cooperative kernel read what others write while it runs.
    """
    parameters = ", ".join(_parameter(one, cooperative) for one in kernel.arguments)
    groups = groupby(kernel.arguments, key=lambda one: one.structure)
    names = [(name, ", ".join(one.name for one in group)) for name, group in groups]
    passed = ", ".join(f"{{{group}}}" if name else group for name, group in names)
    bounds = f" __launch_bounds__({kernel.bounds})" if kernel.bounds else ""
    return (
        f'extern "C" __global__ void{bounds} {kernel.name}({parameters}) {{\n'
        f"    {kernel.name}({passed});\n}}\n"
    )


def _parameter(argument: Argument, cooperative: bool) -> str:
    """Declare an argument as a parameter of device code."""
    kind = argument.kind.removesuffix("[]")
    types = {"real": "REAL", "index": "INDEX", "packed": packed_macro(argument.name)}
    types["code"] = C_TYPES["uint8"]
    found = types.get(kind, kind)
    if argument.kind in SCALARS:
        return f"{found} {argument.name}"
    if argument.direction == "in":
        return f"const {found}* __restrict__ {argument.name}"
    return f"{found}* {'' if cooperative else '__restrict__ '}{argument.name}"


def compile_options(types: Types) -> tuple[str, ...]:
    """Return the compiler options for the types of a compilation."""
    return ("-std=c++17", *(f"-D{macro}={C_TYPES[name]}" for macro, name in types))


def load_source(package: str, name: str, _seen: set[str] | None = None) -> str:
    """Read a ``.cu`` or ``.cuh`` file; ``#include "x.cuh"`` puts in the header once.

    Headers stand beside the source, or in ``solvers/kernels/device`` where engines share them.
    Line directives keep the compiler's messages pointing at the file as it is on disk.
    """
    seen = set() if _seen is None else _seen
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    lines = [f'#line 1 "{name}"']
    for number, line in enumerate(text.splitlines(), start=1):
        match = _INCLUDE.match(line)
        if match is None:
            lines.append(line)
            continue
        header = match["file"]
        if header not in seen:
            seen.add(header)
            own = resources.files(package).joinpath(header).is_file()
            lines.append(load_source(package if own else DEVICE_HEADERS, header, seen))
        lines.append(f'#line {number + 1} "{name}"')
    return "\n".join(lines) + "\n"


GENERATIONS = (80, 86, 89, 90, 100, 120)
"""Compute capabilities, times ten, of the GPUs that a wheel has machine code for."""

OLDEST = GENERATIONS[0]
"""Generation whose portable code the driver can translate for every GPU from there on."""

FOLDER = "compiled"
"""Where in this package the files are."""


def find_compiled(stem: str, generation: int) -> Path | None:
    """Return the file with a family's code for a GPU, or None where there is none.

    Machine code runs on its own generation and on later ones of the same major number (CUDA C++
    Programming Guide, "Binary Compatibility").
    """
    folder = _folder()
    if folder is None:
        return None
    alike = [one for one in GENERATIONS if one // 10 == generation // 10 and one <= generation]
    wanted = [machine_code(stem, one) for one in sorted(alike, reverse=True)]
    if generation >= OLDEST:
        wanted.append(portable_code(stem))
    return next((folder / one for one in wanted if (folder / one).is_file()), None)


def file_stem(package: str, stem: str, source: str, options: tuple[str, ...]) -> str:
    """Return what the files of a family with these options are called, without their endings."""
    text = "\0".join((source, *options))
    return f"{package}.{stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def machine_code(stem: str, generation: int) -> str:
    """Return the name of a file with machine code."""
    return f"{stem}.sm_{generation}.cubin"


def portable_code(stem: str) -> str:
    """Return the name of a file with code for the driver's compiler."""
    return f"{stem}.compute_{OLDEST}.ptx"


@lru_cache(maxsize=1)
def _folder() -> Path | None:
    """Return where the wheel's files are, or None in a source tree."""
    found = Path(str(resources.files("solvers.kernels"))) / FOLDER
    return found if found.is_dir() else None
