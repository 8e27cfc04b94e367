"""How often the log gets a line, and how many iterations are kept for pictures."""

from __future__ import annotations

import math

from gpu_bridge.outcome import IterationRecord

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
