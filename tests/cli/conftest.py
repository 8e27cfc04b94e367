"""Running a command in this process, on a model in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_bridge.cli import main
from tests.cli.commands import (
    Answer,
    Run,
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> Answer:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str, name: str = "model.lp") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
