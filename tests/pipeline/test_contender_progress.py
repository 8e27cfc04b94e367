"""What one contender of a race hears and tells: the clock of all, and points of its own."""

from __future__ import annotations

import numpy as np

from gpu_bridge.pipeline.race import ContenderProgress
from solvers.core.outcome import StopReason
from solvers.core.progress import Progress


def test_a_contender_shares_the_clock_and_keeps_its_budget() -> None:
    parent = Progress(100.0)
    contender = ContenderProgress(parent, "one")
    assert contender.time_left <= 100.0
    with contender.budget(0.0):
        assert contender.should_stop() is StopReason.TIME_LIMIT
        assert parent.should_stop() is None
    assert contender.should_stop() is None
    parent.interrupt()
    assert contender.should_stop() is StopReason.INTERRUPTED
    assert not contender.abandoned


def test_what_a_contender_finds_stays_its_own() -> None:
    parent = Progress()
    contender = ContenderProgress(parent, "one")
    assert contender.incumbent(3.0, "engine")
    assert contender.bound(2.0, "engine")
    assert parent.history == ()
    assert np.isnan(parent.best_objective)


def test_abandoning_one_contender_leaves_the_others() -> None:
    parent = Progress()
    one, other = ContenderProgress(parent, "one"), ContenderProgress(parent, "other")
    inner = ContenderProgress(one, "inner")
    one.abandon()
    assert one.should_stop() is StopReason.INTERRUPTED
    assert inner.abandoned
    assert inner.should_stop() is StopReason.INTERRUPTED
    assert other.should_stop() is None
    assert not parent.interrupted
