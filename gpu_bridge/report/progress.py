"""The log of a solve, its live line on a terminal and the history of its iterations.

Every line goes to all streams as it happens and is kept in :attr:`BridgeProgress.text`. Figures
that an engine tells are those of the minimised problem; the log shows them in the model's sense.

Rows are throttled (:mod:`gpu_bridge.report.progress`), so that a long solve stays readable:
improvements of the incumbent get a line each unless they come in bursts, bounds and iterations
one line per interval, and the interval grows with the time spent. What was withheld last is shown
before the footer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

import numpy as np

from gpu_bridge.options import Options
from gpu_bridge.outcome import IterationRecord, Outcome, Record
from gpu_bridge.report import log_text
from gpu_bridge.report.log_output import Line, LogOutput
from gpu_bridge.solution_pool import found_by, same_value
from solvers.core.outcome import Event, relative_gap
from solvers.core.problem import FloatArray, Problem
from solvers.core.progress import Progress

if TYPE_CHECKING:
    from gpu_bridge.report.improvement import Watcher


# How often the log gets a line, and how many iterations are kept for pictures.


BURST_LINES = 10
"""Improvements shown in full per second; of faster ones only the last is shown."""

MOST_RECORDS = 1024
"""Iterations kept for plots; beyond it every second one is dropped and the spacing doubled."""


def line_interval(seconds: float) -> float:
    """Return the seconds between two throttled lines at a given time of a solve."""
    for end, interval in ((10.0, 1.0), (60.0, 2.0), (300.0, 5.0), (3600.0, 10.0)):
        if seconds < end:
            return interval
    return 60.0


class Throttle:
    """Decides at given times of a solve whether a line is due."""

    def __init__(self) -> None:
        self._next_line = 0.0
        self._burst_began = -math.inf
        self._burst_lines = 0

    def is_due(self, seconds: float) -> bool:
        """Whether a regular line is due; if so, the next one is due an interval later."""
        if seconds < self._next_line:
            return False
        self._next_line = seconds + line_interval(seconds)
        return True

    def allows_improvement(self, seconds: float) -> bool:
        """Whether an improvement gets a line of its own, as all do that are not in a burst."""
        if seconds >= self._burst_began + 1.0:
            self._burst_began = seconds
            self._burst_lines = 0
        self._burst_lines += 1
        return self._burst_lines <= BURST_LINES


class ThinnedHistory:
    """Records of iterations, evenly spaced in calls and bounded in number."""

    def __init__(self) -> None:
        self.records: list[IterationRecord] = []
        self._spacing = 1
        self._calls = 0

    def note(self, record: IterationRecord) -> None:
        """Keep the record if it is its turn."""
        if self._calls % self._spacing == 0:
            self.records.append(record)
            if len(self.records) > MOST_RECORDS:
                self.records = self.records[::2]
                self._spacing *= 2
        self._calls += 1


FIRST_STANDING = 1.0
"""Seconds from which rows say how racing engines stand; most races are over before."""


class BridgeProgress(Progress):
    """A :class:`~solvers.core.progress.Progress` that keeps and shows a log; safe from any thread.

    Parameters
    ----------
    time_limit : float
        Seconds from the beginning; inf for none.
    streams : sequence of TextIO
        Where log lines go, each once; a stream that breaks is left out with a note in the log.
    live : bool
        Show a moving line on the first stream that is a terminal.
    maximize : bool
        The model maximises, so that objectives and bounds are shown with their sign turned.
    watcher : Watcher, optional
        Told of every better point whose values the engine gives.
    began : float, optional
        The beginning by ``time.monotonic()``, where that was before now.
    """

    def __init__(
        self,
        time_limit: float = np.inf,
        *,
        streams: Sequence[TextIO] = (),
        live: bool = False,
        maximize: bool = False,
        watcher: Watcher | None = None,
        began: float | None = None,
    ) -> None:
        super().__init__(time_limit, began=began)
        self.maximize = maximize
        self._watcher = watcher
        self._source = ""
        self._output = LogOutput(streams, self._live_text if live else None)
        self._is_mip: bool | None = None
        self._title = ""
        self._figure_names: dict[str, None] = {}
        self._throttle = Throttle()
        self._shown_incumbent = np.nan
        self._withheld: Event | None = None
        self._withheld_iteration: IterationRecord | None = None
        self._count = 0
        self._standings: dict[str, str] = {}
        self._iterations = ThinnedHistory()

    def __enter__(self) -> BridgeProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._watcher is not None:
            self._watcher.close()
        with self._lock:
            self.close()
            self._output.end()

    @property
    def text(self) -> str:
        """The whole log so far."""
        with self._lock:
            return str(self._output.text)

    @property
    def record(self) -> Record:
        """What was told so far, with a thinned history of iterations in the model's sense."""
        with self._lock:
            stood = {runner: words or "no word of it" for runner, words in self._standings.items()}
            return Record(self._output.text, tuple(self._iterations.records), stood)

    def log(self, message: str) -> None:
        """Write a message of one or more lines to the log."""
        with self._lock:
            self._show_withheld_iteration()
            for line in message.splitlines() or [""]:
                self._output.write(line)

    def engine_output(self, line: str) -> None:
        """Show a wrapped engine's own line, set in, until the table of improvements begins.

        From then on its lines would say the same as ours. A linear program has no such table,
        so there they all are shown.
        """
        with self._lock:
            self._show_withheld_iteration()
            if self._title != log_text.EVENT_TITLE:
                self._output.write(f"  {line}")

    def header(
        self,
        problem: Problem,
        options: Options,
        device: str | Callable[[], str] = "cpu",
    ) -> None:
        """Write what is solved, with what and where.

        Parameters
        ----------
        problem : Problem
            The model as it was given, before presolve.
        options : Options
            Those that differ from their defaults are named.
        device : str or callable
            Name of the device for the reader, or what finds it out once somebody reads it.
        """
        if self._watcher is not None:
            self._watcher.begin(problem, options, self._end_by_watcher)
        with self._lock:
            self._is_mip = problem.is_mip
            self._tell(lambda: _header(problem, options, device))
            self._output.show_live()

    def decision(self, text: str) -> None:
        """Write which engine was chosen, and why."""
        with self._lock:
            self._tell(lambda: log_text.labelled("Engine", text))

    def incumbent(self, objective: float, source: str, x: FloatArray | None = None) -> bool:
        """Report a feasible point; return whether it is better than all before it."""
        with self._lock:
            if self._incumbent <= objective:  # False while the incumbent is NaN
                return False
            self._source = source
            super().incumbent(objective, source, x)
            if self._watcher is not None and x is not None:
                from gpu_bridge.report.improvement import Sighting

                self._watcher.see(
                    Sighting(objective, self._bound, self.seconds, source, np.array(x, float))
                )
            return True

    def iteration(self, count: int, **figures: float | int | str) -> None:
        """Keep and, when a line is due, show how an iterative engine stands."""
        with self._lock:
            self._count = count
            self._output.show_live()
            if not figures:
                return
            if self.maximize:
                figures = log_text.figures_in_model_sense(figures)
            record = IterationRecord(self.seconds, count, figures)
            self._iterations.note(record)
            if self._standings:
                return  # one of several engines, which have a table of their own
            due = self._throttle.is_due(record.seconds)
            if self._is_mip is False or (self._is_mip is None and not self.history):
                self._withheld_iteration = record
                if due:
                    self._show_withheld_iteration()
            elif due:
                words = log_text.figure_list(count, figures)
                self._event_row(Event(record.seconds, self._incumbent, self._bound, words))

    def standing(self, runner: str, words: str) -> None:
        """Show how one of several engines stands: on the live line, and at times in a row."""
        with self._lock:
            self._standings[runner] = words
            self._output.show_live()
            seconds = self.seconds
            if words and seconds >= FIRST_STANDING and self._throttle.is_due(seconds):
                line = log_text.standing_line(seconds, self._standings.values())
                self._row(log_text.standing_title(self._standings), line)

    def on_event(self, event: Event) -> None:
        """Show an improvement, or withhold it where lines would come too fast."""
        self._output.show_live()
        if self._is_mip is False:
            return  # a linear program's values are figures of its iterations
        throttle = self._throttle
        due = throttle.allows_improvement if self._is_better(event) else throttle.is_due
        if due(event.seconds):
            self._event_row(event)
        else:
            self._withheld = event

    def footer(self, outcome: Outcome) -> None:
        """Take the live line away and write the answer's status, values and residuals.

        Whoever watches the solve hears of the answer first, if it is better than what was told.
        """
        self._finish_watching(outcome)
        with self._lock:
            self.close()
            self._tell(lambda: _footer(outcome))

    def close(self) -> None:
        """Show what was withheld and take the live line away; may be called more than once."""
        with self._lock:
            self._show_withheld_iteration()
            if self._withheld is not None:
                self._event_row(self._withheld)
            self._output.stop_live()

    def _finish_watching(self, outcome: Outcome) -> None:
        """Wait for the watcher without holding the lock, which it needs for a line in the log."""
        watcher = self._watcher
        if watcher is None:
            return
        last = None
        if outcome.solution_status.has_point and outcome.x is not None:
            from gpu_bridge.report.improvement import Sighting

            sign = -1.0 if self.maximize else 1.0
            found = found_by(outcome)
            seconds, source = (outcome.seconds, outcome.engine) if found is None else found
            values = sign * outcome.objective, sign * outcome.bound
            last = Sighting(*values, seconds, source, outcome.x.copy(), verified=True)
        watcher.finish(last, lambda: 0.0 if self.interrupted else self.time_left)

    def _end_by_watcher(self, reason: str) -> None:
        self.log(f"{log_text.clock(self.seconds)}: {reason}")
        self.interrupt()

    def _event_row(self, event: Event) -> None:
        self._withheld = None
        is_better = self._is_better(event)
        if is_better:  # perhaps withheld until a bound came along
            event = Event(event.seconds, event.incumbent, event.bound, self._source)
        self._shown_incumbent = event.incumbent
        if self.maximize:
            event = log_text.in_model_sense(event)
        self._row(log_text.EVENT_TITLE, lambda: log_text.event_line(event, is_better))

    def _is_better(self, event: Event) -> bool:
        """Whether an event has a better incumbent than the last row shown."""
        known = bool(np.isfinite(event.incumbent))
        return known and not same_value(event.incumbent, self._shown_incumbent)

    def _show_withheld_iteration(self) -> None:
        record, self._withheld_iteration = self._withheld_iteration, None
        if record is not None:
            self._figure_names.update(dict.fromkeys(record.figures))
            cells = {name: record.figures.get(name, "") for name in self._figure_names}
            line = log_text.iteration_line(record.seconds, record.count, cells)
            self._row(log_text.iteration_title(cells), line)

    def _row(self, title: str, line: Line) -> None:
        """Write a row of a table, below its title if another table stood there before."""
        if title != self._title:
            self._title = title
            self._output.write("")
            self._output.write(title)
        self._tell(line)

    def _tell(self, lines: Line) -> None:
        """Show lines, or keep what composes them where nobody looks on."""
        if self._output.is_shown or self._withheld_iteration is not None:
            self.log(lines if isinstance(lines, str) else lines())
        else:
            self._output.keep(lines)

    def _live_text(self) -> str:
        """Return the text of the live line; runs in its thread and takes no lock."""
        sign = -1.0 if self.maximize else 1.0
        limit = f" of {log_text.clock(self.time_limit)}" if np.isfinite(self.time_limit) else ""
        parts = [log_text.clock(self.seconds) + limit]
        if np.isfinite(self._incumbent):
            source = f" by {self._source}" if self._source else ""
            parts.append(f"incumbent {log_text.number(sign * self._incumbent)}{source}")
        if np.isfinite(self._bound):
            parts.append(f"bound {log_text.number(sign * self._bound)}")
        gap = relative_gap(self._incumbent, self._bound)
        if np.isfinite(gap):
            parts.append(f"gap {log_text.percentage(gap)}")
        standings = dict(self._standings)  # other threads write it
        parts += [f"{runner} {words}" for runner, words in standings.items() if words]
        if self._count and not standings:
            parts.append(f"iteration {self._count}")
        if self.interrupted:
            parts.append("stopping")
        return "   ".join(parts)


def _header(problem: Problem, options: Options, device: str | Callable[[], str]) -> str:
    # the log of a small model is seldom read
    from gpu_bridge.report.statistics import model_statistics

    device = device if isinstance(device, str) else device()
    statistics = model_statistics(problem)
    lines = [log_text.version_line(), "", *log_text.model_lines(statistics)]
    lines.append(log_text.labelled("Device", f"{device}, {_threads(options.threads)}"))
    changed = log_text.changed_options(options)
    if changed:
        lines.append(log_text.labelled("Options", changed))
    lines += [log_text.labelled("Names", note) for note in options.notes]
    lines += [log_text.labelled("Advice", text) for text in log_text.range_advice(statistics)]
    return "\n".join(lines)


def _footer(outcome: Outcome) -> str:
    return "\n".join(["", *log_text.footer_lines(outcome)])


def _threads(wanted: int) -> str:
    if not wanted:
        affinity = getattr(os, "sched_getaffinity", None)
        wanted = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return f"{wanted} thread" if wanted == 1 else f"{wanted} threads"
