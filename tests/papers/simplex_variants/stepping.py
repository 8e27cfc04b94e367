"""One pivot, kernel by kernel: the same launches by twins, by emulated lanes, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import Problem
from solvers.papers.simplex_variants.device_pivots import (
    Call,
    DevicePivots,
    GraphsPivots,
    ResidentPivots,
)
from solvers.papers.simplex_variants.drive import Drive
from solvers.papers.simplex_variants.kernels.layout import BLOCK, RUNNING, SLOTS, STOP
from solvers.papers.simplex_variants.standard_form import scaled_form, standard_form
from tests.papers.simplex_variants.models import assignment, random_problem

KINDS = {"resident": ResidentPivots, "graphs": GraphsPivots}

STATE = ("control", "reduced", "weight", "d", "x", "basic", "position", "basic_cost", "pivot_row")
STATE += ("y", "inverse")
"""What must agree after every kernel; each one's own part of a reduction need not."""

PARTIAL = ("offers", "nearest", "chosen")


def long_column() -> Problem:
    """A column with an entry in each of 300 rows, which is more than a block, and one with none."""
    random = np.random.default_rng(8)
    matrix = np.where(random.random((300, 40)) < 0.01, random.random((300, 40)), 0.0)
    matrix[:, 3] = 1.0
    matrix[:, 17] = 0.0
    cost = np.where(np.arange(40) == 17, 1.0, -random.random(40))
    return Problem.from_arrays(cost, matrix, row_upper=2.0 + random.random(300), upper=5.0)


def unbounded() -> Problem:
    """An improving column that no row stops."""
    return Problem.from_arrays([-1.0, 0.0], [[-1.0, 1.0]], row_upper=[2.0])


CASES = {
    "one row": (Problem.from_arrays([-1.0], [[1.0]], row_upper=[2.0]), 0),
    "random": (random_problem(1), 0),
    "random later": (random_problem(2, 40, 60), 25),
    "wide": (random_problem(3, 20, 900), 10),
    "tall": (random_problem(4, 270, 50), 30),
    "degenerate": (assignment(8, 2), 20),
    "long column": (long_column(), 1),
    "unbounded": (unbounded(), 0),
}
"""A problem, and the pivots before the one that is looked at."""


WHOLE_BLOCKS = ("tall", "random")
"""Cases in which a block streams over a column of the inverse, as it does for many rows."""


def prepared(variant: str, case: str, device: Device) -> DevicePivots:
    """Return pivots in the middle of a solve, ready for another one."""
    problem, before = CASES[case]
    form = scaled_form(standard_form(problem))
    pivots = KINDS[variant](form, device)
    Drive(form, pivots, 0, lambda iterations: None, before).run()
    pivots.control[STOP] = RUNNING
    pivots._put(pivots.space.control, pivots.control)
    if case in WHOLE_BLOCKS:
        pivots.space.team = BLOCK
    return pivots


def copied(source: DevicePivots, device: Device) -> DevicePivots:
    """Return pivots on another device in the very same state."""
    twin = KINDS["graphs" if isinstance(source, GraphsPivots) else "resident"](source.form, device)
    for name in (*STATE, *PARTIAL, "rhs"):
        twin._put(getattr(twin.space, name), host(source, name))
    twin.space.team = source.space.team
    return twin


def host(pivots: DevicePivots, name: str) -> Any:
    return pivots.space.device.to_host(getattr(pivots.space, name))


def step_both(
    one: DevicePivots, other: DevicePivots, run: Callable[[Call], None], pivots: int = 2
) -> None:
    """Let twins and another way of running kernels make pivots, and compare after each kernel."""
    for _ in range(pivots):
        for call, same in zip(one.pivot_calls(), other.pivot_calls(), strict=True):
            call.family[call.name](*call.values, threads=1)
            run(same)
            compare(one, other, call.name)


def compare(one: DevicePivots, other: DevicePivots, kernel: str) -> None:
    for name in STATE:
        expected, found = host(one, name), host(other, name)
        close = np.allclose(found, expected, rtol=1e-10, atol=1e-11, equal_nan=True)
        assert close, f"{kernel}: {name}"
    for name in PARTIAL:
        expected, found = best(host(one, name)), best(host(other, name))
        assert found == expected, f"{kernel}: {name}"


def best(parts: Any) -> float:
    """Return the index that wins a reduction."""
    triples = parts.reshape(-1, SLOTS)
    keys = np.where(triples[:, 1] >= 0, triples[:, 0], -np.inf)
    return float(triples[keys == keys.max(), 1].min())
