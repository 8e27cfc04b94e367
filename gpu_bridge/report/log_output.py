"""Where a log goes: what the options ask for, all lines, streams that may break, a live line."""

from __future__ import annotations

import errno
import io
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
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

    def fileno(self) -> int:
        """Return the system's number of the file, for libraries that write past Python.

        Raises
        ------
        io.UnsupportedOperation
            It is no file of the system's, or closed.
        """
        try:
            if self.stream is not None:
                return self.stream.fileno()
        except (AttributeError, OSError, ValueError) as error:
            raise io.UnsupportedOperation(f"{self.title} has no file number") from error
        raise io.UnsupportedOperation(f"{self.title} is closed")

    def write(self, text: str) -> int:
        """Write and flush; characters outside the stream's encoding become question marks."""
        self._attempt(lambda: self._write(text))
        self.flush()
        return len(text)

    def flush(self) -> None:
        """Flush the stream if it can be flushed."""
        self._attempt(lambda: self._call("flush"))

    def close(self) -> None:
        """Close the stream, which writes what is left of it."""
        before, self.failure = self.failure, None
        self._attempt(lambda: self._call("close"))
        self.failure = before or self.failure

    def _attempt(self, act: Callable[[], object]) -> None:
        if self.failure is None:
            try:
                act()
            except Exception as error:
                self.failure = error

    def _call(self, name: str) -> None:
        act = getattr(self.stream, name, None)  # which may raise, too
        if act is not None:
            act()

    def _write(self, text: str) -> None:
        if self.stream is None:
            raise OSError(errno.EBADF, "it is closed")
        try:
            self.stream.write(text)
        except UnicodeEncodeError:
            self.stream.write(text.encode(self.encoding, "replace").decode(self.encoding))


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


# The one line at the foot of a terminal that moves while a solve runs.


REFRESHES_PER_SECOND = 4.0
SPINNER = "|/-\\"


class LiveLine:
    """A line on a terminal that is redrawn some times a second and leaves nothing behind.

    Parameters
    ----------
    stream : SafeStream
        The terminal.
    describe : callable
        Returns the text to show; called from a thread of its own, so it must take no lock that
        is held while :meth:`print` or :meth:`stop` is called.
    """

    def __init__(self, stream: SafeStream, describe: Callable[[], str]) -> None:
        self.stream = stream
        self._describe = describe
        self._live: Any = None
        self._frame = 0

    def start(self) -> None:
        """Show the line, if it is not shown yet."""
        if self._live is not None:
            return
        from rich.console import Console
        from rich.live import Live

        console = Console(file=cast("TextIO", self.stream), highlight=False)
        self._live = Live(
            console=console,
            get_renderable=self._render,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()

    def print(self, text: str) -> None:
        """Write lasting text above the line."""
        if self._live is None:
            self.stream.write(text + "\n")
        else:
            self._live.console.out(text)

    def stop(self) -> None:
        """Take the line away for good."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render(self) -> Any:
        from rich.text import Text

        self._frame = (self._frame + 1) % len(SPINNER)
        text = f"{SPINNER[self._frame]} {self._describe()}"
        return Text(text, no_wrap=True, overflow="ellipsis", end="")


DROPPED = "The log's stream "
"""How the note on a stream begins that broke."""


Line = str | Callable[[], str]
"""A line or several, or what composes them once somebody reads them."""


class LogText:
    """The text of a log, composed when it is first read: for small models that takes too long."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = list(lines)

    def __str__(self) -> str:
        composed = [line if isinstance(line, str) else line() for line in self._lines]
        self._lines = list(composed)
        return "".join(line + "\n" for line in composed)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class LogOutput:
    """Writes lines to streams, each once, above the live line where there is one.

    Parameters
    ----------
    streams : iterable of TextIO
        A stream that breaks is left out with a note in the log.
    live_text : callable, optional
        What to show on the first stream that is a terminal; see :class:`LiveLine`.
    """

    def __init__(self, streams: Iterable[TextIO], live_text: Callable[[], str] | None) -> None:
        found = [safe(stream) for stream in streams if stream is not None]
        self._lines: list[Line] = []
        self._streams = list({id(stream.stream): stream for stream in found}.values())
        self._live: LiveLine | None = None
        terminals = [stream for stream in self._streams if stream.isatty()]
        if live_text is not None and terminals:
            self._live = LiveLine(terminals[0], live_text)

    @property
    def text(self) -> LogText:
        """All lines so far."""
        return LogText(self._lines)

    @property
    def is_shown(self) -> bool:
        """Whether lines go anywhere as they come."""
        return bool(self._streams)

    def keep(self, line: Line) -> None:
        """Keep a line that nobody is shown as it comes."""
        self._lines.append(line)

    def write(self, line: str) -> None:
        """Write a line everywhere."""
        self._lines.append(line)
        for stream in self._streams:
            if self._live is not None and stream is self._live.stream:
                self._live.print(line)
            else:
                stream.write(line + "\n")
        broken = [stream for stream in self._streams if stream.error]
        if broken:
            self._drop(broken)

    def show_live(self) -> None:
        """Show the live line, if there is one and it is not shown yet."""
        if self._live is not None:
            self._live.start()

    def stop_live(self) -> None:
        """Take the live line away for good."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def end(self) -> None:
        """Leave the streams to their owners: what threads left behind still say goes nowhere."""
        self.stop_live()
        self._streams = []

    def _drop(self, broken: Sequence[SafeStream]) -> None:
        self._streams = [stream for stream in self._streams if stream not in broken]
        if self._live is not None and self._live.stream in broken:
            self.stop_live()
        for stream in broken:
            self.write(f"{DROPPED}'{stream.title}' broke and was dropped: {stream.error}")


def dropped_streams(log: str) -> list[str]:
    """Return the notes in a log on streams that broke."""
    return [line for line in log.splitlines() if line.startswith(DROPPED)]
