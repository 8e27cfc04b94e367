"""A cache that cannot be written or read costs time and no answer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from solvers.kernels.disk_cache import kept_on_disk

resource = pytest.importorskip("resource")

SOURCE = "def twice(x):\n    return x + x\n"


def loop_in(folder: Path) -> Callable[[int], int]:
    """Return a function of a module of its own, so that its cache is one of its own, too."""
    path = folder / "loops.py"
    if not path.exists():
        path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("loops", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return kept_on_disk(module.twice, nogil=True)  # type: ignore[no-any-return]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("loops.twice*") if path.suffix in (".nbi", ".nbc")]


def test_a_full_disk(tmp_path: Path) -> None:
    loop = loop_in(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        assert loop(3) == 6
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not files(tmp_path)


def test_files_that_were_cut_short(tmp_path: Path) -> None:
    assert loop_in(tmp_path)(3) == 6
    kept = files(tmp_path)
    assert len(kept) == 2
    for content in (b"", b"\0" * 99):
        for path in kept:
            path.write_bytes(content)
        assert loop_in(tmp_path)(4) == 8


def test_no_folder_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **more: object) -> Any:
        raise RuntimeError("cannot cache function 'twice': no locator available")

    monkeypatch.setattr("numba.core.caching.FunctionCache.__init__", refuse)
    assert loop_in(tmp_path)(3) == 6
