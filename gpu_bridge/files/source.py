"""The bytes of a model file, with every way of not getting them named in one sentence."""

from __future__ import annotations

import codecs
import gzip
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path

from gpu_bridge.paths import AnyPath, as_path, printable
from solvers.core.errors import FileFormatError

FORMATS = ("mps", "lp")


@dataclass(frozen=True)
class Source:
    """A model file: its path, its format (``mps`` or ``lp``) and its unpacked text in UTF-8.

    ``rewritten`` says that the text is not, byte by byte, what the file holds.
    """

    path: Path
    format: str
    text: bytes
    rewritten: bool = False

    def __str__(self) -> str:
        """Return the path for a message."""
        return printable(self.path)


def load_source(path: AnyPath) -> Source:
    """Read and unpack a model file.

    Raises
    ------
    FileFormatError
        The file is missing, a directory, unreadable, empty, binary, a broken gzip file, or its
        name ends in none of the known extensions.
    """
    where = as_path(path)
    shown = printable(where)
    if os.path.isdir(where):
        raise FileFormatError(f"'{shown}' is a directory; give the path of an MPS or LP file.")
    try:
        is_plain = stat.S_ISREG(os.stat(where).st_mode)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileFormatError(
            f"There is no file '{shown}'; check the path, seen from {_here()}."
        ) from error
    except OSError as error:
        raise FileFormatError(f"'{shown}' cannot be read: {error.strerror}.") from error
    kind = file_format(where)
    try:
        packed = where.read_bytes()
    except OSError as error:
        raise FileFormatError(f"'{shown}' cannot be read: {error.strerror}.") from error
    text = _unpack(packed, shown)
    plain = as_utf8(text)
    if not plain.strip():
        raise FileFormatError(f"'{shown}' is empty; it holds no model.")
    if b"\0" in plain:
        raise FileFormatError(
            f"'{shown}' is a binary file, not {kind.upper()} text; write the model out again."
        )
    # a pipe can be read once only
    return Source(where, kind, plain, rewritten=plain is not text or not is_plain)


def file_format(path: Path) -> str:
    """Return ``mps`` or ``lp`` by the file's name, which may end in ``.gz``.

    Raises
    ------
    FileFormatError
        For any other ending.
    """
    endings = [part.lower() for part in path.name.split(".")[1:]]
    if endings and endings[-1] == "gz":
        endings.pop()
    if endings and endings[-1] in FORMATS:
        return endings[-1]
    raise FileFormatError(
        f"The name '{printable(path.name)}' does not say what the file is; model files end in "
        ".mps, .lp, .mps.gz or .lp.gz. Rename it, or copy it to a file that ends so."
    )


def line_number(text: bytes, position: int) -> int:
    """Return the line, counted from 1, that holds a position of the text."""
    return text.count(b"\n", 0, position) + 1


def as_utf8(text: bytes) -> bytes:
    """Return text in UTF-8 without a byte-order mark, and with line ends that HiGHS knows.

    UTF-16 shows by its mark, and what else is not UTF-8 is taken for Latin-1.
    """
    if b"\n" not in text and b"\r" in text:
        text = text.replace(b"\r", b"\n")
    if text.isascii():
        return text
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return text.decode("utf-16", "replace").encode()
    text = text.removeprefix(codecs.BOM_UTF8) if text.startswith(codecs.BOM_UTF8) else text
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1").encode()
    return text


def _unpack(packed: bytes, shown: str) -> bytes:
    if packed[:2] != b"\x1f\x8b":
        return packed
    try:
        return gzip.decompress(packed)
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(
            f"'{shown}' is a truncated or damaged gzip file ({error}); fetch or write it again."
        ) from error


def _here() -> str:
    try:
        return printable(Path.cwd())
    except OSError:
        return "a folder that is gone"
