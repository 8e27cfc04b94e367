"""The end of the interpreter waits for threads that nobody else waits for."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from solvers import left_behind

LEAVES_A_THREAD = """
import threading, time
from solvers.left_behind import leave

def work():
    time.sleep({seconds})
    print("came to its end", flush=True)

thread = threading.Thread(target=work, name="deaf", daemon=True)
thread.start()
leave(thread)
"""


def run(seconds: float, limit: float) -> subprocess.CompletedProcess[str]:
    script = f"from solvers import left_behind\nleft_behind.wait.__defaults__ = ({limit},)\n"
    return subprocess.run(
        [sys.executable, "-c", script + LEAVES_A_THREAD.format(seconds=seconds)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


def test_the_end_waits_for_what_was_left_behind() -> None:
    assert run(0.3, limit=30.0).stdout == "came to its end\n"


def test_the_end_does_not_wait_for_ever() -> None:
    assert run(30.0, limit=0.1).stdout == ""


def test_a_longer_wait_is_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait, args=(60,), name="deaf", daemon=True)
    thread.start()
    monkeypatch.setattr(left_behind, "SILENCE", 0.0)
    left_behind.leave(thread)
    left_behind.wait(0.05)
    assert "cannot be interrupted: deaf" in capsys.readouterr().err
    gate.set()
    thread.join(60)
    assert thread not in left_behind.left()
