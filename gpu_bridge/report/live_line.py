"""The one line at the foot of a terminal that moves while a solve runs."""

from __future__ import annotations

import typing
from collections.abc import Callable
from typing import Any, TextIO

from gpu_bridge.report.safe_stream import SafeStream

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
