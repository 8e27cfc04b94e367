"""A program of many entries, in small: what the device says of a point is what the host finds."""

from __future__ import annotations

import pytest

from benchmarks.many_entries import RUN, covering, measure
from solvers.core.device import cpu


def test_errors_by_the_device_are_those_by_the_host() -> None:
    problem = covering(20 * RUN, seed=0)
    assert problem.num_nonzeros == 20 * RUN
    row = measure(problem, cpu(), 200)
    for name in ("relative_primal", "primal_objective", "dual_objective"):
        assert row[f"{name} told"] == pytest.approx(row[f"{name} found"], rel=1e-9)
