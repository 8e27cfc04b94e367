"""A session is freed with its model: HiGHS must not be what keeps it."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace

import pytest
from highspy import HighsStatus

import gpu_bridge as gb
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.highs.in_process import ProgressChannel, in_thread
from solvers.highs.model import lp_settings, mip_settings, prepare
from solvers.highs.point import statistics
from solvers.highs.session import Session
from tests.highs.models import covering
from tests.soon import soon


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("halting", [False, True])
def test_a_session_that_nobody_holds_is_freed_at_once(integer, halting):
    channel = ProgressChannel(Progress(), halting=halting)
    settings = (mip_settings if integer else lp_settings)(EngineOptions(threads=1))
    session = Session(prepare(covering(20, 30, integer=integer)).model, settings, channel)
    in_thread(session.run, channel)
    seen = weakref.ref(session)
    gc.disable()  # a large model must not wait for the collector
    try:
        del session
        assert seen() is None
    finally:
        gc.enable()
    channel.halt()  # finds nothing to stop


def test_counts_that_highs_does_not_vouch_for_are_not_told():
    """It returns whatever is in memory beside its warning."""
    told = {"simplex_iteration_count": (HighsStatus.kOk, 3)}
    never = (HighsStatus.kWarning, 7)
    highs = SimpleNamespace(getInfoValue=lambda name: told.get(name, never))
    assert statistics(SimpleNamespace(highs=highs)) == {"simplex_iterations": 3}
    told.clear()
    assert statistics(SimpleNamespace(highs=highs)) == {"simplex_iterations": 0}


PLAIN = covering(20, 30)
WHOLE = covering(20, 30, integer=True)
NO_POINT = Problem.from_arrays([1, 1], [[1, 1], [1, 1]], [3, -1e30], [1e30, 2], integrality=[1, 0])
WAYS = [
    (PLAIN, {"method": "highs"}),
    (PLAIN, {"method": "simplex"}),
    (PLAIN, {"method": "pdlp"}),
    (WHOLE, {"method": "highs"}),
    (WHOLE, {"method": "mip", "deterministic": True, "work_limit": 0.001}),
    (WHOLE, {"method": "auto"}),
    (NO_POINT, {"method": "mip"}),
]


@pytest.mark.parametrize(("problem", "how"), WAYS)
def test_no_solve_leaves_one_behind(problem, how, monkeypatch):
    made, begin = weakref.WeakSet(), Session.__init__

    def noted(self, *arguments):
        made.add(self)
        begin(self, *arguments)

    monkeypatch.setattr(Session, "__init__", noted)
    gb.solve(problem, device="cpu", **how)
    gc.collect()
    assert soon(lambda: not made)  # a thread may be on its way out
