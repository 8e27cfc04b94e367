"""A text stream that may break without harm to the work that is told on it."""

from __future__ import annotations

import errno
from typing import TextIO


class SafeStream:
    """A text stream that raises nothing: after its first error it stays silent.

    A full disk, a reader that went away or a closed file must not cost an answer, so what went
    wrong is kept instead.

    Parameters
    ----------
    stream : TextIO or None
        Anything with ``write``; ``flush``, ``close``, ``isatty``, ``encoding`` and ``name`` are
        used where they exist. None stands for a stream that is closed.
    title : str, optional
        What a reader knows the stream by; its name, or else its type, if not given.

    Attributes
    ----------
    failure : Exception or None
        The first error.
    """

    def __init__(self, stream: TextIO | None, title: str = "") -> None:
        self.stream = stream
        self.title = title or _title(stream)
        self.failure: Exception | None = None

    @property
    def error(self) -> str:
        """The first error in words; empty without one."""
        return "" if self.failure is None else f"{type(self.failure).__name__}: {self.failure}"

    @property
    def encoding(self) -> str:
        """Encoding of the stream, UTF-8 where it does not say."""
        return getattr(self.stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether someone watches the stream on a terminal."""
        try:
            return self.stream is not None and bool(self.stream.isatty())
        except Exception:  # a half-built or closed stream is no terminal
            return False

    def write(self, text: str) -> int:
        """Write and flush; characters outside the stream's encoding become question marks."""
        if self.failure is None:
            try:
                self._write(text)
                self._flush()
            except Exception as error:
                self.failure = error
        return len(text)

    def flush(self) -> None:
        """Flush the stream if it can be flushed."""
        if self.failure is None:
            try:
                self._flush()
            except Exception as error:
                self.failure = error

    def close(self) -> None:
        """Close the stream, which writes what is left of it."""
        try:
            if self.stream is not None:
                self.stream.close()
        except Exception as error:
            self.failure = self.failure or error

    def _write(self, text: str) -> None:
        if self.stream is None:
            raise OSError(errno.EBADF, "it is closed")
        try:
            self.stream.write(text)
        except UnicodeEncodeError:
            self.stream.write(text.encode(self.encoding, "replace").decode(self.encoding))

    def _flush(self) -> None:
        flush = getattr(self.stream, "flush", None)
        if flush is not None:
            flush()


def safe(stream: TextIO | SafeStream | None) -> SafeStream:
    """Return the stream as one that raises nothing; one that is safe already as it is."""
    return stream if isinstance(stream, SafeStream) else SafeStream(stream)


def _title(stream: TextIO | None) -> str:
    name = getattr(stream, "name", None)
    if not isinstance(name, str):
        return type(stream).__name__
    return name.encode("utf-8", "backslashreplace").decode()
