"""A slice of the campaign on limits, and what it says."""

from __future__ import annotations

from tests.campaign.limits import DOORS, METHODS, Lateness, Task, _process, run, summary
from tests.campaign.timed import HARD_ITEMS

GENEROUS = 30.0
"""Seconds that nobody may be late, on the slowest machine."""


def test_solves_of_real_instances_keep_their_limits() -> None:
    found = run(2.0, seed=3)
    assert found
    for one in found:
        assert one.late < GENEROUS, one
        assert "," in one.status or one.status.startswith("exit"), one
        assert not one.status.startswith("DIED"), one


def test_every_door_and_method_of_a_generated_model() -> None:
    """A limit of 0: each has something to say."""
    with _process() as process:
        for k, door in enumerate(DOORS):
            method = METHODS["knapsack"][k % len(METHODS["knapsack"])]
            one = process.solve(Task(f"{HARD_ITEMS}20,1", method, door, 0.0))
            assert one.late < GENEROUS, one
            assert "TIME" in one.status.upper() or "OPTIMAL" in one.status, one


def test_the_summary_counts_who_ended_before_as_not_late() -> None:
    found = [
        Lateness("a", "auto", "arrays", 1.0, 0.5, -0.5, "OPTIMAL, CONVERGED", False),
        Lateness("b", "auto", "arrays", 1.0, 3.0, 2.0, "NOTHING, TIME_LIMIT", True),
    ]
    first, second, *_ = summary(found).splitlines()
    assert first.split()[:4] == ["all", "2", "solves,", "1"]
    assert first.endswith("worst 2.000 s")
    assert second.startswith("first solves")
    assert "p50 2.000 s" in second
