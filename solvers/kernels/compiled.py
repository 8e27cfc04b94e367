"""Where device code compiled ahead of time lies, and how its files are called.

File names hold a digest of source and options, so that code of another version is never loaded.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib import resources
from pathlib import Path

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
