"""The bytes of a model file, with every way of not getting them named in one sentence."""

from __future__ import annotations

import codecs
import gzip
import zlib
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from solvers.errors import FileFormatError

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


def load_source(path: str | PathLike[str]) -> Source:
    """Read and unpack a model file.

    Raises
    ------
    FileFormatError
        The file is missing, a directory, unreadable, empty, binary, a broken gzip file, or its
        name ends in none of the known extensions.
    """
    where = Path(fspath(path))
    if where.is_dir():
        raise FileFormatError(f"'{where}' is a directory; give the path of an MPS or LP file.")
    if not where.exists():
        raise FileFormatError(
            f"There is no file '{where}'; check the path, seen from {Path.cwd()}."
        )
    kind = file_format(where)
    try:
        packed = where.read_bytes()
    except OSError as error:
        raise FileFormatError(f"'{where}' cannot be read: {error.strerror}.") from error
    text = _unpack(packed, where)
    if not text.strip():
        raise FileFormatError(f"'{where}' is empty; it holds no model.")
    if b"\0" in text:
        raise FileFormatError(
            f"'{where}' is a binary file, not {kind.upper()} text; write the model out again."
        )
    plain = _in_utf8(text)
    return Source(where, kind, plain, rewritten=plain is not text)


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
        f"The name '{path.name}' does not say what the file is; model files end in .mps, .lp, "
        ".mps.gz or .lp.gz. Rename it, or unpack it first."
    )


def line_number(text: bytes, position: int) -> int:
    """Return the line, counted from 1, that holds a position of the text."""
    return text.count(b"\n", 0, position) + 1


def _in_utf8(text: bytes) -> bytes:
    """Return text in UTF-8 without a byte-order mark; what is not UTF-8 is taken for Latin-1."""
    if text.isascii():
        return text
    text = text.removeprefix(codecs.BOM_UTF8) if text.startswith(codecs.BOM_UTF8) else text
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1").encode()
    return text


def _unpack(packed: bytes, where: Path) -> bytes:
    if packed[:2] != b"\x1f\x8b":
        return packed
    try:
        return gzip.decompress(packed)
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(
            f"'{where}' is a truncated or damaged gzip file ({error}); fetch or write it again."
        ) from error
