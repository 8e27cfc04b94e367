"""Every kind of trouble: one line that says what is wrong, and its exit code."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_bridge.cli.exit_codes import ExitCode
from solvers.core.errors import EngineError
from tests.cli.commands import (
    KNAPSACK,
    LINEAR,
    Run,
    complaint,
)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "usage"),
        (["slve", "x"], "invalid choice: 'slve'"),
        (["solve"], "MODEL"),
        (["solve", "m.lp", "--time-limt", "3"], "did you mean '--time-limit'"),
        (["solve", "m.lp", "--time-limit", "-3"], "at least 0"),
        (["solve", "m.lp", "--time-limit", "soon"], "'soon' is a str"),
        (["solve", "m.lp", "--time-limit", "nan"], "nan"),
        (["solve", "m.lp", "--time-limit"], "expected one argument"),
        (["solve", "m.lp", "--method", "pdpl"], "Did you mean 'pdlp'"),
        (["solve", "m.lp", "--option", "tolerence=1"], "did you mean 'tolerance'"),
        (["solve", "m.lp", "--option", "threads"], "NAME=VALUE"),
        (["solve", "m.lp", "--threads", "2", "--option", "threads=3"], "given twice"),
        (["info", "m.lp", "--option", "threads=-1"], "0 to 1024"),
        (["devices", "--fast"], "'--fast' is not known"),
    ],
)
def test_wrong_usage(run: Run, words: list[str], says: str) -> None:
    answer = run(*words)
    assert answer.code == ExitCode.USAGE == 64
    assert says in answer.err
    assert answer.out == ""


def test_method_that_cannot_treat_the_model(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(KNAPSACK), "--method", "pdlp")
    assert answer.code == 64
    assert "linear programs only" in complaint(answer)
    assert run("info", model(KNAPSACK), "--method", "pdlp").code == 64


@pytest.mark.parametrize("command", ["solve", "info"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.mps", None),
        ("folder.mps", "folder"),
        ("empty.lp", b""),
        ("binary.lp", bytes(range(256)) * 4),
        ("short.lp", LINEAR[:40].encode()),
        ("short.mps.gz", gzip.compress(LINEAR.encode() * 99)[:60]),
        ("text.lp", b"This is a letter, not a model.\n"),
        ("model.xyz", LINEAR.encode()),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_bad_model_file(
    run: Run, tmp_path: Path, command: str, name: str, content: bytes | str | None
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    answer = run(command, path)
    assert answer.code == ExitCode.BAD_MODEL == 65
    assert name in complaint(answer)


def test_gpu_asked_for_where_there_is_none(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for command in ("solve", "info"):
        answer = run(command, model(LINEAR), "--device", "cuda")
        assert answer.code == ExitCode.UNAVAILABLE == 69
        assert "GPU" in complaint(answer)


def test_engine_trouble(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise EngineError("The engine gave up on row 'demand'.")

    monkeypatch.setattr("gpu_bridge.api.solve", fail)
    answer = run("solve", model(LINEAR))
    assert answer.code == ExitCode.ENGINE_TROUBLE == 70
    assert complaint(answer) == "gpu-bridge: The engine gave up on row 'demand'."


def test_a_second_ctrl_c(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpu_bridge.api.solve", stop)
    answer = run("solve", model(LINEAR))
    assert answer.code == ExitCode.INTERRUPTED == 130
    assert complaint(answer) == "gpu-bridge: interrupted."


def test_not_enough_memory(
    run: Run, model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("gpu_bridge.api.solve", fail)
    answer = run("solve", model(LINEAR))
    assert answer.code == 70
    assert "memory" in complaint(answer)


@pytest.mark.parametrize("flag", ["--solution", "--json", "--plot", "--log-file"])
@pytest.mark.parametrize("place", ["nowhere/out.png", "."])
def test_outputs_are_checked_before_the_solve(
    run: Run,
    model: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flag: str,
    place: str,
) -> None:
    def never(*arguments: object, **options: object) -> None:
        pytest.fail("solved before the outputs were checked")

    monkeypatch.setattr("gpu_bridge.api.solve", never)
    answer = run("solve", model(LINEAR), flag, tmp_path / place)
    assert answer.code == ExitCode.CANNOT_WRITE == 73
    assert str(tmp_path) in complaint(answer)


def test_plot_with_an_ending_that_is_no_picture(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(LINEAR), "--plot", "picture.docx")
    assert answer.code == 64
    assert "png" in complaint(answer)
    assert not Path("picture.docx").exists()


def test_plot_without_matplotlib(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_bridge.report.plot.find_spec", lambda name: None)
    answer = run("solve", model(LINEAR), "--plot", tmp_path / "a.png")
    assert answer.code == 69
    assert "gpu-bridge[plot]" in complaint(answer)


def test_outputs_never_overwrite_the_model_or_each_other(
    run: Run, model: Callable[..., Path], tmp_path: Path
) -> None:
    path = model(LINEAR)
    assert "overwrite" in complaint(run("solve", path, "--solution", path))
    assert path.read_text() == LINEAR
    twice = ["--json", tmp_path / "same", "--solution", tmp_path / "same"]
    answer = run("solve", path, *twice)
    assert answer.code == 64
    assert "--json" in complaint(answer)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--pool", "3"], "--pool needs --solution"),
        (["--solution", "a.sol", "--pool", "0"], "no whole number of at least 1"),
        (["--solution", "a.sol", "--pool", "many"], "no whole number of at least 1"),
        (["--solution", "a.sol", "--pool", "2", "--json", "a-2.sol"], "would overwrite"),
    ],
)
def test_a_pool_that_cannot_be_written_is_refused(
    run: Run, model: Callable[..., Path], words: list[str], sentence: str
) -> None:
    answer = run("solve", model(KNAPSACK), *words)
    assert answer.code == ExitCode.USAGE
    assert sentence in complaint(answer)
