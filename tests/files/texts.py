"""Model files as text, made by hand."""

from __future__ import annotations

from pathlib import Path

BASE = """NAME          TEST
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  MYEQN
COLUMNS
    X         COST               1.0   LIM1               1.0
    X         LIM2               1.0
    Y         COST               2.0   LIM1               1.0
    Y         MYEQN             -1.0
    Z         COST              -1.0   MYEQN              1.0
RHS
    RHS       LIM1               4.0   LIM2               1.0
    RHS       MYEQN              7.0   COST             -10.0
BOUNDS
 UP BND       X                  4.0
 LO BND       Y                 -1.0
 UP BND       Y                  1.0
ENDATA
"""
"""min x + 2y - z + 10,  x + y <= 4,  x >= 1,  -y + z = 7,  0 <= x <= 4,  -1 <= y <= 1,  z >= 0.

With z = 7 + y the objective is x + y + 3, so the optimum is 3 at x = 1, y = -1, z = 6.
"""

LP = """\\ a comment
Maximize
 profit: 3 x + 2 y - 4 z + 5
Subject To
 c1: x + y + z <= 10
 c2: x - 2 y >= -2
 c3: x + 3 y
   + z = 4
Bounds
 x <= 4
 -1 <= y <= 3
 z free
General
 y
End
"""


def with_section(section: str, text: str = BASE) -> str:
    """Put a section before ENDATA."""
    return text.replace("ENDATA", section + "\nENDATA")


def write(folder: Path, text: str | bytes, name: str = "model.mps") -> Path:
    """Write a model file and return its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
