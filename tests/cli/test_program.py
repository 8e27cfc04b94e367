"""The command as a process of its own: signals, pipes, and a quick start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_bridge.cli.exit_codes import ExitCode
from tests.cli.commands import (
    INFEASIBLE,
    hard_model,
)


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "gpu_bridge", *map(str, words)]


def test_as_a_program(model: Callable[..., Path]) -> None:
    done = subprocess.run(
        command("solve", model(INFEASIBLE), "--quiet"), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "at_most" in done.stdout
    assert done.stderr == ""


def test_listing_starts_without_heavy_imports() -> None:
    program = (
        "import sys; from gpu_bridge.cli import main; main(['options']); "
        "heavy = {'numpy', 'scipy', 'highspy', 'rich', 'pyomo', 'pulp', 'matplotlib'}; "
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.stderr == ""


def test_ctrl_c_writes_the_best_point_and_says_so(
    model: Callable[..., Path], tmp_path: Path
) -> None:
    solution = tmp_path / "best.sol"
    words = ["solve", model(hard_model()), "--threads", 1, "--time-limit", 600]
    with subprocess.Popen(
        command(*words, "--solution", solution),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = ""
        while "Found by" not in said:
            line = process.stdout.readline()
            assert line, f"ended too early: {said}"
            said += line
        process.send_signal(signal.SIGINT)
        rest, complaints = process.communicate(timeout=240)
    assert process.returncode == ExitCode.INTERRUPTED == 130
    assert "the solve was interrupted" in rest
    assert "Traceback" not in complaints
    assert "=obj=" in solution.read_text()


@pytest.mark.skipif(os.name != "posix", reason="pipes break with a signal on POSIX only")
def test_reader_that_goes_away_gets_no_traceback() -> None:
    with subprocess.Popen(
        command("options"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaints = process.stderr.read()
        process.wait(timeout=120)
    assert complaints == ""
    assert process.returncode == ExitCode.CLOSED_PIPE
