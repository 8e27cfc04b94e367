"""Device code compiled when the wheel is built, so that no GPU process waits for a compiler.

A wheel holds machine code for each generation of GPUs that it foresees, and code for the driver's
own compiler for later ones. What is not there, in a source tree or for other types of arrays, is
compiled when it is first launched. File names hold a digest of source and options, so that code
of another version is never loaded.

    python -m solvers.kernels.ahead FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from solvers.core.errors import EngineError
from solvers.kernels import nvrtc
from solvers.kernels.family import Family, Types, compile_options

GENERATIONS = (80, 86, 89, 90, 100, 120)
"""Compute capabilities, times ten, of the GPUs that a wheel has machine code for."""

VIRTUAL = 80
"""Generation whose portable code the driver can translate for every GPU from there on."""

FOLDER = "compiled"
"""Where in this package the files are."""


@dataclass(frozen=True)
class Job:
    """One compilation: the source, its options and the file that it fills."""

    file: str
    source: str
    options: tuple[str, ...]


def find(family: Family, types: Types, generation: int) -> Path | None:
    """Return the file with a family's code for a GPU, or None where there is none.

    Machine code runs on its own generation and on later ones of the same major number (CUDA C++
    Programming Guide, "Binary Compatibility").
    """
    folder = _folder()
    if folder is None:
        return None
    name = _stem(family, types)
    alike = [one for one in GENERATIONS if one // 10 == generation // 10 and one <= generation]
    wanted = [_machine_code(name, one) for one in sorted(alike, reverse=True)]
    if generation >= VIRTUAL:
        wanted.append(_portable_code(name))
    return next((folder / one for one in wanted if (folder / one).is_file()), None)


def build(folder: Path, generations: tuple[int, ...] = GENERATIONS, processes: int = 0) -> int:
    """Compile what is missing in a folder, remove what is old, and return the number of files.

    Raises
    ------
    EngineError
        There is no compiler, or a source does not compile.
    """
    folder.mkdir(parents=True, exist_ok=True)
    jobs = {job.file: job for family in families() for job in _jobs(family, generations)}
    for old in folder.iterdir():
        if old.name not in jobs:
            old.unlink()
    missing = [job for name, job in jobs.items() if not (folder / name).is_file()]
    with ProcessPoolExecutor(processes or os.cpu_count()) as pool:
        for job, code in zip(missing, pool.map(_compile, missing), strict=True):
            (folder / job.file).write_bytes(code)
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


def _jobs(family: Family, generations: tuple[int, ...]) -> Iterator[Job]:
    source = family.source()
    for foreseen in family.foreseen:
        types = family.types(**foreseen)
        name, options = _stem(family, types), compile_options(types)
        for one in generations:
            yield Job(_machine_code(name, one), source, (*options, f"-arch=sm_{one}"))
        yield Job(_portable_code(name), source, (*options, f"-arch=compute_{VIRTUAL}"))


def _compile(job: Job) -> bytes:
    library = nvrtc.load()
    if library is None:
        raise EngineError("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
    compiled = nvrtc.compile_source(library, job.source, job.file, job.options)
    if compiled.code is None:
        raise EngineError(f"{job.file} does not compile:\n{compiled.log}")
    return compiled.code


def _stem(family: Family, types: Types) -> str:
    text = "\0".join((family.source(), *compile_options(types)))
    return f"{family.package}.{family.stem}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _machine_code(stem: str, generation: int) -> str:
    return f"{stem}.sm_{generation}.cubin"


def _portable_code(stem: str) -> str:
    return f"{stem}.compute_{VIRTUAL}.ptx"


@lru_cache(maxsize=1)
def _folder() -> Path | None:
    """Return where the wheel's files are, or None in a source tree."""
    found = Path(str(resources.files("solvers.kernels"))) / FOLDER
    return found if found.is_dir() else None


def main() -> None:
    """Fill a folder."""
    parser = argparse.ArgumentParser(description="Compile the GPU code of a wheel.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--generations", type=int, nargs="+", default=GENERATIONS)
    given = parser.parse_args()
    build(given.folder, tuple(given.generations))


if __name__ == "__main__":
    main()
