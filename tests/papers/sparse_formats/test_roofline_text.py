"""The roofline's picture in letters: every product and both roofs stand where they belong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gpu_bridge.cli import main
from gpu_bridge.report.roofline import (
    COLUMNS,
    LINES,
    RooflineReport,
    Scale,
    picture_lines,
    roofline_report,
)
from solvers.core.device import cpu
from solvers.core.problem import Problem
from tests.papers.sparse_formats.test_report import MODEL


@pytest.fixture(scope="module")
def report() -> RooflineReport:
    return roofline_report(Problem.from_arrays(np.ones(3), np.eye(3)), cpu())


def test_a_scale_is_logarithmic_and_holds_all_values():
    scale = Scale.around([0.01, 1.0, 100.0], 41)
    assert (scale.place(1.0), scale.place(scale.low), scale.place(scale.high)) == (20, 0, 40)
    for step in range(41):
        assert scale.place(scale.value(step)) == step


def test_products_and_roofs_are_drawn(report):
    lines = picture_lines(report)
    grid = [line[11:].ljust(COLUMNS) for line in lines[1 : LINES + 1]][::-1]
    letters = {letter for row in grid for letter in row}
    assert {".", ":"} < letters
    assert letters <= set(".: COEScoes")
    for step in range(COLUMNS):  # the roofs never fall
        for mark in ".:":
            heights = [height for height in range(LINES) if grid[height][step] == mark]
            assert len(heights) <= 1
    heights = [h for step in range(COLUMNS) for h in range(LINES) if grid[h][step] == ":"]
    assert heights == sorted(heights)
    best = report.matrices[0].candidates[0]
    speed = best.traffic.flops / best.seconds / 1e9
    low, high = (float(lines[place].split("|")[0]) for place in (LINES, 1))
    height = (LINES - 1) * math.log(speed / low) / math.log(high / low)
    near = grid[math.floor(height)] + grid[math.ceil(height)]  # labels have three digits
    assert any(letter.isalpha() for letter in near)


def test_a_report_without_times_has_no_picture(report):
    bare = [
        replace(matrix, candidates=tuple(replace(c, seconds=None) for c in matrix.candidates))
        for matrix in report.matrices
    ]
    assert picture_lines(replace(report, matrices=tuple(bare))) == []


def test_the_command_draws_below_the_table(capsys):
    assert main(["info", str(MODEL), "--device", "cpu", "--roofline"]) == 0
    out = capsys.readouterr().out
    assert out.index("Of roofline") < out.index("Gflop/s") < out.index("flop/byte")
