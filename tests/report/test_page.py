"""Pages about solves: read as a browser reads them, and beside the answers they tell of."""

from __future__ import annotations

import html.parser
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.outcome import Outcome, Record
from gpu_bridge.report.page import page_html, tight_rows
from solvers.core.errors import GpuBridgeError
from solvers.core.outcome import Event, SolutionStatus, StopReason

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

NASTY = "<script>alert('x')</script> & \"more\""


class Reader(html.parser.HTMLParser):
    """Checks that elements are closed in order, and keeps the text and what is referred to."""

    VOID = frozenset({"meta", "br", "use", "path", "image"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.tags: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "metadata"):
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def words(page: str) -> str:
    return " ".join(" ".join(read(page).text).split())


def knapsack() -> Outcome:
    """Solve a small mixed-integer model with a name that would be markup."""
    problem = gb.Problem.from_arrays(
        [-5.0, -4.0, -3.0],
        [[2.0, 3.0, 1.0], [4.0, 1.0, 2.0]],
        row_upper=[5.0, 11.0],
        upper=3.0,
        integrality=True,
        name=NASTY,
        row_names=["weight <b>", "volume"],
    )
    return gb.solve(problem, log=False)


def test_a_page_tells_the_answer_and_how_exact_it_is(tmp_path: Path) -> None:
    outcome = knapsack()
    path = tmp_path / "solve.html"
    outcome.report(path)
    text = words(path.read_text(encoding="utf-8"))
    assert str(outcome.solution_status) in text
    assert f"Objective {outcome.objective:.12g}" in text
    assert "integrality" in text
    assert "primal" in text
    assert "volume" in text or "weight <b>" in text
    assert outcome.log.splitlines()[0] in text


def test_names_are_never_markup_and_nothing_is_loaded_from_elsewhere() -> None:
    reader = read(page_html(knapsack()))
    assert "script" not in reader.tags
    assert "b" not in reader.tags
    assert NASTY in " ".join(reader.text)
    assert all(reference.startswith("#") for reference in reader.references)


def test_a_notebook_shows_the_beginning_of_the_page() -> None:
    outcome = knapsack()
    shown = outcome._repr_html_()
    assert shown is not None
    assert "<html" not in shown
    assert str(outcome.solution_status) in words(shown)
    assert "Every line" not in words(shown)


def test_constraints_at_their_limits_stand_in_the_order_of_their_duals() -> None:
    problem = gb.Problem.from_arrays(
        [-1.0, -3.0, 0.0],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]],
        row_upper=[4.0, 5.0, 100.0],
        row_names=["little", "much", "loose"],
    )
    text = words(page_html(gb.solve(problem, log=False)))
    section = text[text.index("Constraints at their limits") : text.index("The model")]
    assert section.index("much 5 <= 5 -3") < section.index("little 4 <= 4 -1")
    assert "loose" not in section


def test_equations_and_rows_without_sides_are_not_at_their_limits() -> None:
    problem = gb.Problem.from_arrays(
        [1.0],
        [[1.0], [2.0], [3.0], [1.0]],
        row_lower=[1.0, -np.inf, -np.inf, -5.0],
        row_upper=[1.0, np.inf, 3.0, 5.0],
    )
    activity = np.array([1.0, 2.0, 3.0, 1.0])
    assert tight_rows(problem, activity, 1e-6).tolist() == [2]
    assert tight_rows(problem, activity, np.nan).tolist() == [2]


def test_the_page_of_an_infeasible_model_names_the_conflict() -> None:
    problem = gb.Problem.from_arrays(
        [0.0, 0.0],
        [[1.0, 1.0], [1.0, -1.0], [1.0, 0.0]],
        row_lower=[5.0, -np.inf, -np.inf],
        row_upper=[np.inf, 50.0, 1.0],
        upper=[np.inf, 2.0],
        row_names=["demand", "idle", "capacity"],
        column_names=["x", "y"],
    )
    outcome = gb.solve(problem, log=False, explain=True)
    text = words(page_html(outcome))
    section = text[text.index("Why it is infeasible") : text.index("The model")]
    assert "demand: x + y >= 5" in section
    assert "capacity: x <= 1" in section
    assert "idle" not in section


def test_who_found_what_stands_in_the_order_of_time() -> None:
    history = tuple(
        Event(0.1 * k, 100.0 - k, 50.0, "diving" if k % 2 else "local search") for k in range(30)
    )
    problem = gb.Problem.from_arrays([1.0], integrality=True)
    outcome = Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.TIME_LIMIT,
        objective=71.0,
        bound=50.0,
        seconds=4.0,
        history=history,
        problem=problem,
        record=Record(contenders={"pdlp": "1200 (1e-5)"}),
    )
    page = page_html(outcome)
    text = words(page)
    section = text[text.index("Who found what") : text.index("The model")]
    assert "0.0s 100 50 50.00% local search" in section  # the first point
    assert "2.9s 71 50 29.58% diving" in section
    assert "0.5s" not in section  # the middle is left out
    assert "pdlp 1200 (1e-5)" in text
    assert "svg" in read(page).tags


def test_without_jinja_the_error_names_what_to_install() -> None:
    program = (
        "import sys; sys.modules['jinja2'] = None\n"
        "import gpu_bridge as gb\n"
        "outcome = gb.solve(gb.Problem.from_arrays([1.0]), log=False)\n"
        "assert outcome._repr_html_() is None\n"
        "outcome.report('page.html')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'gpu-bridge[plot]'" in done.stderr
    assert GpuBridgeError.__name__ in done.stderr


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs the browser chromium")
def test_a_browser_shows_the_page_without_a_complaint(tmp_path: Path) -> None:
    page, picture = tmp_path / "solve.html", tmp_path / "shown.png"
    knapsack().report(page)
    flags = (
        *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
        *("--enable-logging=stderr", f"--user-data-dir={tmp_path / 'user'}"),
        *(f"--screenshot={picture}", "--dump-dom"),
    )
    done = subprocess.run(
        ["chromium", *flags, page.as_uri()], capture_output=True, text=True, timeout=120
    )
    assert "CONSOLE" not in done.stderr
    assert words(done.stdout) == words(page.read_text(encoding="utf-8"))
    from matplotlib.image import imread

    shown = imread(picture)
    assert shown.std() > 0.02  # not one colour
