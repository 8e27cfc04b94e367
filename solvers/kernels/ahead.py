"""Device code compiled when the wheel is built, so that no GPU process waits for a compiler.

A wheel holds machine code for each generation of GPUs that it foresees, and code for the driver's
own compiler for later ones. What is not there, in a source tree or for other types of arrays, is
compiled when it is first launched.

    python -m solvers.kernels.ahead FOLDER
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import importlib
import importlib.util
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

from solvers.core.errors import EngineError
from solvers.kernels.device_code import (
    GENERATIONS,
    OLDEST,
    compile_options,
    file_stem,
    machine_code,
    portable_code,
)
from solvers.kernels.family import Family

# NVIDIA's runtime compiler from its wheel, without CuPy and without a GPU.


@dataclass(frozen=True)
class Compiled:
    """What the compiler made, and what it said."""

    machine: bytes | None
    """Code of one generation; None for a virtual one, or if it failed."""
    portable: bytes | None
    """The same in the assembler's language; None if it failed."""
    log: str


def load() -> ctypes.CDLL | None:
    """Return the library from the installed wheels or the system, or None."""
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    return None


def _candidates() -> list[str]:
    found: list[str] = []
    spec = importlib.util.find_spec("nvidia")
    for root in [] if spec is None else spec.submodule_search_locations or []:
        found += sorted(str(path) for path in Path(root).glob("**/libnvrtc.so.*[0-9]"))
    system = ctypes.util.find_library("nvrtc")
    return found + ([system] if system else [])


def compile_source(
    library: ctypes.CDLL, source: str, name: str, options: tuple[str, ...]
) -> Compiled:
    """Compile to the assembler's language and, unless the target is virtual, to machine code."""
    program = ctypes.c_void_p()
    made = library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), name.encode(), 0, None, None
    )
    if made != 0:
        raise RuntimeError(f"NVRTC cannot begin a program (error {made})")
    try:
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        failed = library.nvrtcCompileProgram(program, len(options), texts) != 0
        log = _text(program, library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog)
        machine, portable = None, None
        if not failed:
            machine = _text(program, library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN) or None
            portable = _text(program, library.nvrtcGetPTXSize, library.nvrtcGetPTX)
        return Compiled(machine, portable, log.rstrip(b"\0").decode(errors="replace"))
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program: ctypes.c_void_p, size_of: Any, get: Any) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    get(program, text)
    return text.raw


@dataclass(frozen=True)
class Job:
    """One compilation: the source, its options and the files that it fills.

    Portable code is what the compiler makes on its way to the machine code of that generation.
    """

    source: str
    options: tuple[str, ...]
    machine: str
    portable: str | None = None

    @property
    def files(self) -> list[str]:
        """The names of its files."""
        return [self.machine] if self.portable is None else [self.machine, self.portable]

    def is_done(self, folder: Path) -> bool:
        """Whether all of them are in a folder."""
        return all((folder / name).is_file() for name in self.files)


def build(folder: Path, generations: tuple[int, ...] = GENERATIONS, processes: int = 0) -> int:
    """Compile what is missing in a folder, remove what is old, and return the number of files.

    Raises
    ------
    EngineError
        There is no compiler, or a source does not compile without a warning.
    """
    folder.mkdir(parents=True, exist_ok=True)
    jobs = {job.machine: job for family in families() for job in jobs_of(family, generations)}
    names = {name for job in jobs.values() for name in job.files}
    for old in folder.iterdir():
        if old.name not in names:
            old.unlink()
    missing = [job for job in jobs.values() if not job.is_done(folder)]
    if missing:
        with ProcessPoolExecutor(processes or os.cpu_count()) as pool:
            list(pool.map(store, missing, repeat(folder)))
    return len(names)


def families() -> Iterator[Family]:
    """Import every kernel family."""
    root = Path(__file__).parent.parent
    for path in sorted(root.glob("**/*.cu")):
        package = ".".join((root.name, *path.parent.relative_to(root).parts))
        declared = vars(importlib.import_module(f"{package}.{path.stem}")).values()
        yield next(
            one
            for one in declared
            if isinstance(one, Family) and (one.package, one.stem) == (package, path.stem)
        )


def jobs_of(family: Family, generations: tuple[int, ...] = GENERATIONS) -> Iterator[Job]:
    """Return the compilations of a family that a wheel holds, portable code of the oldest too."""
    source = family.source()
    for foreseen in family.foreseen:
        types = family.types(**foreseen)
        options = compile_options(types)
        name = file_stem(family.package, family.stem, source, options)
        for one in generations:
            portable = portable_code(name) if one == OLDEST else None
            yield Job(source, (*options, f"-arch=sm_{one}"), machine_code(name, one), portable)


def store(job: Job, folder: Path) -> None:
    """Compile into a folder.

    Raises
    ------
    EngineError
        There is no compiler, or the source does not compile without a warning.
    """
    library = load()
    if library is None:
        raise EngineError("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
    compiled = compile_source(library, job.source, job.machine, job.options)
    if not compiled.machine or not compiled.portable or "warning" in compiled.log:
        raise EngineError(f"{job.machine} does not compile without a warning:\n{compiled.log}")
    for name, code in zip(job.files, (compiled.machine, compiled.portable), strict=False):
        part = folder / f"{name}.{os.getpid()}"
        part.write_bytes(code)
        part.replace(folder / name)  # whole or not at all: a file that is there is believed


def main() -> None:
    """Fill a folder."""
    parser = argparse.ArgumentParser(description="Compile the GPU code of a wheel.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--generations", type=int, nargs="+", default=GENERATIONS)
    given = parser.parse_args()
    build(given.folder, tuple(given.generations))


if __name__ == "__main__":
    main()
