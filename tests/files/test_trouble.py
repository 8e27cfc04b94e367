from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from gpu_bridge.files import read_problem
from solvers.core.errors import CrossedBoundsError, FileFormatError, UnsupportedModelError
from tests.cases import through
from tests.files.texts import BASE, LP, with_section, write

PACKED = gzip.compress((BASE * 40).encode())


@through(
    ("name", "text", "sentence"),
    [
        ("model.mps", "", "empty"),
        ("model.lp", "  \n", "empty"),
        ("model.mps.gz", gzip.compress(b"", mtime=0), "empty"),
        ("model.mps", bytes(range(256)), "binary"),
        ("model.lp", bytes(range(256)), "binary"),
        ("model.mps", "no model\n", "not an MPS file"),
        ("model.lp", "no model\n", "not an LP file"),
        ("model.mps", LP, "not an MPS file"),
        ("model.lp", BASE, "not an LP file"),
        ("model.mps", BASE[: BASE.index("RHS")], "ENDATA"),
        ("model.mps", BASE[: BASE.index("COLUMNS")], "cut short"),
        ("model.mps", BASE.replace("ENDATA\n", ""), "ENDATA"),
        ("model.lp", LP.replace("End\n", ""), "End"),
        ("model.mps.gz", PACKED[: len(PACKED) // 2], "damaged gzip"),
        ("model.mps.gz", PACKED[:-4], "damaged gzip"),
        ("model.txt", BASE, "end in .mps"),
        ("model", BASE, "end in .mps"),
        ("model.mps.bz2", BASE, "end in .mps"),
    ],
)
def test_a_file_that_is_no_model(
    tmp_path: Path, name: str, text: str | bytes, sentence: str
) -> None:
    with pytest.raises(FileFormatError, match=sentence) as caught:
        read_problem(write(tmp_path, text, name))
    assert name in str(caught.value)


def test_every_beginning_of_a_file_is_refused(tmp_path: Path) -> None:
    end = BASE.index("ENDATA")
    for cut in range(0, end, 7):
        with pytest.raises(FileFormatError):
            read_problem(write(tmp_path, BASE[:cut]))


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no file"):
        read_problem(tmp_path / "missing.mps")
    with pytest.raises(FileFormatError, match="directory"):
        read_problem(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = write(tmp_path, BASE)
    path.chmod(0)
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_problem(path)


@pytest.mark.parametrize(
    "section",
    [
        "SOS\n S1 SOS s1 1\n    SOS X 1\n    SOS Y 2",
        "SOS1\n S1 s1:1\n    X 1\n    Y 2",
        "QUADOBJ\n    X X 2.0",
        "QMATRIX\n    X X 2.0",
        "QCMATRIX LIM1\n    X X 1.0",
        "CSECTION K1 0.0 QUAD\n    X\n    Y",
        "INDICATORS\n IF LIM1 Y 1",
    ],
)
def test_parts_that_are_not_linear_are_refused(tmp_path: Path, section: str) -> None:
    with pytest.raises(UnsupportedModelError):
        read_problem(write(tmp_path, with_section(section)))


def test_semicontinuous_variables_are_named(tmp_path: Path) -> None:
    text = BASE.replace("UP BND       X ", "SC BND       X ")
    with pytest.raises(UnsupportedModelError, match="'X'"):
        read_problem(write(tmp_path, text))


def test_crossed_bounds_are_named(tmp_path: Path) -> None:
    text = BASE.replace("UP BND       Y                  1.0", "UP BND       Y -3.0")
    with pytest.raises(CrossedBoundsError, match=r"model\.mps: .*'Y'"):
        read_problem(write(tmp_path, text))


def test_reading_prints_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read_problem(write(tmp_path, BASE))
    with pytest.raises(FileFormatError):
        read_problem(write(tmp_path, "ROWS\n Z R\nCOLUMNS\n x R 1\nENDATA\n"))
    assert capfd.readouterr() == ("", "")
