"""Paths as bytes, as objects, and with names that are not UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gpu_bridge as gb
from gpu_bridge.files import read_solution, write_json, write_solution
from gpu_bridge.paths import as_path, printable, same_file
from tests.files.texts import BASE, LP

NO_PATHS = {"empty": "", "null": "a\0b.lp", "null in bytes": b"a\0b.lp", "surrogate": "\ud800.lp"}


class OfBytes:
    """A path object whose path is bytes."""

    def __init__(self, path: Path) -> None:
        self._path = os.fsencode(path)

    def __fspath__(self) -> bytes:
        return self._path


KINDS: dict[str, Callable[[Path], Any]] = {
    "text": str,
    "bytes": os.fsencode,
    "object": lambda path: path,
    "object of bytes": OfBytes,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose name is not UTF-8."""
    made = tmp_path / os.fsdecode(b"d\xe8")
    try:
        made.mkdir()
    except (OSError, ValueError):
        pytest.skip("names of files have to be UTF-8 here")
    return made


@pytest.mark.parametrize("path", NO_PATHS.values(), ids=NO_PATHS)
def test_what_no_file_can_be_called_is_refused_everywhere(path: str | bytes) -> None:
    problem = gb.Problem.from_arrays([1.0], lower=1.0)
    outcome = gb.solve(problem)
    calls: list[Callable[[], object]] = [
        lambda: gb.read(path),
        lambda: gb.solve(path),
        lambda: gb.solve_many([path]),
        lambda: gb.solve(problem, log_file=path),
        lambda: write_solution(outcome, path),
        lambda: write_json(outcome, path),
        lambda: read_solution(path, problem),
        lambda: outcome.plot(path),
    ]
    for call in calls:
        with pytest.raises(gb.FileFormatError, match="path"):
            call()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ending", "text"), [(".mps", BASE), (".lp", LP), (".LP", LP)])
def test_every_door_takes_names_that_are_not_utf8(
    folder: Path, kind: str, ending: str, text: str
) -> None:
    given = KINDS[kind]
    model, solution, record, log = (
        folder / os.fsdecode(b"m\xe9" + end.encode()) for end in (ending, ".sol", ".json", ".log")
    )
    model.write_text(text)
    outcome = gb.solve(given(model), log_file=given(log), method="highs")
    assert outcome.solution_status is gb.SolutionStatus.OPTIMAL
    assert log.read_text(encoding="utf-8") == outcome.log
    write_solution(outcome, given(solution))
    write_solution(outcome, given(record))
    assert outcome.problem is not None
    for path in (solution, record):
        assert read_solution(given(path), outcome.problem).tolist() == pytest.approx(outcome.x)
    assert len(gb.solve_many([given(model)])) == 1


def test_pictures_of_any_path_and_title(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    problem = gb.Problem.from_arrays([1.0], lower=1.0, name="m\udce9 $x_\u00e9$")
    path = os.fsencode(folder) + b"/p\xe9.png"
    gb.solve(problem).plot(path)
    assert Path(os.fsdecode(path)).read_bytes().startswith(b"\x89PNG")


def test_messages_can_be_printed(folder: Path) -> None:
    with pytest.raises(gb.FileFormatError, match=r"d\\xe8/m\.mps") as caught:
        gb.read(folder / "m.mps")
    str(caught.value).encode()
    assert printable(b"d\xe8") == "d\\xe8"
    assert printable("d\u00e8") == "d\u00e8"


def test_one_file_by_several_paths(tmp_path: Path) -> None:
    model, link, other = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    assert same_file(model, tmp_path / "." / "a"), "both to be made"
    model.touch()
    other.touch()
    link.symlink_to(model)
    assert same_file(model, link)
    assert not same_file(model, other)
    assert not same_file(model, tmp_path / "none")
    assert not same_file(Path(os.devnull), Path(os.devnull)), "nothing is overwritten there"
    assert as_path(b"a") == Path("a")


IN_ASCII = """
import sys
import gpu_bridge as gb
from gpu_bridge.cli import main

try:
    gb.solve("mod\\u00e8le.lp")
except gb.FileFormatError as error:
    assert "PYTHONUTF8" in str(error), error
assert main(["info", sys.argv[1]]) == 0
sys.exit(main(["solve", *sys.argv[1:]]))
"""

IN_UTF8 = "Minimize\n o: pr\u00edx\nSubject To\n r\u00e9: pr\u00edx >= 2\nEnd\n"

FLAGS = ("--solution", "--json", "--log-file")


def test_a_locale_that_knows_ascii_only(folder: Path) -> None:
    model = folder / "mod\u00e8le.lp"
    model.write_text(IN_UTF8, encoding="utf-8")
    written = [folder / f"\u00e9{end}" for end in (".sol", ".json", ".log")]
    words = [model, *(part for pair in zip(FLAGS, written, strict=True) for part in pair)]
    done = subprocess.run(
        [sys.executable, "-c", IN_ASCII, *map(os.fsencode, words)],
        env={
            **os.environ,
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONIOENCODING": "ascii:strict",
        },
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Model       mod?le, minimize" in done.stdout
    assert written[0].read_text(encoding="utf-8").splitlines()[1] == "pr\u00edx 2.0"
    assert all(path.stat().st_size for path in written)
