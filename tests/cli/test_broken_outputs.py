"""Outputs of a command that cannot be written: what can be is, and the exit code says so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path

import pytest

from gpu_bridge.cli import main
from gpu_bridge.cli.exit_codes import ExitCode
from tests.cli.commands import INFEASIBLE, LINEAR, Run

FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


def code_on_a_full_disk(*words: str) -> int:
    """Run a command whose standard output takes nothing."""
    stream = FULL.open("w", encoding="ascii")
    try:
        with redirect_stdout(stream):
            return main(words)
    finally:
        with suppress(OSError):
            stream.close()


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("gpu-bridge: ")
    return line


@pytest.mark.parametrize(
    "words", ["solve", "solve --quiet", "info", "devices", "options", "--version", "solve --help"]
)
def test_a_full_standard_output(
    model: Callable[..., Path], capsys: pytest.CaptureFixture[str], words: str
) -> None:
    command, *flags = words.split()
    files = [str(model(LINEAR))] if command in ("solve", "info") else []
    assert code_on_a_full_disk(command, *files, *flags) == ExitCode.CANNOT_WRITE == 73
    assert "standard output" in one_line(capsys)


def test_a_closed_standard_output(
    model: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    with redirect_stdout(None):
        assert main(["solve", str(model(LINEAR))]) == ExitCode.CANNOT_WRITE
    assert "standard output cannot be written: it is closed" in one_line(capsys)


def test_a_mistake_keeps_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_on_a_full_disk("solve", "missing.lp") == ExitCode.BAD_MODEL
    assert "missing.lp" in one_line(capsys)


def test_each_output_is_tried(run: Run, model: Callable[..., Path], tmp_path: Path) -> None:
    words = ["--solution", FULL, "--json", tmp_path / "a.json", "--plot", tmp_path / "a.png"]
    answer = run("solve", model(INFEASIBLE), *words, "--quiet")
    assert answer.code == ExitCode.CANNOT_WRITE
    assert answer.err == "gpu-bridge: '/dev/full' cannot be written: No space left on device.\n"
    assert answer.value("Status").startswith("infeasible"), "it is shown all the same"
    assert (tmp_path / "a.json").exists()
    assert (tmp_path / "a.png").exists()


def test_a_full_log_file_is_told_of_and_the_answer_counts(
    run: Run, model: Callable[..., Path]
) -> None:
    for flags in ([], ["--quiet"]):
        answer = run("solve", model(LINEAR), "--log-file", FULL, *flags)
        assert answer.code == ExitCode.OPTIMAL
        assert answer.err.count("/dev/full") == 1
        assert len(answer.err.splitlines()) == 1


def test_an_error_nobody_foresaw_is_one_line_with_its_place(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise TypeError("of\nsome kind")

    monkeypatch.setattr("gpu_bridge.api.solve", fail)
    answer = run("solve", model(LINEAR))
    assert answer.code == ExitCode.ENGINE_TROUBLE
    (line,) = answer.err.splitlines()
    assert "TypeError: of some kind" in line
    assert f"{__file__}, line " in line


@pytest.mark.parametrize("flag", ["--solution", "--json", "--log-file"])
def test_no_output_goes_over_the_model_by_a_link(
    run: Run, model: Callable[..., Path], tmp_path: Path, flag: str
) -> None:
    path, soft, hard = model(LINEAR), tmp_path / "soft", tmp_path / "hard"
    soft.symlink_to(path)
    os.link(path, hard)
    for link in (soft, hard):
        assert run("solve", path, flag, link).code == ExitCode.USAGE
    assert path.read_text() == LINEAR


@pytest.mark.parametrize("word", ["", "a\0.lp", "n" * 300 + ".lp", "/dev/stdin", "-"])
def test_a_path_that_is_no_model_is_a_bad_model(run: Run, word: str) -> None:
    for words in (["solve"], ["info"], ["info", "--roofline", "--plot", "a.png"]):
        answer = run(*words, word)
        assert answer.code == ExitCode.BAD_MODEL
        assert len(answer.err.splitlines()) == 1


def program(model: Path, solution: Path) -> list[str]:
    return [sys.executable, "-m", "gpu_bridge", "solve", str(model), "--solution", str(solution)]


@pytest.mark.parametrize(
    ("redirection", "says"),
    [
        (">/dev/full", "gpu-bridge: standard output cannot be written: No space left on device.\n"),
        ("<&- >&- 2>&-", ""),
    ],
)
def test_the_interpreter_has_nothing_to_add_at_its_end(
    model: Callable[..., Path], tmp_path: Path, redirection: str, says: str
) -> None:
    solution = tmp_path / "a.sol"
    words = ["bash", "-c", f'"$@" {redirection}', "bash", *program(model(LINEAR), solution)]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (ExitCode.CANNOT_WRITE, says)
    assert solution.read_text().startswith("=obj= 2.5\n")


def test_a_reader_that_went_away_before_the_solve(
    model: Callable[..., Path], tmp_path: Path
) -> None:
    solution = tmp_path / "a.sol"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        program(model(LINEAR), solution), stdout=writer, stderr=subprocess.PIPE, timeout=120
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (ExitCode.CLOSED_PIPE, b"")
    assert solution.read_text().startswith("=obj= 2.5\n")
