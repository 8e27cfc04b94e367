"""Pictures of the mixed-integer benchmark: what is joined, and what the curves say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import plots_mip
from benchmarks.mip_rows import MipRow
from benchmarks.mip_run import _last_words


def row(model: str, solver: str, integral: float, **more: Any) -> MipRow:
    values = {"seed": 0, "limit": 10.0, "status": "time_limit", "feasible": True, "gap": integral}
    return MipRow(model=model, solver=solver, integral=integral, **{**values, **more})


def record(folder: Path, name: str, rows: list[MipRow], **more: Any) -> None:
    """Write a record as the benchmark does."""
    document = {
        "time": "2026-01-01T00:00:00+00:00",
        "machine": {"kind": "cpu", "device": "some processor"},
        "commit": "abc",
        "set": "quick",
        "settings": {"time_limit": 10.0},
        "best": {"m": 100.0, "n": 0.0},
        "rows": [one.as_record() for one in rows],
    }
    (folder / name).write_text(json.dumps({**document, **more}))


def test_curves_of_gap_and_points() -> None:
    rows = [
        row("m", "a", 0.5, first=1.0, events=((1.0, 200.0), (4.0, 100.0))),
        row("n", "a", 1.0, feasible=False),
    ]
    moments = np.array([0.5, 1.0, 3.0, 5.0])
    gaps = plots_mip.mean_gaps(rows, {"m": 100.0, "n": 0.0}, moments)
    np.testing.assert_allclose(gaps, [1.0, 0.75, 0.75, 0.5])
    np.testing.assert_allclose(plots_mip.shares_with_point(rows, moments), [0, 0.5, 0.5, 0.5])


def test_ratios_to_the_best_integral() -> None:
    rows = [row("m", "a", 0.1), row("m", "a", 0.3, seed=1), row("m", "b", 0.1)]
    rows += [row("n", "a", 0.0), row("n", "b", 1.0)]
    shift = plots_mip.INTEGRAL_SHIFT
    a, b = (plots_mip.integral_ratios(rows, solver) for solver in "ab")
    np.testing.assert_allclose(a, [1.0, (0.2 + shift) / (0.1 + shift)])
    np.testing.assert_allclose(b, [1.0, (1.0 + shift) / shift])


def test_records_of_a_kind_are_joined_and_the_newer_run_counts(tmp_path: Path) -> None:
    record(tmp_path, "mip-quick-10s-x-1.json", [row("m", "a", 0.5), row("m", "b", 0.2)])
    newer = {"time": "2026-01-02T00:00:00+00:00", "commit": "def"}
    record(tmp_path, "mip-quick-10s-x-2.json", [row("m", "a", 0.25), row("n", "a", 0.0)], **newer)
    record(tmp_path, "mip-quick-20s-x-1.json", [], settings={"time_limit": 20.0})
    (tmp_path / "mip-search-x-1.json").write_text(json.dumps({"rows": []}))
    ten, twenty = plots_mip.read_groups(tmp_path)
    assert (ten.stem, twenty.stem) == ("mip-quick-10s-cpu", "mip-quick-20s-cpu")
    assert ten.commits == ("abc", "def")
    assert {(r.model, r.solver): r.integral for r in ten.rows} == {
        ("m", "a"): 0.25,
        ("m", "b"): 0.2,
        ("n", "a"): 0.0,
    }
    assert {r.model for r in ten.compared} == {"m"}


@pytest.mark.parametrize(
    ("kind", "device", "end"),
    [
        ("cpu", "AMD EPYC 7B13 64-Core Processor, 8 cores", "cpu-8-cores"),
        ("cuda", "NVIDIA H100 80GB HBM3", "cuda-h100"),
        ("cuda", "another GPU", "cuda"),
    ],
)
def test_pictures_are_named_by_the_machine(
    kind: str, device: str, end: str, tmp_path: Path
) -> None:
    record(tmp_path, "mip-quick-x-1.json", [], machine={"kind": kind, "device": device})
    (group,) = plots_mip.read_groups(tmp_path)
    assert group.stem == f"mip-quick-10s-{end}"


def test_pictures_and_page_are_written(tmp_path: Path) -> None:
    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    assert plots_mip.draw_all(results, docs) == []
    rows = [
        row("m", "gpu-bridge", 0.001, first=0.2, events=((0.2, 150.0), (2.0, 100.0)), proven=True),
        row("m", "HiGHS 1", 1.0, feasible=False),
        replace(row("m", "old", 0.0), recorded=True, integral=None),
    ]
    record(results, "mip-quick-10s-x-1.json", rows)
    picture, page = plots_mip.draw_all(results, docs)
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    assert f"images/{picture.name}" in text
    assert "| gpu-bridge | 1 | 1 | 1.00 | 0.0010 |" in text
    assert "| old |" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no output"),
        ("Traceback\n  line\nValueError: no luck\n", "ValueError: no luck"),
        ("\x1b[31msome.TypingError: what\x1b[0m\nand more\n", "some.TypingError: what"),
        ("Aborted\n", "Aborted"),
    ],
)
def test_the_last_words_of_a_crash(text: str, words: str) -> None:
    assert _last_words(text) == words
