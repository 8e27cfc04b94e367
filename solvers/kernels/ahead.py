"""Device code compiled when the wheel is built, so that no GPU process waits for a compiler.

A wheel holds machine code for each generation of GPUs that it foresees, and code for the driver's
own compiler for later ones. What is not there, in a source tree or for other types of arrays, is
compiled when it is first launched.

    python -m solvers.kernels.ahead FOLDER
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from solvers.core.errors import EngineError
from solvers.kernels import nvrtc
from solvers.kernels.family import Family, compile_options
from solvers.kernels.prebuilt import GENERATIONS, VIRTUAL, file_stem, machine_code, portable_code


@dataclass(frozen=True)
class Job:
    """One compilation: the source, its options and the file that it fills."""

    file: str
    source: str
    options: tuple[str, ...]


def build(folder: Path, generations: tuple[int, ...] = GENERATIONS, processes: int = 0) -> int:
    """Compile what is missing in a folder, remove what is old, and return the number of files.

    Raises
    ------
    EngineError
        There is no compiler, or a source does not compile without a warning.
    """
    folder.mkdir(parents=True, exist_ok=True)
    jobs = {job.file: job for family in families() for job in jobs_of(family, generations)}
    for old in folder.iterdir():
        if old.name not in jobs:
            old.unlink()
    missing = [job for name, job in jobs.items() if not (folder / name).is_file()]
    if missing:
        with ProcessPoolExecutor(processes or os.cpu_count()) as pool:
            list(pool.map(store, missing, repeat(folder)))
    return len(jobs)


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
    """Return the compilations of a family that a wheel holds."""
    source = family.source()
    for foreseen in family.foreseen:
        types = family.types(**foreseen)
        options = compile_options(types)
        name = file_stem(family.package, family.stem, source, options)
        for one in generations:
            yield Job(machine_code(name, one), source, (*options, f"-arch=sm_{one}"))
        yield Job(portable_code(name), source, (*options, f"-arch=compute_{VIRTUAL}"))


def store(job: Job, folder: Path) -> None:
    """Compile into a folder.

    Raises
    ------
    EngineError
        There is no compiler, or the source does not compile without a warning.
    """
    library = nvrtc.load()
    if library is None:
        raise EngineError("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
    compiled = nvrtc.compile_source(library, job.source, job.file, job.options)
    if compiled.code is None or "warning" in compiled.log:
        raise EngineError(f"{job.file} does not compile without a warning:\n{compiled.log}")
    part = folder / f"{job.file}.{os.getpid()}"
    part.write_bytes(compiled.code)
    part.replace(folder / job.file)  # whole or not at all: a file that is there is believed


def main() -> None:
    """Fill a folder."""
    parser = argparse.ArgumentParser(description="Compile the GPU code of a wheel.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--generations", type=int, nargs="+", default=GENERATIONS)
    given = parser.parse_args()
    build(given.folder, tuple(given.generations))


if __name__ == "__main__":
    main()
