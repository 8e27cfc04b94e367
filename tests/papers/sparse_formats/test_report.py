"""``gpu-bridge info --roofline``: the table, the picture, and every mistake in asking for them."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

from gpu_bridge.cli import main
from gpu_bridge.report.roofline import (
    RooflineReport,
    roofline_lines,
    roofline_report,
)
from solvers.core.device import cpu
from solvers.core.errors import FileFormatError, ProblemError
from solvers.core.problem import Problem
from tests.locations import DATA

MODEL = DATA / "afiro.mps.gz"


@pytest.fixture(scope="module")
def report() -> RooflineReport:
    generator = np.random.default_rng(1)
    matrix = sp.random_array((90, 60), density=0.1, rng=generator, format="csr")
    matrix.data[:] = 1.0
    return roofline_report(Problem.from_arrays(np.ones(60), matrix, name="some $x$"), cpu())


def test_report_times_both_matrices_in_every_format(report):
    assert [matrix.name for matrix in report.matrices] == ["A", "A'"]
    for matrix, shape in zip(report.matrices, [(90, 60), (60, 90)], strict=True):
        assert (matrix.figures.rows, matrix.figures.columns) == shape
        assert {c.format for c in matrix.candidates} == {"csr", "coo", "ell", "sell"}
        times = [c.seconds for c in matrix.candidates]
        assert min(times) > 0.0
        assert times == sorted(times)
        assert matrix.library_seconds is None


def test_lines_say_bytes_times_and_shares(report):
    lines = roofline_lines(report)
    assert re.search(r"reads [\d.]+ GB/s from memory and [\d.]+ GB/s from its cache", lines[0])
    rows = [line for line in lines if line.startswith(("A ", "A' "))]
    assert len(rows) == sum(len(matrix.candidates) for matrix in report.matrices) == 8
    best = report.matrices[0].candidates[0]
    expected = f"{best.format} .* {best.traffic.intensity:.3f} .* {100 * best.roofline_share:.0f}%"
    assert re.search(expected, rows[0])


ODD = {
    "one entry": np.ones((1, 1)),
    "one column": np.ones((40, 1)),
    "one row": np.ones((1, 40)),
    "mostly empty": np.eye(30, 50, 7) * (np.arange(50) > 35),
    "huge and tiny": np.array([[1e300, 1e-300], [0.0, 5e-324]]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_matrices_have_a_report_and_a_picture(name):
    matrix = ODD[name]
    report = roofline_report(Problem.from_arrays(np.ones(matrix.shape[1]), matrix, 0.0), cpu())
    assert [part.name for part in report.matrices] == ["A", "A'"]
    for part in report.matrices:
        assert {candidate.format for candidate in part.candidates} >= {"csr", "coo", "sell"}
        assert all(candidate.roofline_share > 0 for candidate in part.candidates)
    assert "nan" not in "\n".join(roofline_lines(report))


def test_matrix_without_entries_is_refused():
    with pytest.raises(ProblemError, match="no entries"):
        roofline_report(Problem.from_arrays([1.0]), cpu())


def test_picture_has_a_point_for_each_product_below_the_roofs(report):
    pytest.importorskip("matplotlib")
    from gpu_bridge.report.roofline import plot_roofline

    axes = plot_roofline(report).axes[0]
    assert axes.get_title() == "some $x$: products"
    assert not axes.title.get_parse_math()
    points = [line for line in axes.lines if line.get_marker() in "os" and len(line.get_xdata())]
    timed = [c for matrix in report.matrices for c in matrix.candidates]
    assert len(points) == len(timed)
    drawn = sorted(float(line.get_ydata()[0]) for line in points)
    np.testing.assert_allclose(drawn, sorted(c.traffic.flops / c.seconds / 1e9 for c in timed))
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert {"csr, A", "csr, A'", "ell, A", "coo, A'"} < set(labels)
    roof = next(line for line in axes.lines if str(line.get_label()).startswith("memory"))
    slope = roof.get_ydata() / roof.get_xdata()
    np.testing.assert_allclose(slope, report.machine.memory_bandwidth / 1e9)


def test_command_prints_the_table_and_writes_the_picture(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "roofline.png"
    words = ["info", str(MODEL), "--device", "cpu", "--roofline", "--plot", str(picture)]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out.index("Memory") < out.index("Roofline") < out.index("Of roofline")
    assert re.search(r"^A'  csr .*%", out, re.M)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_the_flag_nothing_is_timed(capsys):
    assert main(["info", str(MODEL)]) == 0
    assert "Roofline" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["--plot", "a.png"], 64, "give --roofline too"),
        (["--roofline", "--plot", "a.docx"], 64, "ending that names its format"),
        (["--roofline", "--plot", "nowhere/a.png"], 73, "nowhere"),
        (["--roofline", "--plot", "MODEL"], 64, "overwrite the model"),
        (["--rooflin"], 64, "did you mean '--roofline'"),
        (["--json", "a.json"], 64, "'--json' is not known here: it belongs to another command"),
    ],
)
def test_mistakes_are_told_before_the_work(capsys, tmp_path, monkeypatch, words, code, complaint):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    given = [str(MODEL) if word == "MODEL" else word for word in words]
    assert main(["info", str(MODEL), *given]) == code
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert not captured.out


def test_picture_that_cannot_be_written_is_an_error_of_ours(report, tmp_path):
    pytest.importorskip("matplotlib")
    from gpu_bridge.report.roofline import plot_roofline

    with pytest.raises(FileFormatError, match="There is no folder"):
        plot_roofline(report, tmp_path / "nowhere" / "a.png")
