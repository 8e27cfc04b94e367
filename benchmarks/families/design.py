"""The lightest truss that carries several loads, chosen from all bars between near joints.

The ground structure of Dorn, Gomory and Greenberg ("Automatic design of optimal structures", 1964).
Few bars are used at the optimum, and forces are in balance by long chains of equations.
"""

from __future__ import annotations

from math import gcd

import numpy as np
import scipy.sparse as sp

from benchmarks.families.builder import Builder, IntArray, Term
from benchmarks.linear_programs import LinearProgram

REACH = 3
LOADS = 3
STRENGTH = 1.0
LOADED = 5
"""Joints that a load acts on."""


def truss(nonzeros: int, seed: int = 0) -> LinearProgram:
    """Return a wall's bracket, twice as wide as high, fixed on its left side."""
    rng = np.random.default_rng(seed)
    steps = _steps()
    entries = LOADS * sum(4 + 2 * sum(part != 0 for part in step) for step in steps)
    height = max(2, round(np.sqrt(nonzeros / entries / 2)))
    width = max(3, round(nonzeros / entries / height))
    bars = _bars(width, height, steps)
    joint = np.stack(np.divmod(np.arange(width * height), height), axis=1).astype(float)
    along = joint[bars[:, 1]] - joint[bars[:, 0]]
    length = np.linalg.norm(along, axis=1)
    builder = Builder(f"truss-{width}-{height}")
    area = builder.columns(len(bars), cost=length)
    force = builder.columns(LOADS, len(bars), lower=-np.inf)
    number = np.arange(len(bars))
    free = np.arange(height, width * height)
    load = np.zeros((LOADS, width * height, 2))
    right = free[free >= width * height // 2]
    for case in range(LOADS):
        where = rng.choice(right, min(LOADED, len(right)), replace=False)
        load[case, where] = rng.standard_normal((len(where), 2)) * [0.3, 1.0]
    for axis in range(2):
        part = along[:, axis] / length
        ends = (np.r_[-part, part], (bars.T.ravel(), np.r_[number, number]))
        balance = sp.csr_matrix(ends, shape=(width * height, len(bars)))[free]
        balance.eliminate_zeros()
        side = load[:, free, axis]
        builder.blocks(balance, force, lower=side, upper=side)
    for sign in (1.0, -1.0):
        within = [Term(force, sign), Term(area[None], -STRENGTH)]
        builder.rows((LOADS, len(bars)), within, upper=0.0)
    return builder.finish()


def _steps() -> list[tuple[int, int]]:
    """Return the ways from a joint to those within reach, one of each pair of opposite ones.

    A way over another joint is left out: two shorter bars do the same.
    """
    across = [
        (right, up)
        for right in range(REACH + 1)
        for up in range(-REACH, REACH + 1)
        if gcd(right, up) == 1
    ]
    return [(right, up) for right, up in across if right > 0 or up > 0]


def _bars(width: int, height: int, steps: list[tuple[int, int]]) -> IntArray:
    """Return the joints (bars, 2) of all bars inside, but those between two fixed joints."""
    column, row = np.divmod(np.arange(width * height), height)
    found = []
    for right, up in steps:
        inside = (column + right < width) & (row + up >= 0) & (row + up < height)
        inside &= column + right > 0
        start = np.flatnonzero(inside)
        found.append(np.stack([start, start + right * height + up], axis=1))
    return np.concatenate(found)
