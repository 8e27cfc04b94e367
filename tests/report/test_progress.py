"""The log as a reader sees it: what is written, when, with which signs, and to whom."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest

from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.log_text import version_line
from gpu_bridge.report.progress import BURST_LINES, MOST_RECORDS, BridgeProgress, line_interval
from solvers.core.outcome import Event, SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.report.log_models import BrokenStream, rows, small_mip


class FakeClock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    fake = FakeClock()
    monkeypatch.setattr("solvers.core.progress.time.monotonic", fake)
    return fake


def test_every_stream_gets_every_line_at_once_and_the_text_keeps_them() -> None:
    first, second = io.StringIO(), io.StringIO()
    progress = BridgeProgress(streams=[first, second])
    progress.log("one\ntwo")
    assert first.getvalue() == second.getvalue() == "one\ntwo\n"
    progress.log("")
    assert progress.text == first.getvalue() == "one\ntwo\n\n"


def test_a_stream_given_twice_gets_its_lines_once() -> None:
    stream = io.StringIO()
    BridgeProgress(streams=[stream, stream]).log("once")
    assert stream.getvalue() == "once\n"


def test_header_names_model_sizes_kinds_ranges_device_and_changed_options() -> None:
    progress = BridgeProgress(maximize=True)
    options = make_options(time_limit=5, rel_gap=0.5, threads=3, log=True)
    progress.header(small_mip(maximize=True), options, "NVIDIA H200")
    text = progress.text
    assert text.startswith(f"{version_line()}\n")
    assert "gpu-bridge 0." in text
    assert "small, maximize" in text
    assert "3 (1 equations, 1 one-sided, 1 ranged)" in text
    assert "3 (1 continuous, 1 binary, 1 integer)" in text
    assert "6 (66.7% of the matrix)" in text
    assert "matrix [5e-01, 2e+00]  cost [3e+00, 2e+02]" in text
    assert "bounds [1e+00, 7e+00]  sides [1e+00, 6e+01]" in text
    assert "NVIDIA H200, 3 threads" in text
    assert "rel_gap=0.5, threads=3, time_limit=5.0" in " ".join(
        sorted(rows(text, "Options")[0].replace(",", "").split()[1:])
    ).replace(" ", ", ")
    assert "log=" not in text


def test_header_of_an_empty_model_and_of_no_name() -> None:
    progress = BridgeProgress()
    progress.header(Problem.from_arrays([]), make_options())
    assert "(no name), minimize" in progress.text
    assert "matrix [-]  cost [-]  bounds [-]  sides [-]" in progress.text


def test_header_advises_on_coefficients_of_very_different_size() -> None:
    progress = BridgeProgress()
    problem = Problem.from_arrays([1.0, 1.0], [[1e-6, 1e6]], 1.0)
    progress.header(problem, make_options())
    assert "The matrix coefficients reach from 1e-06 to 1e+06" in progress.text
    assert "The objective" not in progress.text


def test_decision_says_which_engine() -> None:
    progress = BridgeProgress()
    progress.decision("highs on cpu: a linear program; no GPU")
    assert progress.text == "Engine      highs on cpu: a linear program; no GPU\n"


def test_improvements_stand_in_order_with_incumbent_bound_gap_and_source(clock: FakeClock) -> None:
    progress = BridgeProgress()
    clock.now += 0.25
    progress.bound(50.0, "root relaxation")
    clock.now += 2.0
    progress.incumbent(100.0, "rounding")
    clock.now += 70.0
    progress.incumbent(80.0, "local search")
    table = progress.text.splitlines()
    assert table[0] == ""
    assert table[1].split() == ["Time", "Incumbent", "Bound", "Gap", "Found", "by"]
    assert [line.split() for line in table[2:]] == [
        ["0.2s", "-", "50", "-", "root", "relaxation"],
        ["*", "2.2s", "100", "50", "50.00%", "rounding"],
        ["*", "1:12", "80", "50", "37.50%", "local", "search"],
    ]
    ends = {
        line.index(value) + len(value) for line, value in zip(table[3:], ("100", "80"), strict=True)
    }
    assert len(ends) == 1, "values must be aligned"


def test_a_worse_incumbent_or_bound_is_no_news() -> None:
    progress = BridgeProgress()
    assert progress.incumbent(5.0, "first")
    assert not progress.incumbent(5.0, "again")
    assert not progress.incumbent(6.0, "worse")
    progress.close()
    assert rows(progress.text, "again") == rows(progress.text, "worse") == []


def test_an_improvement_within_rounding_gets_no_line(clock: FakeClock) -> None:
    progress = BridgeProgress()
    progress.incumbent(1.0, "rounding")
    progress.incumbent(0.9, "search")
    progress.bound(0.5, "relaxation")
    progress.incumbent(0.9 - 1e-12, "checked")
    assert rows(progress.text, "checked") == []
    assert len(progress.history) == 4


def test_values_are_shown_in_the_sense_of_a_model_that_maximizes(clock: FakeClock) -> None:
    progress = BridgeProgress(maximize=True)
    progress.incumbent(-12.0, "rounding")
    clock.now += 2.0
    progress.bound(-15.0, "relaxation")
    assert rows(progress.text, "relaxation")[0].split()[1:4] == ["12", "15", "25.00%"]
    assert progress.history[-1] == Event(2.0, -12.0, -15.0, "relaxation")


def test_zero_has_no_sign_when_the_sense_is_turned() -> None:
    progress = BridgeProgress(maximize=True)
    progress.incumbent(0.0, "rounding")
    assert "-0" not in progress.text


def test_objective_figures_turn_with_the_sense_and_others_do_not(clock: FakeClock) -> None:
    progress = BridgeProgress(maximize=True)
    progress.iteration(7, objective=-42.5, primal_residual=0.25)
    assert progress.text.splitlines()[-1].split() == ["0.0s", "7", "42.5", "2.500e-01"]
    assert progress.record.iterations[0].figures == {"objective": 42.5, "primal_residual": 0.25}


def test_iterations_are_throttled_by_an_interval_that_grows(clock: FakeClock) -> None:
    progress = BridgeProgress()
    for count in range(3201):
        progress.iteration(count, residual=1.0)
        clock.now += 0.125
    shown = [line.split()[0] for line in progress.text.splitlines()[2:]]
    assert shown[:3] == ["0.0s", "1.0s", "2.0s"]
    seconds = np.array([_seconds(text) for text in shown])
    steps = np.diff(seconds)
    assert (steps > 0).all()
    for low, high, interval in ((0, 9, 1.0), (12, 58, 2.0), (66, 290, 5.0), (312, 400, 10.0)):
        inside = (seconds[:-1] >= low) & (seconds[1:] <= high)
        np.testing.assert_allclose(steps[inside], interval, atol=1.01)
    assert len(shown) < 110


def _seconds(text: str) -> float:
    parts = [float(part) for part in text.rstrip("s").split(":")]
    return sum(part * 60.0**power for power, part in enumerate(reversed(parts)))


@pytest.mark.parametrize(
    ("seconds", "interval"), [(0, 1), (9.99, 1), (10, 2), (60, 5), (300, 10), (3600, 60)]
)
def test_line_interval(seconds: float, interval: float) -> None:
    assert line_interval(seconds) == interval


def test_bounds_alone_are_throttled_and_the_last_one_is_shown_at_the_end(clock: FakeClock) -> None:
    progress = BridgeProgress()
    for k in range(50):
        progress.bound(float(k), f"node {k}")
        clock.now += 0.01
    assert rows(progress.text, "node") == [line for line in rows(progress.text, "node 0")]
    progress.close()
    assert len(rows(progress.text, "node")) == 2
    assert rows(progress.text, "node 49")
    assert len(progress.history) == 50


def test_a_burst_of_improvements_is_cut_and_its_last_is_shown(clock: FakeClock) -> None:
    progress = BridgeProgress()
    for k in range(1000):
        progress.incumbent(1000.0 - k, "jump")
    assert len(rows(progress.text, "jump")) == BURST_LINES
    clock.now += 1.5
    progress.incumbent(-5.0, "later")
    assert rows(progress.text, "later")
    progress.close()
    assert len(rows(progress.text, "jump")) == BURST_LINES, "what was withheld is out of date"


def test_withheld_improvement_comes_before_the_footer() -> None:
    progress = BridgeProgress()
    for k in range(100):
        progress.incumbent(float(-k), "jump")
    progress.footer(Outcome(SolutionStatus.FEASIBLE, StopReason.TIME_LIMIT, objective=-99.0))
    text = progress.text
    assert text.index("-99 ") < text.index("Status")


def test_iterations_of_a_mip_stand_in_the_table_of_improvements(clock: FakeClock) -> None:
    progress = BridgeProgress()
    progress.header(small_mip(), make_options())
    progress.iteration(10, nodes=3, objective=4.0)
    clock.now += 3.0
    progress.incumbent(5.0, "rounding")
    clock.now += 3.0
    progress.iteration(20, nodes=6, objective=4.0)
    assert len(rows(progress.text, "Incumbent")) == 1
    assert rows(progress.text, "iteration 20")[0].split()[1] == "5"
    assert "nodes 6" in progress.text
    assert "objective" not in progress.text


def test_dual_values_of_a_linear_program_do_not_break_its_table(clock: FakeClock) -> None:
    progress = BridgeProgress()
    progress.header(small_mip().relaxation(), make_options())
    for k in range(5):
        progress.iteration(k, residual=1.0 / (k + 1))
        progress.bound(float(k), "dual objective")
        clock.now += 3.0
    assert rows(progress.text, "dual objective") == []
    assert len(rows(progress.text, "Iteration")) == 1


def test_the_last_iteration_is_shown_before_what_is_said_next(clock: FakeClock) -> None:
    progress = BridgeProgress()
    for count in range(8):
        progress.iteration(count, residual=1.0)
    progress.log("restarting")
    progress.iteration(8, residual=0.5)
    progress.engine_output("clean-up")
    progress.iteration(9, residual=0.25)
    progress.close()
    shown = [line.split()[-2:] for line in progress.text.splitlines()[2:]]
    assert shown == [
        ["0", "1.000e+00"],
        ["7", "1.000e+00"],
        ["restarting"],
        ["8", "5.000e-01"],
        ["clean-up"],
        ["9", "2.500e-01"],
    ]


def test_a_linear_program_has_no_table_of_improvements() -> None:
    progress = BridgeProgress()
    progress.header(small_mip().relaxation(), make_options())
    before = progress.text
    assert progress.incumbent(5.0, "clean-up")
    assert progress.bound(5.0, "clean-up")
    progress.iteration(100)
    progress.close()
    assert progress.text == before
    assert len(progress.history) == 2


def test_output_of_a_wrapped_engine_is_set_in_and_ends_where_our_table_begins() -> None:
    progress = BridgeProgress()
    progress.header(small_mip(), make_options())
    progress.engine_output("BackgroundPresolve model")
    progress.incumbent(5.0, "rounding")
    progress.engine_output("its own table")
    progress.log("a word of ours")
    assert "\n  BackgroundPresolve model\n" in progress.text
    assert "its own table" not in progress.text
    assert "a word of ours" in progress.text


def test_output_of_a_wrapped_engine_is_whole_for_a_linear_program() -> None:
    progress = BridgeProgress()
    progress.header(small_mip().relaxation(), make_options())
    progress.engine_output("first")
    progress.incumbent(5.0, "simplex")
    progress.engine_output("last")
    assert progress.text.endswith("  first\n  last\n")


def test_a_figure_that_comes_later_gets_a_column_of_its_own(clock: FakeClock) -> None:
    progress = BridgeProgress()
    progress.iteration(1, primal=1.0)
    clock.now += 5.0
    progress.iteration(2, dual=2.0)
    clock.now += 5.0
    progress.iteration(3, primal=3.0, dual=4.0)
    lines = progress.text.splitlines()
    assert lines[4].split() == ["Time", "Iteration", "primal", "dual"]
    assert lines[5].index("2.000e+00") == lines[6].index("4.000e+00")


def test_history_of_iterations_is_thinned_but_reaches_from_start_to_end() -> None:
    progress = BridgeProgress()
    for count in range(20 * MOST_RECORDS):
        progress.iteration(count, residual=1.0)
    counts = [record.count for record in progress.record.iterations]
    assert MOST_RECORDS / 4 < len(counts) <= MOST_RECORDS
    assert counts[0] == 0
    assert len(set(np.diff(counts))) == 1
    assert counts[-1] > 19 * MOST_RECORDS


def test_a_broken_stream_is_dropped_with_a_note_and_the_others_go_on() -> None:
    broken, good = BrokenStream(good_writes=1), io.StringIO()
    progress = BridgeProgress(streams=[broken, good])
    for line in ("one", "two", "three"):
        progress.log(line)
    assert broken.getvalue() == "one\n"
    lines = good.getvalue().splitlines()
    assert [line for line in lines if "stream" not in line] == ["one", "two", "three"]
    assert len(rows(good.getvalue(), "BrokenPipeError")) == 1
    assert progress.text == good.getvalue()


def test_a_closed_stream_and_one_without_flush_do_no_harm() -> None:
    class Bare:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

    closed, bare = io.StringIO(), Bare()
    closed.close()
    progress = BridgeProgress(streams=[closed, bare], live=True)  # type: ignore[list-item]
    progress.log("hello")
    assert "ValueError" in bare.text
    assert bare.text.startswith("hello\n")


def test_characters_outside_the_stream_s_encoding_become_question_marks() -> None:
    raw = io.BytesIO()
    progress = BridgeProgress(streams=[io.TextIOWrapper(raw, encoding="ascii")])
    progress.log("model Größe")
    assert raw.getvalue() == b"model Gr??e\n"
    assert progress.text == "model Größe\n"


def test_lines_of_many_threads_stay_whole() -> None:
    stream = io.StringIO()
    progress = BridgeProgress(streams=[stream])

    def tell(name: str) -> None:
        for k in range(200):
            progress.log(f"{name} {k} end")
            progress.iteration(k, residual=0.5)

    threads = [threading.Thread(target=tell, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = [line for line in stream.getvalue().splitlines() if line.endswith("end")]
    assert len(whole) == 800
    assert stream.getvalue() == progress.text


def test_a_better_point_withheld_until_a_bound_comes_keeps_its_finder(clock: FakeClock) -> None:
    progress = BridgeProgress()
    for k in range(BURST_LINES + 3):
        progress.incumbent(100.0 - k, "local search")
    clock.now += 5.0
    progress.bound(10.0, "branch and bound")
    clock.now += 5.0
    progress.bound(20.0, "branch and bound")
    last_but_one, last = progress.text.splitlines()[-2:]
    assert last_but_one.startswith("*")
    assert last_but_one.endswith("local search")
    assert last.startswith(" ")
    assert last.endswith("branch and bound")


def test_nothing_is_written_to_the_streams_after_the_end() -> None:
    stream = io.StringIO()
    with BridgeProgress(streams=[stream]) as progress:
        progress.log("in time")
    progress.log("too late, from a thread that was left behind")
    assert stream.getvalue() == "in time\n"
