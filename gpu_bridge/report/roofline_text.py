"""The picture of a roofline report in letters, for a terminal: what ``roofline_plot`` draws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_bridge.report.roofline import RooflineReport

COLUMNS, LINES = 60, 16
"""Letters from left to right and from bottom to top."""

MARGIN = 1.3
"""Factor by which the picture reaches beyond the points and roofs."""

MEMORY, CACHE = ".", ":"
LETTERS = {"csr": "c", "coo": "o", "ell": "e", "sell": "s"}
"""A letter for each format: capital for A, small for its transpose."""


@dataclass(frozen=True)
class Scale:
    """A logarithmic scale of so many steps between two positive numbers."""

    low: float
    high: float
    steps: int

    @staticmethod
    def around(values: Sequence[float], steps: int) -> Scale:
        """Return a scale that all values lie within."""
        return Scale(min(values) / MARGIN, max(values) * MARGIN, steps)

    def place(self, value: float) -> int:
        """Return the step of a value, which may lie outside."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(share * (self.steps - 1))

    def value(self, step: int) -> float:
        """Return the value of a step."""
        return self.low * math.pow(self.high / self.low, step / (self.steps - 1))


def picture_lines(report: RooflineReport) -> list[str]:
    """Return the speeds of a report's products below the machine's roofs, as lines of text."""
    points = [
        (
            candidate.traffic.intensity,
            candidate.traffic.flops / candidate.seconds / 1e9,
            LETTERS[candidate.format].upper() if matrix.name == "A" else LETTERS[candidate.format],
        )
        for matrix in report.matrices
        for candidate in matrix.candidates
        if candidate.seconds
    ]
    if not points:
        return []
    across = Scale.around([intensity for intensity, _, _ in points], COLUMNS)
    roofs = {
        CACHE: report.machine.cache_bandwidth / 1e9,
        MEMORY: report.machine.memory_bandwidth / 1e9,
    }
    ends = [across.value(step) * roof for roof in roofs.values() for step in (0, COLUMNS - 1)]
    up = Scale.around([*ends, *(speed for _, speed, _ in points)], LINES)
    grid = [[" "] * COLUMNS for _ in range(LINES)]
    for mark, roof in roofs.items():
        for step in range(COLUMNS):
            grid[up.place(across.value(step) * roof)][step] = mark
    for intensity, speed, letter in points:
        grid[up.place(speed)][across.place(intensity)] = letter
    return _framed(grid, across, up)


def _framed(grid: list[list[str]], across: Scale, up: Scale) -> list[str]:
    """Return a grid, whose first row is the lowest, with its axes and the key to its letters."""
    labelled = {0, LINES // 2, LINES - 1}
    lines = ["Gflop/s"]
    for row in reversed(range(LINES)):
        label = f"{up.value(row):.3g}" if row in labelled else ""
        lines.append(f"{label:>9} |{''.join(grid[row])}".rstrip())
    ends = f"{across.low:.3g}", f"{across.high:.3g}"
    middle = "flop/byte".center(COLUMNS - len(ends[0]) - len(ends[1]))
    lines += [" " * 10 + "+" + "-" * COLUMNS, " " * 11 + ends[0] + middle + ends[1]]
    key = ", ".join(f"{letter.upper()} {letter} {name}" for name, letter in LETTERS.items())
    lines.append(
        f"{'':11}{MEMORY} roof of memory, {CACHE} of the cache; products with A and A': {key}"
    )
    return lines
