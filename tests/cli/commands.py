"""Models for the command line, and what a command leaves behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LINEAR = """Minimize
 cost: x + 2 y
Subject To
 demand: x + y >= 2
Bounds
 x <= 1.5
End
"""

KNAPSACK = """Maximize
 value: 5 a + 4 b + 3 c
Subject To
 weight: 2 a + 3 b + c <= 5
 size: 4 a + b + 2 c <= 11
Binary
 a
 b
 c
End
"""

INFEASIBLE = """Minimize
 cost: x + y + z
Subject To
 at_least: x + y >= 10
 at_most: x + y <= 4
 other: x + z >= 1
End
"""

UNBOUNDED = """Minimize
 gain: - x - y
Subject To
 difference: x - y <= 3
End
"""

CROSSED = """Minimize
 cost: x
Subject To
 row: x + y >= 1
Bounds
 3 <= x <= 1
End
"""


def hard_model(count: int = 250) -> str:
    """Points that share no edge of a random graph: some are easily found, a proof takes ages."""
    random = np.random.default_rng(7)
    edges = [(i, j) for i in range(count) for j in range(i) if random.random() < 0.1]
    goal = " + ".join(f"x{i}" for i in range(count))
    rows = [f" e{k}: x{i} + x{j} <= 1" for k, (i, j) in enumerate(edges)]
    names = "\n".join(f" x{i}" for i in range(count))
    return f"Maximize\n total: {goal}\nSubject To\n" + "\n".join(rows) + f"\nBinary\n{names}\nEnd\n"


@dataclass
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def value(self, label: str) -> str:
        (found,) = re.findall(rf"^{label:<12}(.*)$", self.out, re.MULTILINE)
        return str(found)


Run = Callable[..., Answer]


def complaint(answer: Answer) -> str:
    """Return the one line on stderr; nothing may stand on stdout then."""
    assert answer.out == ""
    lines = answer.err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("gpu-bridge: ")
    return lines[0]
