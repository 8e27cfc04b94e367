"""What tests of the log share: a stream that breaks, a model, and a look at lines."""

from __future__ import annotations

import io

import numpy as np

from solvers.core.problem import Problem


class BrokenStream(io.StringIO):
    """A pipe whose reader goes away after some writes."""

    def __init__(self, good_writes: int) -> None:
        super().__init__()
        self.good_writes = good_writes

    def write(self, text: str) -> int:
        if self.good_writes == 0:
            raise BrokenPipeError(32, "Broken pipe")
        self.good_writes -= 1
        return super().write(text)


def small_mip(maximize: bool = False) -> Problem:
    return Problem.from_arrays(
        [3.0, 200.0, 0.0],
        [[1.0, 2.0, 0.0], [0.0, 1.0, 0.5], [1.0, 0.0, 1.0]],
        [1.0, -np.inf, 2.0],
        [1.0, 60.0, 4.0],
        upper=[1.0, 7.0, np.inf],
        integrality=[True, True, False],
        maximize=maximize,
        name="small",
    )


def rows(text: str, word: str) -> list[str]:
    """Return the lines of a log with a word in them."""
    return [line for line in text.splitlines() if word in line]
