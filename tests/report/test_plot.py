"""Pictures of a solve: what is drawn, judged on the figure's own objects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_bridge.outcome import IterationRecord, Outcome, Record
from gpu_bridge.report import plot
from gpu_bridge.report.plot import check_picture_format, plot_history, require_matplotlib
from solvers.core.errors import FileFormatError, GpuBridgeError
from solvers.core.outcome import Event, SolutionStatus, StopReason
from solvers.core.problem import Problem

pytest.importorskip("matplotlib")

NAN = np.nan


def outcome_with(*events: tuple[float, float, float], seconds: float, **more: Any) -> Outcome:
    history = tuple(Event(*event, "test") for event in events)
    known = {"objective": events[-1][1], "bound": events[-1][2]} if events else {}
    problem = Problem.from_arrays([1.0], name="model_$1$_a", maximize=more.pop("maximize", False))
    return Outcome(
        SolutionStatus.FEASIBLE,
        StopReason.TIME_LIMIT,
        **known,
        seconds=seconds,
        history=history,
        problem=problem,
        **more,
    )


def labels(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def line(figure: Any, start: str) -> Any:
    return next(item for item in figure.axes[0].lines if str(item.get_label()).startswith(start))


def test_incumbent_and_bound_are_steps_that_reach_the_end_of_the_solve() -> None:
    outcome = outcome_with((0.5, NAN, 10.0), (1.0, 30.0, 10.0), (3.0, 20.0, 16.0), seconds=6.0)
    figure = plot_history(outcome)
    incumbent, bound = line(figure, "incumbent"), line(figure, "bound")
    assert incumbent.get_drawstyle() == bound.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(incumbent.get_xdata(), [1.0, 3.0, 6.0])
    np.testing.assert_array_equal(incumbent.get_ydata(), [30.0, 20.0, 20.0])
    np.testing.assert_array_equal(bound.get_xdata(), [0.5, 1.0, 3.0, 6.0])
    np.testing.assert_array_equal(bound.get_ydata(), [10.0, 10.0, 16.0, 16.0])
    assert labels(figure) == ["bound 16", "incumbent 20", "gap 20.00%"]


def test_gap_is_shaded_only_where_both_are_known() -> None:
    outcome = outcome_with((0.5, NAN, 10.0), (2.0, 30.0, 10.0), (3.0, 30.0, 12.0), seconds=6.0)
    (shade,) = plot_history(outcome).axes[0].collections
    corners = shade.get_paths()[0].vertices
    assert (corners[:, 0].min(), corners[:, 0].max()) == (2.0, 6.0)
    assert (corners[:, 1].min(), corners[:, 1].max()) == (10.0, 30.0)


def test_an_improvement_within_rounding_gets_no_dot() -> None:
    outcome = outcome_with((1.0, 30.0, 10.0), (2.0, 30.0 - 1e-10, 11.0), seconds=6.0)
    (dots,) = [item for item in plot_history(outcome).axes[0].lines if item.get_marker() == "o"]
    assert list(dots.get_xdata()) == [1.0]


@pytest.mark.parametrize(
    ("event", "expected"), [((1.0, 5.0, NAN), ["incumbent 5"]), ((1.0, NAN, 4.0), ["bound 4"])]
)
def test_one_of_the_two_alone(event: tuple[float, float, float], expected: list[str]) -> None:
    figure = plot_history(outcome_with(event, seconds=2.0))
    assert labels(figure) == expected
    assert not figure.axes[0].collections


def test_title_has_the_name_as_it_is_the_sense_and_the_status() -> None:
    axes = plot_history(outcome_with((1.0, 5.0, 6.0), seconds=2.0, maximize=True)).axes[0]
    assert axes.get_title() == "model_$1$_a (maximize): feasible"
    assert not axes.title.get_parse_math()


def test_a_wild_start_leaves_the_picture_and_what_follows_is_readable() -> None:
    outcome = outcome_with(
        (0.1, 1e7, 90.0), (0.5, 120.0, 90.0), (5.0, 105.0, 95.0), (8.0, 101.0, 99.0), seconds=10.0
    )
    low, high = plot_history(outcome).axes[0].get_ylim()
    assert 60.0 < low < 90.0
    assert 120.0 < high < 170.0


def test_a_calm_start_stays_in_the_picture() -> None:
    outcome = outcome_with((0.1, 150.0, 90.0), (5.0, 105.0, 95.0), seconds=10.0)
    low, high = plot_history(outcome).axes[0].get_ylim()
    assert low < 90.0
    assert high > 150.0


def test_a_single_event_at_zero_has_a_picture_with_positive_extent() -> None:
    axes = plot_history(outcome_with((0.0, 0.0, 0.0), seconds=0.0)).axes[0]
    assert axes.get_ylim()[0] < 0.0 < axes.get_ylim()[1]
    assert axes.get_xlim()[1] > 0.0


def test_iterative_engines_get_their_residuals_on_a_logarithmic_axis() -> None:
    records = tuple(
        IterationRecord(
            0.1 * k,
            k,
            {"primal_residual": 10.0**-k, "primal_weight": 3.0, "restarts": k, "state": "fine"},
        )
        for k in range(5)
    )
    outcome = outcome_with((0.5, 3.0, 3.0), seconds=0.5, record=Record(iterations=records))
    figure = plot_history(outcome)
    assert labels(figure) == ["primal residual"]
    assert figure.axes[0].get_yscale() == "log"
    np.testing.assert_allclose(line(figure, "primal").get_ydata(), 10.0 ** -np.arange(5.0))


def test_several_incumbents_win_over_iterations() -> None:
    records = (IterationRecord(0.1, 1, {"primal_residual": 0.1}),)
    outcome = outcome_with(
        (0.5, 3.0, 1.0), (0.6, 2.0, 1.0), seconds=1.0, record=Record(iterations=records)
    )
    assert labels(plot_history(outcome)) == ["bound 1", "incumbent 2", "gap 50.00%"]


def test_without_a_history_the_picture_says_so() -> None:
    axes = plot_history(outcome_with(seconds=1.0)).axes[0]
    assert "No incumbent or bound was recorded" in axes.texts[0].get_text()


@pytest.mark.parametrize(
    ("name", "magic"), [("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")]
)
def test_file_is_written_in_the_format_of_its_ending(
    tmp_path: Path, name: str, magic: bytes
) -> None:
    outcome = outcome_with((1.0, 5.0, 4.0), seconds=2.0)
    outcome.plot(tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)


def test_unknown_ending_and_missing_folder_are_errors_of_ours(tmp_path: Path) -> None:
    outcome = outcome_with((1.0, 5.0, 4.0), seconds=2.0)
    for bad in ("picture.docx", "picture"):
        with pytest.raises(FileFormatError, match=r"ending.*png.*svg"):
            plot_history(outcome, tmp_path / bad)
        with pytest.raises(FileFormatError, match=r"ending"):
            check_picture_format(bad)
    with pytest.raises(FileFormatError, match="There is no folder"):
        plot_history(outcome, tmp_path / "nowhere" / "a.png")


def test_missing_matplotlib_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda name: None)
    for call in (require_matplotlib, lambda: plot_history(outcome_with(seconds=1.0))):
        with pytest.raises(GpuBridgeError, match=r"pip install 'gpu-bridge\[plot\]'"):
            call()


def test_pyplot_and_a_display_are_not_needed() -> None:
    program = (
        "import sys; from gpu_bridge.outcome import *; "
        "from gpu_bridge.report.plot import plot_history; assert 'matplotlib' not in sys.modules; "
        "plot_history(Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT)); "
        "assert 'matplotlib.figure' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PATH": ""}, timeout=60)
