"""Paths as callers give them: texts, bytes or objects, in whatever encoding files are named."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TypeAlias

from solvers.core.errors import FileFormatError

AnyPath: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"


def as_path(path: AnyPath) -> Path:
    """Return a path, which may be given as bytes, as a Path.

    Raises
    ------
    FileFormatError
        It is empty, or no file can have such a name, at least in the encoding of this locale.
    """
    text = os.fsdecode(path)
    if not text:
        raise FileFormatError("The path is empty; give the name of a file.")
    try:
        name = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise FileFormatError(
            f"The path {text!a} cannot be written in {sys.getfilesystemencoding()}, the encoding "
            "of file names here; run Python with PYTHONUTF8=1, or give the path as bytes."
        ) from error
    if b"\0" in name:
        raise FileFormatError(
            f"The path {text!a} has a null character in it, which no file name can have."
        )
    return Path(text)


def printable(path: AnyPath) -> str:
    """Return a path for a message, with escapes for what is not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one regular file, which exists or would be made."""
    if os.path.exists(one) and os.path.exists(other):
        return os.path.isfile(one) and os.path.samefile(one, other)
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except OSError:  # the working folder is gone
        return one == other
