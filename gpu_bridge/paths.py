"""Paths as callers give them, and files that appear there whole or not at all.

A path is a text, bytes or an object, in whatever encoding files are named.
"""

from __future__ import annotations

import os
import re
import secrets
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


_DESCRIPTOR = re.compile(r"/dev/std(?P<name>out|err)|/(?:dev|proc/self)/fd/(?P<number>\d+)")


def check_writable(path: AnyPath) -> Path:
    """Return the path if a file can be written there; nothing is changed on disk.

    Raises
    ------
    FileFormatError
        It is a directory, its folder does not exist, or writing is not allowed.
    """
    where = as_path(path)
    if _descriptor(where) is None:
        try:
            _check_place(where, Path(os.path.realpath(where)))
        except OSError as error:  # a name that is too long, or a working folder that is gone
            raise _failure(where, error) from error
    return where


def write_whole(path: AnyPath, content: bytes) -> None:
    """Write a file beside the one asked for and then put it in its place.

    So an older file is there until the new one is complete, and nobody ever sees half of one.
    Devices, pipes, and files in a folder that takes no new ones are written as they are.

    Raises
    ------
    FileFormatError
        The path cannot be written.
    """
    where = check_writable(path)
    try:
        place = Path(os.path.realpath(where))  # a link stays a link
        number = _descriptor(where)
        if number is not None:
            with open(os.dup(number), "wb") as stream:  # goes on where the shell's redirection is
                stream.write(content)
        elif place.exists() and not (place.is_file() and os.access(place.parent, os.W_OK)):
            place.write_bytes(content)
        else:
            _put(place, content)
    except OSError as error:
        raise _failure(where, error) from error


def _check_place(where: Path, place: Path) -> None:
    shown = printable(where)
    if place.is_dir():
        raise FileFormatError(f"'{shown}' is a directory; give the path of a file.")
    if not place.parent.is_dir():
        folder = printable(place.parent)
        raise FileFormatError(f"There is no folder '{folder}' to write '{shown}' to; make it.")
    target = place if place.exists() else place.parent
    if not os.access(target, os.W_OK):
        raise FileFormatError(
            f"'{shown}' cannot be written: no permission to change '{printable(target)}'."
        )


def _failure(where: Path, error: OSError) -> FileFormatError:
    return FileFormatError(f"'{printable(where)}' cannot be written: {error.strerror or error}.")


def _put(place: Path, content: bytes) -> None:
    beside = place.with_name(f".gpu-bridge-{secrets.token_hex(8)}")
    try:
        with open(beside, "xb") as file:
            file.write(content)
        if place.exists():
            os.chmod(beside, place.stat().st_mode & 0o777)
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _descriptor(path: Path) -> int | None:
    """Return the number of an open file that a path stands for, such as ``/dev/stdout``."""
    match = _DESCRIPTOR.fullmatch(str(path))
    if match is None:
        return None
    return int(match["number"]) if match["number"] else {"out": 1, "err": 2}[match["name"]]
