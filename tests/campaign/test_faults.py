"""A slice of the faults with fixed times; and that what goes wrong is seen."""

from __future__ import annotations

import sys

import pytest

from tests.campaign import injuries
from tests.campaign.faults import INJURIES, KINDS, try_one
from tests.campaign.injuries import Injury, Interrupt, KillChildren, NoMoreFiles, Output
from tests.campaign.patient import Plan

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the process table of Linux")

SLOW = 60.0
"""Seconds late that a machine may be that does much else."""

SLICE: dict[str, tuple[Plan, Injury]] = {
    "interruption": (Plan("by_arrays", "mip", "highs", 5.0), Interrupt([0.3])),
    "children killed again and again": (
        Plan("by_arrays", "lp", "highs", 5.0),
        KillChildren([0.1 * number for number in range(40)]),
    ),
    "full disk": (Plan("by_arrays", "lp", "highs", 5.0), NoMoreFiles([0.0])),
    "closed streams": (Plan("command", "lp", "highs", 5.0), Output("<&- >&- 2>&-")),
}


@pytest.mark.parametrize("kind", SLICE)
def test_faults_end_as_they_should(kind: str) -> None:
    plan, injury = SLICE[kind]
    fault, delivered = try_one(kind, plan, injury, SLOW)
    assert fault.ok, fault
    assert delivered


class Spoiler(Injury):
    """Ends the process, and takes no responsibility."""

    def act(self, pid: int, seconds: float) -> None:
        if not self.delivered:
            injuries.os.kill(pid, injuries.signal.SIGKILL)
            self.delivered = 1


def test_an_end_that_nothing_explains_is_seen() -> None:
    fault, _ = try_one("spoilt", Plan("by_arrays", "lp", "highs", 5.0), Spoiler(), SLOW)
    assert not fault.ok
    assert "exit code -9 after ['begins']" in fault.detail


def test_every_kind_can_be_made() -> None:
    assert set(KINDS) == set(INJURIES)
