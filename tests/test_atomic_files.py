"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gpu_bridge as gb
from gpu_bridge.files import write_solution, write_whole
from solvers.core.errors import FileFormatError

resource = pytest.importorskip("resource")


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let writing fail at some size, as it does on a disk that fills up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", ["a.sol", "a.json", "a.png"])
@pytest.mark.parametrize("older", ["", "an older answer\n"])
def test_a_disk_that_fills_up_leaves_no_half_of_a_file(
    tmp_path: Path, name: str, older: str
) -> None:
    outcome = gb.solve(gb.Problem.from_arrays([1.0] * 99, lower=1.0 / 3.0))
    path = tmp_path / name
    if older:
        path.write_text(older)
    write = outcome.plot if name.endswith(".png") else lambda path: write_solution(outcome, path)
    write(tmp_path / f"first-{name}")  # what Matplotlib keeps for itself is written now
    os.unlink(tmp_path / f"first-{name}")
    with no_file_larger_than(64), pytest.raises(FileFormatError, match=name):
        write(path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ([older] if older else [])


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.sol", tmp_path / "link.sol"
    real.touch(mode=0o600)
    link.symlink_to(real)
    write_whole(link, b"x 1\n")
    assert link.is_symlink()
    assert real.read_bytes() == b"x 1\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_new_file_may_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_whole(tmp_path / "a.sol", b"x 1\n")
    finally:
        os.umask(before)
    assert (tmp_path / "a.sol").stat().st_mode & 0o777 == 0o600


def test_the_longest_of_names(tmp_path: Path) -> None:
    name = "n" * os.pathconf(tmp_path, "PC_NAME_MAX")
    write_whole(tmp_path / name, b"x 1\n")
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_whole(tmp_path / f"{name}n", b"x 1\n")


def test_a_folder_without_room_for_new_files_keeps_those_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sol"
    path.write_text("an older and longer answer\n")
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) == path)
    write_whole(path, b"x 1\n")
    assert path.read_bytes() == b"x 1\n"


def test_devices_and_pipes_are_written_as_they_are(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_whole("/dev/stdout", b"x 1\n")
    write_whole(os.devnull, b"x 1\n")
    assert capfd.readouterr().out == "x 1\n"
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_whole(pipe, b"x 1\n")
    reader.join(60.0)
    assert read == [b"x 1\n"]
    with pytest.raises(FileFormatError, match="Bad file descriptor"):
        write_whole("/dev/fd/9999", b"x 1\n")


def test_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(FileFormatError, match=r"a\.sol"):
        write_whole("a.sol", b"x 1\n")
    with pytest.raises(FileFormatError, match="no file"):
        gb.read("a.lp")
