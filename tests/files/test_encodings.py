"""Contents of model and solution files in other encodings than UTF-8, and names of every kind."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.files import read_problem, read_solution, write_solution
from tests.cases import through
from tests.files.texts import BASE, LP, write

ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be"]
MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@through("line_end", ["\n", "\r\n", "\r"])
@through("encoding", ENCODINGS)
@pytest.mark.parametrize(("name", "text"), [("a.mps", BASE), ("a.lp", LP)])
def test_encodings_and_line_ends(
    tmp_path: Path, name: str, text: str, encoding: str, line_end: str
) -> None:
    plain = read_problem(write(tmp_path, text, f"plain-{name}"))
    named = text.replace("LIM1", "LIM\u00e9").replace("c1:", "\u00e9:").replace("\n", line_end)
    content = MARKS.get(encoding, b"") + named.encode(encoding)
    found = read_problem(write(tmp_path, content, name))
    assert np.array_equal(found.matrix.toarray(), plain.matrix.toarray())
    assert np.array_equal(found.row_upper, plain.row_upper)
    assert found.row_names is not None
    assert any("\u00e9" in row for row in found.row_names)


@pytest.mark.parametrize("name", ["a.mps", "a.lp.gz"])
def test_a_pipe_is_read_once(tmp_path: Path, name: str) -> None:
    import gzip

    text = BASE.encode() if name == "a.mps" else gzip.compress(LP.encode())
    pipe = tmp_path / name
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(text), daemon=True)
    writer.start()
    assert read_problem(pipe).num_columns == 3
    writer.join(60.0)


def test_no_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(gb.FileFormatError, match="TMPDIR"):
        read_problem(write(tmp_path, "\ufeff" + BASE))


def test_a_file_without_a_name_and_names_of_any_length(tmp_path: Path) -> None:
    long = "n" * 50_000
    text = BASE.replace("NAME          TEST\n", "").replace(" Y ", f" {long} ")
    outcome = gb.solve(write(tmp_path, text))
    assert outcome.problem is not None
    assert outcome.problem.name == "model"
    write_solution(outcome, tmp_path / "a.sol")
    assert read_solution(tmp_path / "a.sol", outcome.problem).tolist() == outcome.x.tolist()


@pytest.mark.parametrize("ending", ["sol", "json"])
def test_values_of_names_that_break_lines_come_back(tmp_path: Path, ending: str) -> None:
    names = ["a\nb", "a\r\nb 3", "\\n", " c", "d ", "e\tf", "\u2028g\x0b", "h (obj:1)", "\udce9"]
    problem = gb.Problem.from_arrays(np.ones(9), lower=np.arange(1.0, 10.0), column_names=names)
    path = tmp_path / f"a.{ending}"
    write_solution(gb.solve(problem, log_file=tmp_path / "a.log"), path)
    assert read_solution(path, problem).tolist() == list(range(1, 10))


def test_a_solution_is_read_in_the_encoding_of_its_model(tmp_path: Path) -> None:
    problem = gb.Problem.from_arrays([1.0], column_names=["pr\u00edx"])
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        path = write(tmp_path, "pr\u00edx 3\r\n".encode(encoding), "a.sol")
        assert read_solution(path, problem).tolist() == [3.0]
