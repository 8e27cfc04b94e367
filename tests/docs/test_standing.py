"""The README's table says what the records say."""

from __future__ import annotations

import pytest

from benchmarks import plots, plots_mip, plots_page
from benchmarks.plots_readme import MARKS, draw, standings, table
from benchmarks.record import RESULTS
from tests.locations import ROOT


def test_the_table_is_that_of_the_records():
    marked = MARKS.search((ROOT / "README.md").read_text("utf-8"))
    assert marked is not None
    assert table(RESULTS) in marked[0], "run python -m benchmarks.plots_readme"


def test_figures_of_linear_programs_are_those_of_the_page():
    page = (ROOT / "docs" / "pdlp-results.md").read_text("utf-8")
    loose = standings(RESULTS)[0]
    for name, row in (("gpu-bridge", "gpu-bridge pdlp"), ("cuOpt", "cuOpt 26.10.0 *")):
        cells = next(line for line in page.splitlines() if line.startswith(f"| {row} |"))
        assert loose.figures[name] == pytest.approx(float(cells.split("|")[5]), rel=0.01)


def test_the_picture_is_drawn(tmp_path):
    draw(standings(RESULTS), tmp_path / "standing.png")
    assert (tmp_path / "standing.png").read_bytes().startswith(b"\x89PNG")


def test_pages_of_results_are_those_of_the_records():
    compared = [found for kind in plots.KINDS if (found := plots.read_comparison(RESULTS, kind))]
    iterations = [found for kind in plots.KINDS if (found := plots.read_iterations(RESULTS, kind))]
    made = {
        plots.PAGE: plots_page.text(compared, iterations, plots.read_side_by_side(RESULTS)),
        plots_mip.PAGE: plots_mip.page_text(plots_mip.read_groups(RESULTS)),
    }
    for name, text in made.items():
        assert (ROOT / "docs" / name).read_text("utf-8") == text, name
