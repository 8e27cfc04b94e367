"""Where the log of a solve goes, by what the options ask for."""

from __future__ import annotations

import errno
import io
import logging
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TextIO, cast

from gpu_bridge.options import Options
from solvers.core.errors import FileFormatError, OptionError

if TYPE_CHECKING:
    from gpu_bridge.paths import AnyPath


# A text stream that may break without harm to the work that is told on it.


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


logger = logging.getLogger(__name__)


def checked_streams(streams: Any) -> list[TextIO]:
    """Return the streams that a caller gave, each something that text can be written to.

    Raises
    ------
    OptionError
        Something else was given.
    """
    if hasattr(streams, "write"):
        raise OptionError(
            f"'streams' takes a list of text streams; put the {type(streams).__name__} into one."
        )
    if isinstance(streams, (str, bytes)) or not hasattr(streams, "__iter__"):
        raise OptionError(
            f"'streams' takes a list of text streams, such as [sys.stdout]; {streams!r} is a "
            f"{type(streams).__name__}. For a file give its path as 'log_file'."
        )
    found = list(streams)
    for stream in found:
        if not hasattr(stream, "write") or isinstance(stream, (io.RawIOBase, io.BufferedIOBase)):
            raise OptionError(
                f"'streams' takes text streams, open for writing; one of them is a "
                f"{type(stream).__name__}: {stream!r}."
            )
    return found


def check_log_file(options: Options, *models: AnyPath) -> None:
    """Refuse a log that would be written over a model's file.

    Raises
    ------
    OptionError
        ``options.log_file`` is one of them.
    """
    if options.log_file is None:
        return
    from gpu_bridge.paths import as_path, printable, same_file

    where = as_path(options.log_file)
    for model in models:
        if same_file(where, as_path(model)):
            raise OptionError(
                f"The log file '{printable(where)}' would overwrite the model; choose another path."
            )


def asked_streams(options: Options, stack: ExitStack) -> list[TextIO]:
    """Return the streams of ``options.log`` and ``options.log_file``, closed with ``stack``.

    None of them raises anything, when it is closed neither.

    Raises
    ------
    FileFormatError
        The file cannot be written.
    """
    streams = [safe(sys.stdout)] if options.log and sys.stdout is not None else []
    if options.log_file is not None:
        from gpu_bridge.paths import check_writable, printable

        where = check_writable(options.log_file)
        try:
            log_file = open(str(where), "w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise FileFormatError(
                f"The log file '{printable(where)}' cannot be written: {error.strerror}."
            ) from error
        streams.append(safe(log_file))
        stack.callback(_close, streams[-1])
    return cast("list[TextIO]", streams)


def _close(log_file: SafeStream) -> None:
    """Close a log file; what goes wrong only now is too late for the log itself."""
    told = log_file.failure is not None
    log_file.close()
    if not told and log_file.failure is not None:
        logger.warning("The log file '%s' is not complete: %s", log_file.title, log_file.error)
