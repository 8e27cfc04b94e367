"""A whole call of PDLP, part by part: what each takes, and in which the peak of memory is."""

from __future__ import annotations

from benchmarks.families import FAMILIES
from benchmarks.pdlp_parts import PARTS, REST, line, measure
from benchmarks.peers import Task
from solvers.core.device import cpu


def test_the_parts_of_a_call_are_told_apart() -> None:
    lp = FAMILIES["energy"].make(2_000, 0)
    row = measure(lp, Task(1e-3, 60.0, threads=1), cpu())
    parts = row["parts"]
    assert row["verified"]
    assert set(parts) <= {REST, *PARTS}
    assert {"presolve", "layout", "scaling", "iterations", "judging", "verification"} <= set(parts)
    assert 0.0 < parts["iterations"]["seconds"] < row["seconds"]
    assert parts["iterations"]["times"] == 1
    assert row["seconds"] == sum(part["seconds"] for part in parts.values())
    assert row["memory"] == max(part["memory"] for part in parts.values())
    assert 0 <= row["mapped"] < 2**20  # without a GPU nothing comes to be mapped, but for code
    assert "verified" in line(row)
    assert "mapped" not in line(row)
