"""The line on a terminal that moves with the solve."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from contextlib import suppress

import pytest

from gpu_bridge.options import make_options
from gpu_bridge.report.log_output import SafeStream
from gpu_bridge.report.progress import BridgeProgress
from tests.report.log_models import BrokenStream, small_mip


def test_no_live_line_without_a_terminal() -> None:
    stream = io.StringIO()
    with BridgeProgress(5.0, streams=[stream], live=True) as progress:
        progress.header(small_mip(), make_options())
        progress.iteration(1, residual=1.0)
    assert "\x1b" not in stream.getvalue()
    assert "\r" not in stream.getvalue()


def read_all(reader: int) -> str:
    """Read a terminal whose other side is closed, which Linux answers with an error at its end."""
    chunks = []
    with suppress(OSError):
        while chunk := os.read(reader, 65536):
            chunks.append(chunk)
    return b"".join(chunks).decode()


@pytest.fixture
def terminal() -> Iterator[tuple[int, SafeStream]]:
    reader, writer = pty.openpty()
    with os.fdopen(writer, "w", encoding="utf-8") as stream:
        yield reader, stream  # type: ignore[misc]
    os.close(reader)


def test_live_line_shares_a_terminal_with_the_log(
    terminal: tuple[int, io.TextIOWrapper], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    reader, stream = terminal
    with BridgeProgress(60.0, streams=[stream], live=True, maximize=True) as progress:
        progress.iteration(41, residual=1.0)
        progress.incumbent(-7.0, "rounding")
        progress.log("a line in between")
        progress.iteration(42, residual=0.5)
        assert "of 1:00" in progress._live_text()
        assert "incumbent 7" in progress._live_text()
        assert "iteration 42" in progress._live_text()
    stream.close()
    written = read_all(reader)
    assert "a line in between\r\n" in written
    assert "\x1b[?25l" in written, "the live line was shown"
    assert written.count("\x1b[?25h") == 1, "the cursor comes back"
    assert "\x1b" not in progress.text


def test_live_line_goes_with_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(BrokenStream):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    progress = BridgeProgress(60.0, streams=[Terminal(good_writes=1)], live=True)
    progress.log("one")
    progress.iteration(1, residual=1.0)
    progress.log("two")
    progress.log("three")
    progress.close()
    assert "dropped" in progress.text
    assert progress.text.endswith("three\n")


def test_the_live_line_names_who_found_the_incumbent() -> None:
    progress = BridgeProgress(60.0, maximize=True)
    progress.incumbent(-12.0, "local search")
    assert "incumbent 12 by local search" in progress._live_text()
