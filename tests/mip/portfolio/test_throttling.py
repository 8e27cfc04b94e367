"""When heuristics leave their time to the proof, and that they notice what ends a rest."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.mip import heuristic_stage
from solvers.mip.budget import SMALL_SHARE, Budget
from solvers.mip.context import SolveContext
from solvers.mip.heuristic_stage import (
    QUIET_SECONDS,
    QUIET_SHARE,
    SMALL_GAP,
    Throttling,
    working_part,
)
from solvers.mip.model import MipModel
from solvers.mip.portfolio.heuristic import HeuristicContext
from solvers.mip.solutions.incumbents import Found
from tests.mip.context_of import context_of
from tests.mip.test_solve import covering

LONG = 100.0


@pytest.mark.parametrize("gap", [np.inf, np.nan, 1.0, SMALL_GAP])
def test_nobody_rests_while_the_gap_is_not_small(gap):
    assert working_part(gap, LONG, LONG) == 1.0


@pytest.mark.parametrize("seconds", [1.0, LONG])
def test_nobody_rests_soon_after_a_better_point(seconds):
    quiet = max(QUIET_SECONDS, QUIET_SHARE * seconds)
    assert working_part(0.0, seconds, quiet) == 1.0
    assert working_part(0.0, seconds, quiet + 0.01) == SMALL_SHARE


def test_the_smaller_the_gap_the_less_they_work():
    parts = [working_part(gap, LONG, LONG) for gap in (0.08, 0.04, 0.02, 1e-9)]
    assert parts == pytest.approx([0.8, 0.4, 0.2, SMALL_SHARE])


class Late(Progress):
    """A solve that has gone on for long."""

    @property
    def seconds(self) -> float:
        return LONG


def context_with(**options) -> HeuristicContext:
    """Return a context with a point from its beginning and a gap of a thousandth."""
    context, progress = context_of(MipModel.of(covering())), Late()
    context.solve = SolveContext(covering(), EngineOptions(**options), progress, None)
    context.solve.incumbents.pool.add(Found(np.ones(90), 1000.0, 0.0, "test"))
    progress.incumbent(1000.0, "test")
    progress.bound(999.0, "test")
    return context


def rested(context: HeuristicContext) -> float:
    """Return the seconds that a rest after a turn of a hundredth takes."""
    began = time.monotonic()
    Throttling(context).after(0.01, Budget())
    return time.monotonic() - began


def test_on_few_cores_a_rest_is_as_long_as_its_part_says():
    assert rested(context_with(threads=2)) >= 0.01 * (1.0 / SMALL_SHARE - 1.0)


@pytest.mark.parametrize("options", [{"threads": 16}, {"threads": 2, "heuristics_only": True}])
def test_others_do_not_rest(options, monkeypatch):
    monkeypatch.setattr(heuristic_stage.time, "sleep", lambda _: pytest.fail("it rests"))
    rested(context_with(**options))


def test_the_end_and_a_better_point_end_a_rest():
    context = context_with(threads=2)
    over = threading.Event()

    def long_rest():
        Throttling(context).after(1e6, Budget(stop=over.is_set))

    for end in (
        over.set,
        lambda: context.acceptance.pool.add(Found(np.ones(90), 1.0, 0.0, "test")),
    ):
        over.clear()
        thread = threading.Thread(target=long_rest)
        thread.start()
        time.sleep(0.1)
        assert thread.is_alive()
        end()
        thread.join(60.0)
        assert not thread.is_alive()
