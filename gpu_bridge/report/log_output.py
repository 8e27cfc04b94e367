"""Where the lines of a log go: a list of all of them, streams that may break, and a live line."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from gpu_bridge.report.log_streams import SafeStream, safe

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

        console = Console(file=typing.cast("TextIO", self.stream), highlight=False)
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

    @property
    def has_live_line(self) -> bool:
        """Whether there is a live line, shown or yet to be."""
        return self._live is not None

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
