"""The benchmark of dense LU: its rows have what its tables show, and its ways agree."""

from __future__ import annotations

import pytest

from benchmarks import lu as benchmark
from solvers.core.device import cpu

CPU = cpu()


def test_a_system_is_solved_alike_by_all_ways():
    row = benchmark.measure_system(CPU, 25, 0, 1e9, benchmark.Growth(20.0))
    assert set(benchmark.SYSTEM_COLUMNS) <= set(row)
    assert row["n"] == 100
    assert row["disagreement"] < 1e-10
    ours = row["factorise ms"] + row["solve ms"]
    assert row["paper / ours"] * ours == pytest.approx(1e3 * benchmark.PUBLISHED[25][1])


def test_what_would_take_long_is_left_out():
    class Run:
        seconds = 1.0

    growth = benchmark.Growth(10.0)
    assert growth.measure(100, Run) is not None
    assert growth.measure(200, Run) is not None  # 8 s expected
    assert growth.measure(600, Run) is None  # 27 s expected after the 1 s of the run before
